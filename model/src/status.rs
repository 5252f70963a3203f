//! The state machine: statuses of an instance and the transition table.

use super::instance_kind::InstanceKind;
use crate::closed_enum;

closed_enum!(
    /// Where an instance is in its life.
    Status, "status" {
        /// Launched; its MCP server has not been heard yet.
        Started = "started",
        /// At work.
        Running = "running",
        /// A reviewer was started and has not connected yet.
        WaitingReview = "waiting_review",
        /// A reviewer is reading.
        UnderReview = "under_review",
        /// Feedback is owed or on its way.
        FeedbackReceived = "feedback_received",
        /// A pull request is being made.
        CreatingPr = "creating_pr",
        /// A pull request is open.
        PrCreated = "pr_created",
        /// The pull request was merged.
        PrMerged = "pr_merged",
        /// The pull request was closed without a merge.
        PrClosed = "pr_closed",
        /// A reviewer gave its verdict, or a planner is done.
        Completed = "completed",
        /// It died, timed out or could not be launched.
        Failed = "failed",
        /// A person ended it.
        Terminated = "terminated",
    }
);

/// What can happen to an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatusEvent {
    Connected,
    ReviewRequested,
    ReviewerConnected,
    ChangesRequested,
    FeedbackTaken,
    ReviewerLost,
    /// A person, or a conflict, gives the coder more to do; its work may be published, or under a review that ends by this.
    SentBack,
    /// `by_reviewer`: the coder's own reviewer publishes, which is its approval.
    PublishBegins {
        by_reviewer: bool,
    },
    /// Goes back to the status before; the store keeps it in `status_before`.
    PublishFailed {
        before: Status,
    },
    Published,
    Merged,
    Closed,
    Reopened,
    VerdictGiven,
    PlanDone,
    Failed,
    Terminated,
    Resumed,
    /// A published agent was to go on, and could not be started.
    RestartFailed,
}

impl StatusEvent {
    /// Returns what an agent does or has done to it, to be read after "cannot".
    const fn phrase(self) -> &'static str {
        match self {
            Self::Connected => "connect for the first time",
            Self::ReviewRequested => "ask for a review",
            Self::ReviewerConnected => "get a reviewer",
            Self::ChangesRequested => "get the verdict of a reviewer",
            Self::FeedbackTaken => "take feedback",
            Self::ReviewerLost => "lose its reviewer",
            Self::SentBack => "be sent back to work",
            Self::PublishBegins { .. } => "publish its work",
            Self::PublishFailed { .. } => "fail to publish its work",
            Self::Published => "be recorded as published",
            Self::Merged => "have its pull request merged",
            Self::Closed => "have its pull request closed",
            Self::Reopened => "have its pull request reopened",
            Self::VerdictGiven => "give a verdict",
            Self::PlanDone => "complete its plan",
            Self::Failed => "fail",
            Self::Terminated => "be stopped",
            Self::Resumed => "be resumed",
            Self::RestartFailed => "fail to start again",
        }
    }
}

/// A move that the table does not have. It changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a {kind} agent whose status is {status} cannot {}", .event.phrase())]
pub struct IllegalTransition {
    pub kind: InstanceKind,
    pub status: Status,
    pub event: StatusEvent,
}

impl Status {
    /// Tells whether an agent in this status may still do something.
    pub const fn is_live(self) -> bool {
        match self {
            Self::Started
            | Self::Running
            | Self::WaitingReview
            | Self::UnderReview
            | Self::FeedbackReceived
            | Self::CreatingPr => true,
            Self::PrCreated
            | Self::PrMerged
            | Self::PrClosed
            | Self::Completed
            | Self::Failed
            | Self::Terminated => false,
        }
    }

    /// Returns whether the agent's work is over. One whose pull request is open may be needed again.
    pub const fn is_over(self) -> bool {
        !self.is_live() && !matches!(self, Self::PrCreated)
    }

    /// Returns the status that `event` leads to.
    pub fn next(self, kind: InstanceKind, event: StatusEvent) -> Result<Self, IllegalTransition> {
        use Status as S;
        let next = match event {
            StatusEvent::Connected => (self == S::Started).then_some(S::Running),
            StatusEvent::ReviewRequested => {
                matches!(self, S::Running | S::FeedbackReceived).then_some(S::WaitingReview)
            }
            StatusEvent::ReviewerConnected => (self == S::WaitingReview).then_some(S::UnderReview),
            StatusEvent::ChangesRequested => {
                matches!(self, S::WaitingReview | S::UnderReview).then_some(S::FeedbackReceived)
            }
            StatusEvent::FeedbackTaken => (self == S::FeedbackReceived).then_some(S::Running),
            StatusEvent::ReviewerLost => {
                matches!(self, S::WaitingReview | S::UnderReview).then_some(S::Running)
            }
            StatusEvent::SentBack => {
                let is_sent_back = matches!(
                    self,
                    S::PrCreated
                        | S::Running
                        | S::WaitingReview
                        | S::UnderReview
                        | S::FeedbackReceived
                );
                is_sent_back.then_some(S::FeedbackReceived)
            }
            StatusEvent::PublishBegins { by_reviewer: false } => {
                matches!(self, S::Running | S::FeedbackReceived).then_some(S::CreatingPr)
            }
            StatusEvent::PublishBegins { by_reviewer: true } => {
                matches!(self, S::WaitingReview | S::UnderReview).then_some(S::CreatingPr)
            }
            StatusEvent::PublishFailed { before } => {
                (self == S::CreatingPr && before.can_publish()).then_some(before)
            }
            StatusEvent::Published => (self == S::CreatingPr).then_some(S::PrCreated),
            // Also while its coder works on changes, and after that coder has ended.
            StatusEvent::Merged => (self.can_follow_pull()
                || matches!(self, S::PrClosed | S::Failed | S::Terminated))
            .then_some(S::PrMerged),
            StatusEvent::Closed => (self.can_follow_pull()
                || matches!(self, S::Failed | S::Terminated))
            .then_some(S::PrClosed),
            StatusEvent::Reopened => (self == S::PrClosed).then_some(S::PrCreated),
            StatusEvent::VerdictGiven => {
                (kind == InstanceKind::Review && self == S::Running).then_some(S::Completed)
            }
            StatusEvent::PlanDone => {
                (kind == InstanceKind::Planning && self == S::Running).then_some(S::Completed)
            }
            StatusEvent::Failed => self.is_live().then_some(S::Failed),
            StatusEvent::Terminated => self.is_live().then_some(S::Terminated),
            // A published agent is resumed for what it is owed.
            StatusEvent::Resumed => {
                matches!(self, S::Failed | S::Terminated | S::PrCreated).then_some(S::Started)
            }
            StatusEvent::RestartFailed => {
                matches!(self, S::Started | S::FeedbackReceived).then_some(S::PrCreated)
            }
        };
        // Only coders are reviewed and published.
        let next = next.filter(|status| {
            kind == InstanceKind::Coding
                || matches!(
                    status,
                    S::Started | S::Running | S::Completed | S::Failed | S::Terminated
                )
        });
        next.ok_or(IllegalTransition {
            kind,
            status: self,
            event,
        })
    }

    /// Tells whether the agent follows its open pull request when that is merged or closed: it is published, or at work on
    /// changes to it, and nobody is publishing it right now.
    const fn can_follow_pull(self) -> bool {
        matches!(self, Self::PrCreated) || (self.is_live() && !matches!(self, Self::CreatingPr))
    }

    /// Tells whether `creating_pr` can be entered from here, and so returned to.
    const fn can_publish(self) -> bool {
        match self {
            Self::Running | Self::FeedbackReceived | Self::WaitingReview | Self::UnderReview => {
                true
            }
            Self::Started
            | Self::CreatingPr
            | Self::PrCreated
            | Self::PrMerged
            | Self::PrClosed
            | Self::Completed
            | Self::Failed
            | Self::Terminated => false,
        }
    }
}

#[cfg(test)]
mod tests;

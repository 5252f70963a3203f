//! The one state machine: which status an instance may have, and which moves there are.

use super::instance::InstanceKind;
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
}

/// A move that the table does not have. It changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{event:?} is not possible for a {kind} agent whose status is {status}")]
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
            StatusEvent::Merged => {
                matches!(self, S::PrCreated | S::PrClosed).then_some(S::PrMerged)
            }
            StatusEvent::Closed => (self == S::PrCreated).then_some(S::PrClosed),
            StatusEvent::Reopened => (self == S::PrClosed).then_some(S::PrCreated),
            StatusEvent::VerdictGiven => {
                (kind == InstanceKind::Review && self == S::Running).then_some(S::Completed)
            }
            StatusEvent::PlanDone => {
                (kind == InstanceKind::Planning && self == S::Running).then_some(S::Completed)
            }
            StatusEvent::Failed => self.is_live().then_some(S::Failed),
            StatusEvent::Terminated => self.is_live().then_some(S::Terminated),
            StatusEvent::Resumed => matches!(self, S::Failed | S::Terminated).then_some(S::Started),
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

//! Actions: what a person may do about an agent now, and why not. One rule for the dashboard and completion; the verbs check again.

use std::fmt;

use super::activity::Rounds;
use super::board::BoardRow;
use super::lifecycle::finish::has_open_pull;
use crate::model::{Instance, InstanceKind, Origin, SessionMode, Status, counted};

/// Something that a person may do about an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentAction {
    Message,
    Review,
    Stop,
    Discard,
    Resume,
    Publish,
}

impl AgentAction {
    pub const ALL: [Self; 6] = [
        Self::Message,
        Self::Review,
        Self::Stop,
        Self::Discard,
        Self::Resume,
        Self::Publish,
    ];
}

/// Why something may not be done about an agent. Its text follows "because".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyNot {
    /// Only the work of coders is reviewed and published.
    IsNoCoder,
    Ended(Status),
    /// It is not the moment for it.
    Status(Status),
    RoundsUsed(u32),
    BelongsToRun,
    HasNothingToDo,
    /// A person's own session.
    IsAPersons,
    PullIsOpen,
    NothingIsLeft,
}

impl fmt::Display for WhyNot {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::IsNoCoder => "only the work of coding agents can be reviewed and published",
            Self::Ended(status) => return write!(formatter, "it has ended ({status})"),
            Self::Status(status) => return write!(formatter, "its status is {status}"),
            Self::RoundsUsed(most) => {
                let rounds = counted(*most, "review round", "review rounds");
                return write!(formatter, "all of its {rounds} are used");
            }
            Self::BelongsToRun => "it belongs to a TDD run, which is resumed as a whole",
            Self::HasNothingToDo => "it has published its work, and has nothing to do",
            Self::IsAPersons => "it was started by a person",
            Self::PullIsOpen => "its pull request is open: close it first",
            Self::NothingIsLeft => "its worktree is gone",
        })
    }
}

/// Returns what may be done about an agent now; with each action that may not, why.
pub fn actions(row: &BoardRow) -> [(AgentAction, Option<WhyNot>); 6] {
    AgentAction::ALL.map(|action| {
        let why = why_not(&row.instance, row.owed_messages, row.reviews, action);
        (action, why)
    })
}

/// Returns why an action may not be taken now; none if it may. For those that know less than a row of the board.
pub fn why_not(
    instance: &Instance,
    owed_messages: u32,
    rounds: Option<Rounds>,
    action: AgentAction,
) -> Option<WhyNot> {
    let status = instance.status;
    let ended = (!status.is_live()).then_some(WhyNot::Ended(status));
    let no_coder = (instance.kind != InstanceKind::Coding).then_some(WhyNot::IsNoCoder);
    let free = matches!(status, Status::Running | Status::FeedbackReceived);
    let busy = (!free).then_some(WhyNot::Status(status));
    match action {
        // Published work can be sent back with a message; a run takes its turns from itself alone.
        AgentAction::Message => {
            let interactive = instance.session_mode == SessionMode::Interactive;
            ended.filter(|_| !(interactive && status == Status::PrCreated))
        }
        AgentAction::Stop => ended,
        AgentAction::Publish => no_coder.or(ended).or(busy),
        AgentAction::Review => no_coder.or(ended).or(busy).or_else(|| {
            let most = instance.max_reviews;
            let rounds = rounds.unwrap_or(Rounds { used: 0, most });
            rounds.are_used_up().then_some(WhyNot::RoundsUsed(most))
        }),
        AgentAction::Discard => not_discarded(instance),
        AgentAction::Resume => not_resumed(instance, owed_messages),
    }
}

fn not_discarded(instance: &Instance) -> Option<WhyNot> {
    let has_work = instance.worktree_path.is_dir() || instance.note.kept.is_some();
    if instance.origin == Origin::Adopted {
        Some(WhyNot::IsAPersons)
    } else if has_open_pull(instance) {
        Some(WhyNot::PullIsOpen)
    } else if !instance.status.is_live() && !has_work {
        Some(WhyNot::NothingIsLeft)
    } else {
        None
    }
}

fn not_resumed(instance: &Instance, owed_messages: u32) -> Option<WhyNot> {
    match instance.status {
        _ if instance.session_mode == SessionMode::Headless => Some(WhyNot::BelongsToRun),
        Status::PrCreated if owed_messages > 0 => None,
        Status::PrCreated => Some(WhyNot::HasNothingToDo),
        Status::Failed | Status::Terminated if instance.origin == Origin::Launched => None,
        Status::Failed | Status::Terminated => Some(WhyNot::IsAPersons),
        other => Some(WhyNot::Status(other)),
    }
}

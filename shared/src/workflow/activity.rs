//! Activity of an agent (idle, busy, waiting for a person, gone), from its terminal and Claude Code's session files.

use schemars::JsonSchema;
use serde::Serialize;

use super::terminal::pane::claude_session;
use super::terminal::panes::{PaneLife, Panes};
use crate::agent::{self, AgentState};
use crate::model::{Instance, Origin};
use crate::tmux::Life;

/// What an agent is doing at this moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "state", rename_all = "camelCase")]
pub enum Activity {
    /// At its prompt.
    Idle,
    /// In a turn.
    Busy,
    /// A person must answer something in its terminal.
    WaitingForPerson { on: String },
    /// Its process has ended; `reconcile` will say so in its status.
    Gone,
    /// Its process lives, but tmux doesn't have its terminal on the socket where it was made.
    TerminalUnreachable,
    /// It lives, and doesn't say what it does.
    Unknown,
    /// Its work is over.
    Ended,
}

/// How many review rounds a coder has used, and how many it gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Rounds {
    pub used: u32,
    pub most: u32,
}

impl Rounds {
    /// Tells whether the next request for a review will be refused.
    pub fn are_used_up(self) -> bool {
        self.used >= self.most
    }
}

/// Returns what an agent is doing.
pub(super) fn activity(
    instance: &Instance,
    panes: &Panes,
    sessions: &[agent::LiveSession],
) -> Activity {
    if !instance.status.is_live() {
        return Activity::Ended;
    }
    if instance.origin == Origin::Launched {
        match panes.life(instance) {
            PaneLife::Known(Life::Running) => {}
            PaneLife::Unreachable => return Activity::TerminalUnreachable,
            PaneLife::Unknown => return Activity::Unknown,
            PaneLife::Known(_) | PaneLife::Gone => return Activity::Gone,
        }
    }
    let Some(session) = claude_session(instance) else {
        return Activity::Unknown;
    };
    match agent::state_among(sessions, session, instance.agent.as_ref()) {
        AgentState::Idle => Activity::Idle,
        AgentState::Busy => Activity::Busy,
        AgentState::Waiting { on } => Activity::WaitingForPerson {
            on: on.as_str().to_owned(),
        },
        // Its terminal is there, or nobody has launched it: it may be starting, or between two sessions.
        AgentState::Gone | AgentState::Unknown => Activity::Unknown,
    }
}

//! TDD runs: a coder and its reviewers in turns, from a specification to a pull request.
//!
//! The agents of a run are instances like all others; what sets them apart is that each of their
//! turns is a process of its own without a prompt to type at. Such a turn is taken inside the agent's
//! session (`host-agent`), not by the process that drives the run: that one only asks for turns, follows
//! them, and writes down each step before it is taken. So it can die at any moment, and another goes on.

mod background;
mod coding;
mod drive;
mod prompts;
mod reviewing;
mod rounds;
mod spec;
pub(super) mod turns;

pub use background::{begin_tdd, keep_spec};
pub use drive::{TddRequest, resume_tdd, start_tdd};
pub use spec::{TddSpec, read_spec};

use crate::agent::StreamEvent;
use crate::model::{InstanceId, TddRole, TddRun};

/// Receives the events of a run.
pub type Audience<'a> = &'a (dyn Fn(&TddNews<'_>) + Send + Sync);

/// Something that happened in a run.
#[derive(Debug)]
pub enum TddNews<'a> {
    /// It begins, or goes on.
    Run {
        run: &'a TddRun,
        resumed: bool,
    },
    /// An agent has its turn.
    Turn {
        role: TddRole,
        agent: &'a InstanceId,
        iteration: u32,
        of: u32,
    },
    Did {
        role: TddRole,
        event: &'a StreamEvent,
    },
    HandedOver {
        text: &'a str,
    },
    /// The handoff cannot be reviewed; the coder gets the reason.
    NotReviewable {
        why: &'a str,
    },
    SentBack {
        feedback: &'a str,
    },
    Published {
        url: &'a str,
    },
    /// What was put away, or what was not and where it is.
    LeftBehind {
        what: &'a str,
    },
}

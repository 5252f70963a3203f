//! The calling Claude Code of this process: the agent itself, or a nested one that the agent runs (`claude -p`).
//!
//! A nested Claude Code inherits the agent's environment and with it `CODEX_INSTANCE_ID`, so the
//! variable alone does not tell them apart. The processes above do.

use std::path::Path;

use uuid::Uuid;

use super::state::{AgentState, Session, Wanted, find_session, sessions};
use crate::model::ProcessMark;
use crate::process::{self, Ancestor};

/// Who called, as far as the processes above this one tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// The instance's own agent.
    Own,
    /// Another Claude Code, started by that agent.
    Nested,
    /// No Claude Code of the instance is above this process, or the system doesn't tell (macOS).
    Unknown,
}

/// Returns the nearest Claude Code process above this one. `config` is its directory (`~/.claude`).
pub fn nearest_claude(config: &Path) -> Option<ProcessMark> {
    let above = process::ancestors(std::process::id());
    let nearest = above.iter().find(|ancestor| is_claude(ancestor, config))?;
    process::mark(nearest.pid)
}

/// Tells whether this process was started by an instance's own agent.
///
/// `agent` is the process that was started for the instance, if that is known: in a terminal of ours the one that runs
/// Claude Code as its child. A nested Claude Code that was left running in the background becomes a child of it
/// too, with no other Claude Code above.
pub fn caller(config: &Path, instance: &str, agent: Option<&ProcessMark>) -> Caller {
    let above = process::ancestors(std::process::id());
    let claudes: Vec<bool> = above
        .iter()
        .filter(|ancestor| is_claude(ancestor, config))
        .map(|claude| {
            process::variable_of(claude.pid, "CODEX_INSTANCE_ID").as_deref() == Some(instance)
        })
        .collect();
    let of_instance = claudes.iter().filter(|is_own| **is_own).count();
    let nearest_is_own = claudes.first() == Some(&true);
    let agent = agent.filter(|agent| process::is_seen(agent));
    match of_instance {
        0 => Caller::Unknown,
        1 if nearest_is_own && agent.is_none_or(|agent| is_run_by(&above, agent.pid, config)) => {
            Caller::Own
        }
        _ => Caller::Nested,
    }
}

/// Returns the session of an instance's own agent: of the first Claude Code at or below the process that was started for it.
pub fn session_of(config: &Path, agent: &ProcessMark) -> Option<Session> {
    own_session(&sessions(config), agent, |_| true).cloned()
}

/// Returns what an instance's own agent is doing in a session. `living` is all that are open.
///
/// Others may have the same session open: a person resumes it elsewhere, or the agent runs `claude -p -c`. What they
/// do says nothing about the agent, also if it has gone.
pub fn state_among(living: &[Session], session: Uuid, agent: Option<&ProcessMark>) -> AgentState {
    let mut open = living.iter().filter(|one| one.session_id == session);
    // Where processes can't be seen, the session is all there is.
    let found = if cfg!(not(target_os = "linux")) || agent.is_some_and(process::is_out_of_sight) {
        open.next()
    } else if let Some(agent) = agent {
        own_session(living, agent, |one| one.session_id == session)
    } else {
        return open
            .next()
            .map_or(AgentState::Gone, |_| AgentState::Unknown);
    };
    found.map_or(AgentState::Gone, |found| found.state.clone())
}

/// Finds the agent's own session, if it is a wanted one.
fn own_session<'a>(
    living: &'a [Session],
    agent: &ProcessMark,
    is_wanted: impl Fn(&Session) -> bool,
) -> Option<&'a Session> {
    if !process::is_seen(agent) {
        return None;
    }
    let is_session = |pid: u32| {
        living
            .iter()
            .any(|session| i64::from(session.pid) == i64::from(pid))
    };
    let is_own = |session: &&Session| {
        let Ok(pid) = u32::try_from(session.pid) else {
            return false;
        };
        if pid == agent.pid {
            return true;
        }
        let above = process::ancestors(pid);
        let Some(at) = above.iter().position(|ancestor| ancestor.pid == agent.pid) else {
            return false;
        };
        let below = at.checked_sub(1).map_or(pid, |below| above[below].pid);
        // Another session in between is the agent; this one is nested in it, or was left behind by it.
        let nested = is_session(agent.pid)
            || above[..at].iter().any(|ancestor| is_session(ancestor.pid))
            || !process::was_started_by(below, agent.pid);
        !nested
    };
    living
        .iter()
        .filter(|session| is_wanted(session))
        .find(is_own)
}

/// Tells whether what is above this process was started by the agent's process, or is that process.
fn is_run_by(above: &[Ancestor], agent: u32, config: &Path) -> bool {
    let Some(at) = above.iter().position(|ancestor| ancestor.pid == agent) else {
        return false;
    };
    let below = at.checked_sub(1).map(|below| above[below].pid);
    // The row of an older release names Claude Code itself.
    is_claude(&above[at], config)
        || below.is_some_and(|below| process::was_started_by(below, agent))
}

fn is_claude(process: &Ancestor, config: &Path) -> bool {
    process.name == "claude"
        || i32::try_from(process.pid)
            .is_ok_and(|pid| find_session(config, Wanted::Process(pid)).is_some())
}

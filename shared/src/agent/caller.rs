//! Which Claude Code started this process: the agent itself, or one that the agent runs (`claude -p`).
//!
//! A nested Claude Code inherits the agent's environment and with it `CODEX_INSTANCE_ID`, so the
//! variable alone does not tell them apart. The processes above do.

use std::path::Path;

use super::state::{Wanted, find_session};
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
/// `agent` is the process that was started for the instance, if that is known. A nested Claude Code that
/// was left running in the background has no other Claude Code above it, but not that process either.
pub fn caller(config: &Path, instance: &str, agent: Option<&ProcessMark>) -> Caller {
    let above = process::ancestors(std::process::id());
    let of_instance: Vec<u32> = above
        .iter()
        .filter(|ancestor| {
            is_claude(ancestor, config)
                && process::variable_of(ancestor.pid, "CODEX_INSTANCE_ID").as_deref()
                    == Some(instance)
        })
        .map(|ancestor| ancestor.pid)
        .collect();
    let agent = agent.filter(|agent| process::is_alive(agent));
    let below_agent =
        agent.is_none_or(|agent| above.iter().any(|ancestor| ancestor.pid == agent.pid));
    match of_instance.len() {
        0 => Caller::Unknown,
        1 if below_agent => Caller::Own,
        _ => Caller::Nested,
    }
}

fn is_claude(process: &Ancestor, config: &Path) -> bool {
    process.name == "claude"
        || i32::try_from(process.pid)
            .is_ok_and(|pid| find_session(config, Wanted::Process(pid)).is_some())
}

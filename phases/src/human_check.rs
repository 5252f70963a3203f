//! Human check: refuses phase commands that an agent may have issued.
//!
//! An agent's commands run as the same user, so no single sign is proof. The check combines the environment variables
//! that Claude Code sets for its tools, the parent processes, and whether a command of the agent was running.

use super::Phases;
use shared::agent;
use shared::error::{Code, Error};
use shared::model::Timestamp;
use shared::process;

/// Claude Code's limit for one command, in seconds: a command that began earlier has ended.
const COMMAND_TIMEOUT: f64 = 600.0;

/// Claude Code submits a prompt that was typed during a turn as soon as the turn ends. Nobody reads an agent's work
/// and answers within this many seconds.
const END_OF_TURN_GRACE: f64 = 2.0;

/// Requires that a person typed a prompt, not a command of the agent.
pub fn require_human_at_prompt(phases: &Phases, session: &str) -> Result<(), Error> {
    let own = process::ancestors(std::process::id());
    // Claude Code sets this for its tools, and another value for hooks (observed in 2.1.325).
    let marked = |value: &str| value.ends_with("_agent");
    let between = own
        .iter()
        .take_while(|ancestor| !is_claude(&ancestor.name))
        .filter_map(|ancestor| process::variable_of(ancestor.pid, "AI_AGENT"))
        .any(|value| marked(&value));
    if between || phases.environment.get("AI_AGENT").is_some_and(marked) {
        return Err(not_a_person(
            "this prompt comes from a command of the agent",
        ));
    }
    let sessions = phases
        .claude_folder()
        .map(|folder| agent::sessions(&folder));
    let above: Vec<(u32, bool)> = sessions
        .into_iter()
        .flatten()
        .filter_map(|living| {
            let pid = u32::try_from(living.pid).ok()?;
            let is_above = own.iter().any(|ancestor| ancestor.pid == pid);
            let ours = living.session_id.to_string() == session;
            (is_above || ours).then_some((pid, is_above))
        })
        .collect();
    if above.len() > 1 {
        return Err(not_a_person(
            "one Claude Code runs below another, or two have this session",
        ));
    }
    if above.iter().any(|(_, is_above)| !is_above) {
        return Err(not_a_person("this hook was not called by its Claude Code"));
    }
    let rows = phases.active(session)?;
    let turn_ended = rows.iter().find_map(|row| row.turn_ended_at);
    if turn_ended.is_some_and(|ended| ended.seconds_ago() < END_OF_TURN_GRACE) {
        return Err(not_a_person(
            "this was typed before the agent's turn had ended, when its commands could have typed it",
        ));
    }
    let since = rows.into_iter().find_map(|row| row.command_since);
    let Some(age) = since.map(Timestamp::seconds_ago) else {
        return Ok(());
    };
    let runs = match above.first() {
        Some((pid, _)) => process::descendants(*pid).iter().any(|(below, began)| {
            let ours =
                *below == std::process::id() || own.iter().any(|ancestor| ancestor.pid == *below);
            !ours && *began <= age + 1.0
        }),
        // Without its process, the commands below it are unknown.
        None => true,
    };
    if runs && age < COMMAND_TIMEOUT {
        return Err(not_a_person(
            "a command of the agent was running at that moment and may have typed it",
        ));
    }
    Ok(())
}

/// Requires that a person typed a command at a terminal, not an agent.
pub fn require_human_at_shell(phases: &Phases, has_terminal: bool) -> Result<(), Error> {
    let marked = [
        "CLAUDECODE",
        "CLAUDE_CODE_SESSION_ID",
        "AI_AGENT",
        "CLAUDE_PID",
    ]
    .iter()
    .any(|name| phases.environment.get(name).is_some());
    let own = process::ancestors(std::process::id());
    let sessions = phases
        .claude_folder()
        .map(|folder| agent::sessions(&folder));
    let sessions: Vec<u32> = sessions
        .into_iter()
        .flatten()
        .filter_map(|living| u32::try_from(living.pid).ok())
        .collect();
    let below = own.iter().any(|ancestor| {
        sessions.contains(&ancestor.pid)
            || is_claude(&ancestor.name)
            || process::variable_of(ancestor.pid, "CLAUDECODE").is_some()
    });
    if marked || below {
        return Err(not_a_person("this runs below Claude Code"));
    }
    if !has_terminal {
        return Err(not_a_person(
            "there is no terminal that a person could have typed this at",
        ));
    }
    Ok(())
}

fn is_claude(name: &str) -> bool {
    name == "claude"
}

fn not_a_person(why: &str) -> Error {
    Error::new(
        Code::NotAvailable,
        format!("only a person can do this, and {why}; nothing was changed"),
    )
    .hint("Type `/tdd …` yourself at Claude Code's prompt when its turn has ended.")
}

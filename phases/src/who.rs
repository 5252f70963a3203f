//! Whether it is a person who speaks.
//!
//! An agent's commands run as the same user, so no single sign is proof: the environment that Claude Code gives
//! its tools, the processes above, and whether a command of the agent's runs at that moment are looked at together.

use super::Phases;
use shared::agent;
use shared::error::{Code, Error};
use shared::process;

/// The longest that Claude Code lets a command run, in seconds: one that began earlier has ended.
const LONGEST_COMMAND: f64 = 600.0;

/// A prompt that was typed during a turn is heard in the moment the turn ends. Nobody reads what an agent has
/// done and answers it within this many seconds.
const QUIET: f64 = 2.0;

/// Makes sure that a prompt is a person's: neither forged by a command of the agent's, nor typed by one.
pub fn person_at_prompt(phases: &Phases, session: &str) -> Result<(), Error> {
    let own = process::ancestors(std::process::id());
    // Claude Code marks the environment of its tools so, and that of hooks otherwise (seen in 2.1.325).
    let marked = |value: &str| value.ends_with("_agent");
    let between = own
        .iter()
        .take_while(|ancestor| !is_claude(&ancestor.name))
        .filter_map(|ancestor| process::variable_of(ancestor.pid, "AI_AGENT"))
        .any(|value| marked(&value));
    if between || phases.environment.get("AI_AGENT").is_some_and(marked) {
        return Err(not_a_person(
            "this prompt comes from a command of the agent's",
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
    let turn_ended = rows.iter().find_map(|row| row.turn_ended_at.as_deref());
    if turn_ended
        .and_then(seconds_since)
        .is_some_and(|age| age < QUIET)
    {
        return Err(not_a_person(
            "this was typed before the agent's turn had ended, when its commands could have typed it",
        ));
    }
    let since = rows.into_iter().find_map(|row| row.command_since);
    let Some(age) = since.and_then(|since| seconds_since(&since)) else {
        return Ok(());
    };
    let runs = match above.first() {
        Some((pid, _)) => process::descendants(*pid).iter().any(|(below, began)| {
            let ours =
                *below == std::process::id() || own.iter().any(|ancestor| ancestor.pid == *below);
            !ours && *began <= age + 1.0
        }),
        // Nothing says who runs below it.
        None => true,
    };
    if runs && age < LONGEST_COMMAND {
        return Err(not_a_person(
            "a command of the agent's was running at that moment and may have typed it",
        ));
    }
    Ok(())
}

/// Makes sure that a command was typed by a person at a terminal, not run by an agent.
pub fn person_at_shell(phases: &Phases, has_terminal: bool) -> Result<(), Error> {
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

/// How many seconds ago a stored time was, by its milliseconds.
fn seconds_since(stored: &str) -> Option<f64> {
    let then = u32::try_from(shared::model::seconds_since_1970(stored)?).ok()?;
    let milliseconds: u16 = stored.get(20..23)?.parse().ok()?;
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .ok()?;
    Some(now.as_secs_f64() - f64::from(then) - f64::from(milliseconds) / 1e3)
}

//! Human check: refuses phase commands that an agent may have issued.
//!
//! An agent's commands run as the same user, so no single sign is proof. The check combines the environment variables
//! that Claude Code sets for its tools, the parent processes, and whether a command of the agent was running.

use std::path::{Path, PathBuf};

use super::Phases;
use shared::agent;
use shared::error::{Code, Error};
use shared::model::{ProcessMark, Timestamp};
use shared::process::{self, Ancestor};
use shared::store::PhaseRow;

/// Claude Code's limit for one command, in seconds: a command that began earlier has ended.
const COMMAND_TIMEOUT: f64 = 600.0;

/// Claude Code submits a prompt that was typed during a turn as soon as the turn ends. Nobody reads an agent's work
/// and answers within this many seconds.
const END_OF_TURN_GRACE: f64 = 2.0;

/// Programs that become the parents of processes whose own have ended.
const REAPERS: [&str; 6] = [
    "systemd",
    "init",
    "tini",
    "dumb-init",
    "docker-init",
    "catatonit",
];

/// Claude Code's shell around a hook is no older than this many seconds, even on a machine under load.
const HOOK_SECONDS: f64 = 5.0;

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
    if is_nested(&own) {
        return Err(not_a_person("one Claude Code runs below another"));
    }
    if began_as_a_command(phases, &phases.active(session)?, &own) {
        return Err(not_a_person(
            "this hook was called by a process that began during the agent's turn",
        ));
    }
    if !called_by_its_claude(phases, session, &own)? {
        return Err(not_a_person(
            "this hook was not called by the session's own Claude Code: another one with this session is running, or none",
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

/// Requires that a person typed a command at a terminal, not an agent; `row` is the phase that it is about.
pub fn require_human_at_shell(
    phases: &Phases,
    has_terminal: bool,
    row: Option<&PhaseRow>,
) -> Result<(), Error> {
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
    if row.is_some_and(|row| is_younger_than(row, &own)) {
        return Err(not_a_person(
            "this terminal was opened after the phases began, as a command of the agent could have done",
        ));
    }
    Ok(())
}

/// Returns whether no program above this one is older than the phases: a process that left its parents behind can make
/// a terminal of its own. Who takes up orphans stands above them, too.
fn is_younger_than(row: &PhaseRow, own: &[Ancestor]) -> bool {
    let began = row.started_at.seconds_ago();
    // Where the system tells nothing, nothing can be held against it.
    let mut ages = own
        .iter()
        .filter(|ancestor| !REAPERS.contains(&ancestor.name.as_str()))
        .filter_map(|ancestor| process::seconds_since_start(ancestor.pid))
        .peekable();
    ages.peek().is_some() && ages.all(|age| age < began)
}

/// Returns whether a hook was called by a Claude Code that runs below another one, whatever its home and its name.
fn is_nested(own: &[Ancestor]) -> bool {
    let Some(nearest) = own.iter().position(|ancestor| is_claude(&ancestor.name)) else {
        return false;
    };
    let (between, above) = own.split_at(nearest);
    // Claude Code calls hooks through a shell, which has one thread. What has more is another program: a Claude Code
    // under another name.
    between.iter().any(|ancestor| threads_of(ancestor.pid) > 1)
        || above[1..].iter().any(|ancestor| is_claude(&ancestor.name))
}

fn threads_of(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count)
}

/// Returns whether the programs between Claude Code and a hook were started by a command of the agent. Claude Code starts
/// each hook anew, so what is older than the end of the turn, or than the hook by far, is a command that was left behind.
fn began_as_a_command(phases: &Phases, rows: &[PhaseRow], own: &[Ancestor]) -> bool {
    let Some(nearest) = own.iter().position(|ancestor| is_claude(&ancestor.name)) else {
        return false;
    };
    let between = own[..nearest].iter().map(|ancestor| ancestor.pid);
    let age = between
        .chain([std::process::id()])
        .filter_map(process::seconds_since_start)
        .fold(0.0, f64::max);
    let during = |since: Timestamp| age > since.seconds_ago();
    age > HOOK_SECONDS
        || rows.iter().any(|row| row.turn_ended_at.is_some_and(during))
        // The first program of a command becomes the hook with `exec`.
        || rows
            .iter()
            .filter_map(|row| std::fs::metadata(last_command(phases, row)).ok()?.modified().ok())
            .any(|since| since.elapsed().is_ok_and(|since| since.as_secs_f64() < age + HOOK_SECONDS))
}

fn last_command(phases: &Phases, row: &PhaseRow) -> PathBuf {
    phases.snapshot_folder(row).join("last-command")
}

/// Records that a command of the agent has just begun or ended; one in the background does both at once.
pub(super) fn note_command(phases: &Phases, rows: &[PhaseRow]) {
    for row in rows {
        // The age of what calls a hook tells most commands, too.
        let _ = std::fs::write(last_command(phases, row), "");
    }
}

/// Records that the turn has ended: what begins from now on is no command of it.
pub(super) fn forget_command(phases: &Phases, rows: &[PhaseRow]) {
    for row in rows {
        let _ = std::fs::remove_file(last_command(phases, row));
    }
}

/// Returns whether a hook was called by the Claude Code that the session's phases know. A session that was resumed has
/// a new process, which is then the known one; while the known one lives there is no other. Once one is known, a call
/// by none counts as forged: a process that left its parents behind, or a Claude Code under another name.
pub(super) fn called_by_its_claude(
    phases: &Phases,
    session: &str,
    own: &[Ancestor],
) -> Result<bool, Error> {
    let nearest = own
        .iter()
        .find(|ancestor| is_claude(&ancestor.name))
        .and_then(|nearest| process::mark(nearest.pid));
    for row in phases.active(session)? {
        let known = known_claude(&phases.snapshot_folder(&row));
        let Some(mark) = &nearest else {
            if known.is_some() {
                return Ok(false);
            }
            continue;
        };
        if known.as_ref() == Some(mark) {
            continue;
        }
        if known.is_some_and(|known| process::is_alive(&known)) {
            return Ok(false);
        }
        note_claude(&phases.snapshot_folder(&row), mark);
    }
    Ok(true)
}

/// Records at the beginning which Claude Code has the session, before a command of the agent can claim to be it.
pub(super) fn note_own_claude(phases: &Phases, row: &PhaseRow) {
    let own = process::ancestors(std::process::id());
    let above = own
        .iter()
        .find(|ancestor| is_claude(&ancestor.name))
        .map(|ancestor| ancestor.pid);
    // From a shell: the one that Claude Code itself lists.
    let listed = || {
        agent::sessions(&phases.claude_folder()?)
            .into_iter()
            .filter(|living| living.session_id.to_string() == row.session)
            .filter_map(|living| u32::try_from(living.pid).ok())
            .find(|pid| is_claude(&process::name_of(*pid)))
    };
    if let Some(mark) = above.or_else(listed).and_then(process::mark) {
        note_claude(&phases.snapshot_folder(row), &mark);
    }
}

fn known_claude(snapshot: &Path) -> Option<ProcessMark> {
    let known = std::fs::read_to_string(snapshot.join("claude")).ok()?;
    let (pid, started) = known.split_once(' ')?;
    Some(ProcessMark {
        pid: pid.parse().ok()?,
        started: started.to_owned(),
    })
}

fn note_claude(snapshot: &Path, mark: &ProcessMark) {
    // Without the folder there is no snapshot either, which is found elsewhere.
    let _ = std::fs::write(
        snapshot.join("claude"),
        format!("{} {}", mark.pid, mark.started),
    );
}

/// Returns whether an event comes from the session itself, not from a copy of it that an agent started.
pub fn is_of_the_session(phases: &Phases, session: &str) -> Result<bool, Error> {
    let own = process::ancestors(std::process::id());
    Ok(!is_nested(&own) && called_by_its_claude(phases, session, &own)?)
}

fn is_claude(name: &str) -> bool {
    name == "claude"
}

pub(super) fn not_a_person(why: &str) -> Error {
    Error::new(
        Code::NotAvailable,
        format!("only a person can do this, and {why}; nothing was changed"),
    )
    .hint("Type `/tdd …` yourself at Claude Code's prompt when its turn has ended.")
}

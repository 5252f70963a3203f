//! Commands for phases: `/tdd …` at Claude Code's prompt, or `claude-codex phase …` at a shell.

use std::path::{Path, PathBuf};

use uuid::Uuid;

use super::human_check::note_own_claude;
use super::resolve_path::{phase_around, resolve};
use super::{
    Phases, approved, guarded_files, messages, no_phase, outside_links, overrules, violations,
};
use crate::profile::ProfileName;
use shared::agent;
use shared::error::{Code, Error};
use shared::git::{Repository, worktree_around};
use shared::model::{FileKind, Phase};
use shared::process;
use shared::store::{NewPhase, PhaseRow};

/// How long the phases of an ended session are kept.
const RETENTION_DAYS: u32 = 3;

/// A parsed `/tdd` command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PhaseCommand {
    Start(Phase),
    /// The current phase if none is named.
    Confirm(Option<Phase>),
    Status,
    Accept,
    /// With the reason.
    Overrule(String),
    Stop,
    /// `/tdd` followed by anything else.
    Unknown,
}

/// The reply to a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandReply {
    /// Shown to the person.
    pub person: String,
    /// Context for the model, which then sees the prompt. Without it the prompt goes no further.
    pub model: Option<String>,
}

impl CommandReply {
    /// A reply that only the person sees.
    pub fn to_person(person: impl Into<String>) -> Self {
        Self {
            person: person.into(),
            model: None,
        }
    }
}

impl PhaseCommand {
    /// Parses a prompt; `None` if it does not begin with `/tdd`, or `/codex:tdd` with the plugin. Messages delivered to
    /// agents never begin so.
    pub fn parse(prompt: &str) -> Option<Self> {
        let rest = prompt
            .strip_prefix("/tdd")
            .or_else(|| prompt.strip_prefix("/codex:tdd"))?;
        if !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
            return None;
        }
        let words: Vec<&str> = rest.split_whitespace().collect();
        let phase = |word: &str| word.parse::<Phase>().ok();
        Some(match words.as_slice() {
            ["start"] => Self::Start(Phase::Requirements),
            ["start", word] => match phase(word) {
                Some(phase) if phase != Phase::Done => Self::Start(phase),
                _ => Self::Unknown,
            },
            ["confirm"] => Self::Confirm(None),
            ["confirm", word] => match phase(word) {
                Some(phase) if phase.needs_confirmation() => Self::Confirm(Some(phase)),
                _ => Self::Unknown,
            },
            ["overrule", reason @ ..] if !reason.is_empty() => Self::Overrule(reason.join(" ")),
            ["status"] | [] => Self::Status,
            ["accept"] => Self::Accept,
            ["stop"] => Self::Stop,
            _ => Self::Unknown,
        })
    }
}

/// Begins phases for a session in the worktree around a folder.
pub async fn start(
    phases: &Phases,
    session: &str,
    directory: &Path,
    phase: Phase,
) -> Result<CommandReply, Error> {
    remove_expired(phases);
    let repository = Repository::discover(directory).await?;
    let worktree = repository.worktree().ok_or_else(|| {
        Error::new(Code::NotARepository, "there is no worktree here")
            .hint("Phases apply to the files of a worktree.")
    })?;
    if let Some(name) = phases.environment.get("TDD_DEFAULT_PROFILE") {
        name.parse::<ProfileName>().map_err(|error| {
            Error::new(Code::ConfigInvalid, format!("TDD_DEFAULT_PROFILE: {error}"))
        })?;
    }
    let Some(profile) = phases.profile(worktree, directory)? else {
        let hint = phases.ignored_profile(worktree).unwrap_or_else(|| {
            "Describe how it is built and tested in .claude-codex/tdd.json, or set TDD_DEFAULT_PROFILE.".to_owned()
        });
        return Err(Error::new(
            Code::NotAvailable,
            "phases need a profile, and no known kind of project was found here",
        )
        .hint(hint));
    };
    let new = NewPhase {
        worktree: worktree.to_owned(),
        session: session.to_owned(),
        repository: repository
            .common_dir()
            .canonicalize()
            .unwrap_or_else(|_| repository.common_dir().to_owned()),
        phase,
        snapshot: format!("p-{}", Uuid::new_v4()),
    };
    let (before, row) = phases.store.write_now(|w| {
        let before = w.phase(&new.worktree, session)?;
        w.begin_phase(&new)?;
        Ok((before, w.phase(&new.worktree, session)?))
    })?;
    if let Some(before) = before {
        remove_snapshot(phases, &before);
    }
    let row = row.ok_or_else(no_phase)?;
    // A phase without its snapshot would report every file as changed, so it ends again.
    if let Err(error) = take_snapshot(phases, &row).await {
        phases.store.write_now(|w| w.end_phase(&row))?;
        remove_snapshot(phases, &row);
        return Err(error);
    }
    note_own_claude(phases, &row);
    phases.freeze_profile(&row, &profile)?;
    let mut person = messages::started(phase, profile.name, &profile.root);
    if let Some(ignored) = phases.ignored_profile(worktree) {
        person.push_str(&format!("\n{ignored}"));
    }
    Ok(CommandReply {
        person,
        model: Some(messages::begins(phase)),
    })
}

/// Takes the snapshot that later changes are compared with.
async fn take_snapshot(phases: &Phases, row: &PhaseRow) -> Result<(), Error> {
    let wanted = |path: &Path| {
        let path = row.worktree.join(path);
        let profile = phases.profile(&row.worktree, &path);
        match profile {
            Ok(Some(profile)) => !matches!(
                profile.kind(&path),
                FileKind::Documentation | FileKind::Configuration
            ),
            Ok(None) | Err(_) => false,
        }
    };
    phases.snapshot(row).take(wanted).await?;
    outside_links::save(phases, row).await?;
    guarded_files::save(phases, row)
}

/// Enters the next phase, with a new snapshot.
pub(super) async fn enter(phases: &Phases, row: &PhaseRow, next: Phase) -> Result<(), Error> {
    let moved = phases.store.write_now(|w| w.move_phase(row, next))?;
    if moved && next != Phase::Done {
        take_snapshot(phases, row).await?;
    }
    Ok(())
}

/// Records a person's confirmation. The first phase has no checks and moves on at once.
pub async fn confirm(
    phases: &Phases,
    row: &PhaseRow,
    phase: Option<Phase>,
) -> Result<CommandReply, Error> {
    let phase = phase.unwrap_or(row.phase);
    if !phase.needs_confirmation() {
        return Err(Error::new(
            Code::IllegalState,
            format!("the phase is `{phase}`, which needs no confirmation"),
        )
        .hint(messages::how_to_advance(phase)));
    }
    if row.phase != phase {
        return Err(Error::new(
            Code::IllegalState,
            format!(
                "the phase is `{}`, not `{phase}`; nothing was confirmed",
                row.phase
            ),
        )
        .hint(messages::how_to_advance(row.phase)));
    }
    if !phases.store.write_now(|w| w.confirm_phase(row))? {
        return Err(no_phase());
    }
    if phase == Phase::Requirements {
        let found = violations::detect(phases, row).await?;
        if found.is_empty() {
            enter(phases, row, Phase::Interfaces).await?;
            return Ok(CommandReply {
                person: messages::moved(phase, Phase::Interfaces),
                model: Some(messages::begins(Phase::Interfaces)),
            });
        }
    }
    Ok(CommandReply {
        person: messages::confirmed(phase),
        model: Some(messages::confirmed_for_agent(phase)),
    })
}

/// Accepts the files as they are: the person changed them.
pub async fn accept(phases: &Phases, row: &PhaseRow) -> Result<CommandReply, Error> {
    take_snapshot(phases, row).await?;
    phases.snapshot(row).accept_nested().await?;
    approved::forget_ran(phases, row);
    phases.store.write_now(|w| w.set_violations(row, &[]))?;
    Ok(CommandReply::to_person(format!(
        "TDD: the files are accepted as they are now; the phase is still `{}`.",
        row.phase
    )))
}

/// Lets the phase end once although its check is stuck.
pub fn overrule(phases: &Phases, row: &PhaseRow, reason: &str) -> Result<CommandReply, Error> {
    overrules::add(phases, row, reason)?;
    Ok(CommandReply::to_person(format!(
        "TDD: the check of `{}` is overruled once, at the end of the agent's next turn. Changed files are not: `/tdd accept` accepts them.",
        row.phase
    )))
}

/// Ends a session's phases and removes their snapshots.
pub fn stop_phases(phases: &Phases, session: &str) -> Result<CommandReply, Error> {
    let rows = phases.store.read_now(|r| r.phases_of_session(session))?;
    if rows.is_empty() {
        return Err(no_phase());
    }
    for row in &rows {
        phases.store.write_now(|w| w.end_phase(row))?;
        remove_snapshot(phases, row);
    }
    Ok(CommandReply::to_person(
        "TDD: the phases have ended; edits are no longer restricted.",
    ))
}

/// Returns a description of a session's phases.
pub fn status_text(phases: &Phases, session: &str) -> Result<String, Error> {
    let rows = phases.store.read_now(|r| r.phases_of_session(session))?;
    if rows.is_empty() {
        return Err(no_phase());
    }
    Ok(rows
        .iter()
        .map(|row| messages::status(row, &overrules::all(phases, row)))
        .collect::<Vec<_>>()
        .join("\n"))
}

/// Handles `SessionStart`: a session that follows a cleared one takes over its phase. Returns context for the model.
pub fn at_session_start(
    phases: &Phases,
    session: &str,
    directory: &Path,
    cleared: bool,
) -> Result<Option<String>, Error> {
    if cleared && let Some((top, _)) = worktree_around(directory) {
        phases
            .store
            .write_now(|w| w.take_over_phase(&top, session))?;
    }
    if phases.active(session)?.is_empty() {
        return Ok(None);
    }
    phases
        .store
        .write_now(|w| w.set_phases_ended(session, false))?;
    let rows = phases.active(session)?;
    Ok(rows.first().map(|row| messages::begins(row.phase)))
}

/// Handles `SessionEnd`: ends a running check and removes finished phases.
///
/// Unfinished phases are kept for `RETENTION_DAYS` in case the session is resumed; after `/clear` the next session
/// in the worktree takes them over.
pub fn at_session_end(phases: &Phases, session: &str, cleared: bool) -> Result<(), Error> {
    remove_expired(phases);
    let rows = phases.store.read_now(|r| r.phases_of_session(session))?;
    for row in &rows {
        if let Some(checker) = &row.checker {
            process::ask_to_end(checker);
        }
        if row.phase == Phase::Done {
            phases.store.write_now(|w| w.end_phase(row))?;
            remove_snapshot(phases, row);
        }
    }
    if !rows.is_empty() {
        phases.store.write_now(|w| {
            if cleared {
                w.release_phases(session)
            } else {
                w.set_phases_ended(session, true)
            }
        })?;
    }
    Ok(())
}

fn remove_snapshot(phases: &Phases, row: &PhaseRow) {
    // Nothing depends on the removal: snapshots have unique names.
    let _ = std::fs::remove_dir_all(phases.snapshot_folder(row));
}

fn remove_expired(phases: &Phases) {
    let rows = phases
        .store
        .read_now(|r| r.phases_forgotten(RETENTION_DAYS));
    for row in rows.unwrap_or_default() {
        if phases.store.write_now(|w| w.end_phase(&row)).is_ok() {
            remove_snapshot(phases, &row);
        }
    }
}

/// Finds the phase of a session that governs a folder; otherwise the session's newest one.
pub fn row_for(phases: &Phases, session: &str, directory: &Path) -> Result<PhaseRow, Error> {
    let rows = phases.active(session)?;
    let directory = resolve(directory, Path::new("."));
    let around = phase_around(&rows, &directory).map(|(row, _)| row.clone());
    around
        .or_else(|| rows.into_iter().next())
        .ok_or_else(no_phase)
}

/// Finds the phase in a worktree that a shell command refers to.
pub fn row_in_worktree(
    phases: &Phases,
    worktree: &Path,
    session: Option<&str>,
) -> Result<PhaseRow, Error> {
    let mut rows = phases.store.read_now(|r| r.phases_in_worktree(worktree))?;
    if let Some(session) = session {
        rows.retain(|row| row.session == session);
    }
    if rows.len() > 1 {
        let names: Vec<_> = rows.iter().map(|row| row.session.clone()).collect();
        return Err(Error::new(
            Code::InvalidArguments,
            "more than one session has phases in this worktree",
        )
        .hint(format!("Name one with --session: {}", names.join(", "))));
    }
    rows.pop().ok_or_else(no_phase)
}

/// Finds the only Claude Code session that runs in a worktree.
pub fn session_in_worktree(phases: &Phases, worktree: &Path) -> Result<String, Error> {
    let folder: PathBuf = phases.claude_folder().ok_or_else(no_phase)?;
    let found: Vec<String> = agent::sessions(&folder)
        .into_iter()
        .filter(|living| Path::new(&living.cwd).starts_with(worktree))
        .map(|living| living.session_id.to_string())
        .collect();
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(Error::new(
            Code::NotAvailable,
            "no Claude Code session runs in this worktree",
        )
        .hint("Start Claude Code here, or name its session with --session.")),
        many => Err(Error::new(
            Code::InvalidArguments,
            "more than one Claude Code session runs in this worktree",
        )
        .hint(format!("Name one with --session: {}", many.join(", ")))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_prompts_that_begin_with_the_command_are_parsed() {
        assert_eq!(
            PhaseCommand::parse("/tdd confirm tests"),
            Some(PhaseCommand::Confirm(Some(Phase::Tests)))
        );
        assert_eq!(
            PhaseCommand::parse("/tdd  start\n"),
            Some(PhaseCommand::Start(Phase::Requirements))
        );
        assert_eq!(
            PhaseCommand::parse("/tdd start tests"),
            Some(PhaseCommand::Start(Phase::Tests))
        );
        assert_eq!(PhaseCommand::parse("/tdd"), Some(PhaseCommand::Status));
        assert_eq!(PhaseCommand::parse("/tdd stop"), Some(PhaseCommand::Stop));
        assert_eq!(
            PhaseCommand::parse("/codex:tdd confirm tests"),
            Some(PhaseCommand::Confirm(Some(Phase::Tests)))
        );
        assert_eq!(
            PhaseCommand::parse("/tdd confirm"),
            Some(PhaseCommand::Confirm(None))
        );
        assert_eq!(
            PhaseCommand::parse("/tdd overrule it  hangs"),
            Some(PhaseCommand::Overrule("it hangs".to_owned()))
        );
        for unknown in [
            "/tdd overrule",
            "/tdd confirm implementation",
            "/tdd confirm done",
            "/tdd start done",
            "/tdd confirm tests please",
            "/tdd Confirm Tests",
            "/tdd confirm tests\nand more",
        ] {
            assert_eq!(
                PhaseCommand::parse(unknown),
                Some(PhaseCommand::Unknown),
                "{unknown}"
            );
        }
        for other in [
            " /tdd confirm tests",
            "please /tdd confirm tests",
            "/tddx confirm tests",
            "/codex:tddx confirm tests",
            "/other:tdd confirm tests",
            "[claude-codex m-0123] Review\n/tdd confirm tests",
            "Stop hook feedback:\n/tdd confirm tests",
            "",
        ] {
            assert_eq!(PhaseCommand::parse(other), None, "{other}");
        }
    }
}

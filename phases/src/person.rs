//! What a person says: `/tdd …` at Claude Code's prompt, or `claude-codex phase …` at a shell.

use std::path::{Path, PathBuf};

use uuid::Uuid;

use super::place::{phase_around, resolve};
use super::{Phases, guarded_files, no_phase, violations, wording};
use crate::profile::ProfileName;
use shared::agent;
use shared::error::{Code, Error};
use shared::git::{Repository, worktree_around};
use shared::model::{FileKind, Phase};
use shared::process;
use shared::store::{NewPhase, PhaseRow};

/// A session that ended so long ago is not taken up again.
const FORGOTTEN_DAYS: u32 = 3;

/// What can be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Start(Phase),
    Confirm(Phase),
    Status,
    Accept,
    Stop,
    /// `/tdd` and something else.
    Unclear,
}

/// What becomes of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken {
    /// Shown to the person.
    pub person: String,
    /// Told to the model along with the prompt; without it the prompt goes no further.
    pub model: Option<String>,
}

/// Reads a prompt. Only one that begins with `/tdd` is for us: what is delivered to agents begins otherwise.
pub fn heard(prompt: &str) -> Option<Verb> {
    let rest = prompt.strip_prefix("/tdd")?;
    if !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
        return None;
    }
    let words: Vec<&str> = rest.split_whitespace().collect();
    let phase = |word: &str| word.parse::<Phase>().ok();
    Some(match words.as_slice() {
        ["start"] => Verb::Start(Phase::Requirements),
        ["start", word] => match phase(word) {
            Some(phase) if phase != Phase::Done => Verb::Start(phase),
            _ => Verb::Unclear,
        },
        ["confirm", word] => match phase(word) {
            Some(phase) if phase.needs_confirmation() => Verb::Confirm(phase),
            _ => Verb::Unclear,
        },
        ["status"] | [] => Verb::Status,
        ["accept"] => Verb::Accept,
        ["stop"] => Verb::Stop,
        _ => Verb::Unclear,
    })
}

/// Begins phases for a session in the worktree around a folder.
pub async fn start(
    phases: &Phases,
    session: &str,
    directory: &Path,
    phase: Phase,
) -> Result<Spoken, Error> {
    forget_old(phases);
    let repository = Repository::discover(directory).await?;
    let worktree = repository.worktree().ok_or_else(|| {
        Error::new(Code::NotARepository, "there is no worktree here")
            .hint("Phases need the files of a repository.")
    })?;
    let default = phases.environment.get("TDD_DEFAULT_PROFILE");
    if let Some(name) = default {
        name.parse::<ProfileName>().map_err(|error| {
            Error::new(Code::ConfigInvalid, format!("TDD_DEFAULT_PROFILE: {error}"))
        })?;
    }
    let Some(profile) = phases.profile(worktree, directory)? else {
        let ignored = phases.ignored_profile(worktree);
        let message = "no kind of project is recognised here, so there are no phases";
        if let Some(ignored) = ignored {
            return Err(Error::new(Code::NotAvailable, message).hint(ignored));
        }
        return Err(Error::new(Code::NotAvailable, message).hint(
            "Say in .claude-codex/tdd.json how it is built and tested, or set TDD_DEFAULT_PROFILE.",
        ));
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
    // The files first: a phase without them would find everything changed.
    let row = phases.store.write_now(|w| {
        let before = w.phase(&new.worktree, session)?;
        w.begin_phase(&new)?;
        Ok((before, w.phase(&new.worktree, session)?))
    })?;
    if let Some(before) = row.0 {
        remove_snapshot(phases, &before);
    }
    let row = row.1.ok_or_else(no_phase)?;
    if let Err(error) = take(phases, &row).await {
        phases.store.write_now(|w| w.end_phase(&row))?;
        remove_snapshot(phases, &row);
        return Err(error);
    }
    Ok(Spoken {
        person: match phases.ignored_profile(worktree) {
            Some(ignored) => format!(
                "{}\n{ignored}",
                wording::started(phase, profile.name, &profile.root)
            ),
            None => wording::started(phase, profile.name, &profile.root),
        },
        model: Some(wording::begins(phase)),
    })
}

/// Keeps the files of a phase as they are now.
async fn take(phases: &Phases, row: &PhaseRow) -> Result<(), Error> {
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
    guarded_files::keep(phases, row)
}

/// Enters the next phase: its files are what counts from now on.
pub(super) async fn enter(phases: &Phases, row: &PhaseRow, next: Phase) -> Result<(), Error> {
    let moved = phases.store.write_now(|w| w.move_phase(row, next))?;
    if moved && next != Phase::Done {
        take(phases, row).await?;
    }
    Ok(())
}

/// Keeps a person's word that a phase is over. What needs nothing more moves on at once.
pub async fn confirm(phases: &Phases, row: &PhaseRow, phase: Phase) -> Result<Spoken, Error> {
    if row.phase != phase {
        return Err(Error::new(
            Code::IllegalState,
            format!(
                "the phase is `{}`, not `{phase}`; nothing was confirmed",
                row.phase
            ),
        )
        .hint(wording::how_to_advance(row.phase)));
    }
    if !phases.store.write_now(|w| w.confirm_phase(row))? {
        return Err(no_phase());
    }
    if phase == Phase::Requirements {
        let found = violations::look(phases, row).await?;
        if found.is_empty() {
            enter(phases, row, Phase::Interfaces).await?;
            return Ok(Spoken {
                person: wording::moved(phase, Phase::Interfaces),
                model: Some(wording::begins(Phase::Interfaces)),
            });
        }
    }
    Ok(Spoken {
        person: wording::confirmed(phase),
        model: Some(wording::confirmed_for_agent(phase)),
    })
}

/// Takes the files as they are, because a person says that they changed them.
pub async fn accept(phases: &Phases, row: &PhaseRow) -> Result<Spoken, Error> {
    take(phases, row).await?;
    phases.store.write_now(|w| w.set_violations(row, &[]))?;
    Ok(Spoken {
        person: format!(
            "TDD: the files are taken as they are now; the phase is still `{}`.",
            row.phase
        ),
        model: None,
    })
}

/// Ends a session's phases and removes what was kept for them.
pub fn stop_phases(phases: &Phases, session: &str) -> Result<Spoken, Error> {
    let rows = phases.store.read_now(|r| r.phases_of_session(session))?;
    if rows.is_empty() {
        return Err(no_phase());
    }
    for row in &rows {
        phases.store.write_now(|w| w.end_phase(row))?;
        remove_snapshot(phases, row);
    }
    Ok(Spoken {
        person: "TDD: the phases are over; nothing is guarded any more.".to_owned(),
        model: None,
    })
}

/// Says where a session stands.
pub fn status_text(phases: &Phases, session: &str) -> Result<String, Error> {
    let rows = phases.store.read_now(|r| r.phases_of_session(session))?;
    if rows.is_empty() {
        return Err(no_phase());
    }
    Ok(rows
        .iter()
        .map(wording::status)
        .collect::<Vec<_>>()
        .join("\n"))
}

/// A session begins: one that follows a cleared one takes its phase over. Returns what the model should know.
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
    Ok(rows.first().map(|row| wording::begins(row.phase)))
}

/// A session ends: its check is ended, and what is done is removed. What is not done waits some days for the
/// session to be taken up again; a cleared one hands it on.
pub fn at_session_end(phases: &Phases, session: &str, cleared: bool) -> Result<(), Error> {
    forget_old(phases);
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
    // What can't be removed is in nobody's way.
    let _ = std::fs::remove_dir_all(phases.snapshot_folder(row));
}

fn forget_old(phases: &Phases) {
    let rows = phases
        .store
        .read_now(|r| r.phases_forgotten(FORGOTTEN_DAYS));
    for row in rows.unwrap_or_default() {
        if phases.store.write_now(|w| w.end_phase(&row)).is_ok() {
            remove_snapshot(phases, &row);
        }
    }
}

/// Finds the phase of a session that a folder is under; else the one it has.
pub fn row_for(phases: &Phases, session: &str, directory: &Path) -> Result<PhaseRow, Error> {
    let rows = phases.active(session)?;
    let directory = resolve(directory, Path::new("."));
    let around = phase_around(&rows, &directory).map(|(row, _)| row.clone());
    around
        .or_else(|| rows.into_iter().next())
        .ok_or_else(no_phase)
}

/// Finds the one phase of a worktree that a command at a shell is about.
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
            "more than one session has phases here",
        )
        .hint(format!("Name one with --session: {}", names.join(", "))));
    }
    rows.pop().ok_or_else(no_phase)
}

/// Finds the one Claude Code session that works in a worktree.
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
            "no Claude Code session works in this worktree",
        )
        .hint("Start Claude Code here, or name its session with --session.")),
        many => Err(Error::new(
            Code::InvalidArguments,
            "more than one Claude Code session works in this worktree",
        )
        .hint(format!("Name one with --session: {}", many.join(", ")))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_prompt_that_begins_so_is_heard() {
        assert_eq!(
            heard("/tdd confirm tests"),
            Some(Verb::Confirm(Phase::Tests))
        );
        assert_eq!(
            heard("/tdd  start\n"),
            Some(Verb::Start(Phase::Requirements))
        );
        assert_eq!(heard("/tdd start tests"), Some(Verb::Start(Phase::Tests)));
        assert_eq!(heard("/tdd"), Some(Verb::Status));
        assert_eq!(heard("/tdd stop"), Some(Verb::Stop));
        for unclear in [
            "/tdd confirm",
            "/tdd confirm implementation",
            "/tdd confirm done",
            "/tdd start done",
            "/tdd confirm tests please",
            "/tdd Confirm Tests",
            "/tdd confirm tests\nand more",
        ] {
            assert_eq!(heard(unclear), Some(Verb::Unclear), "{unclear}");
        }
        for other in [
            " /tdd confirm tests",
            "please /tdd confirm tests",
            "/tddx confirm tests",
            "[claude-codex m-0123] Review\n/tdd confirm tests",
            "Stop hook feedback:\n/tdd confirm tests",
            "",
        ] {
            assert_eq!(heard(other), None, "{other}");
        }
    }
}

//! Guarded files: hooks, profiles and state that agents must not change while phases are active.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Phases;
use super::resolve_path::resolve;
use crate::profile;
use shared::error::{Code, Error};
use shared::file;
use shared::git::worktree_around;
use shared::model::{Alteration, FileKind};
use shared::store::{PhaseRow, Violation};

/// Settings files of Claude Code. Only their hooks are guarded: Claude Code writes the rest when a person answers a
/// dialog.
const SETTINGS: [&str; 2] = [".claude/settings.json", ".claude/settings.local.json"];
const OTHERS: [&str; 2] = [".claude/commands/tdd.md", profile::REPOSITORY_FILE];
const MAX_GUARDED_BYTES: u64 = 1 << 20;
/// Below the user's Claude folder.
const USER_SETTINGS: &str = "settings.json";

/// Returns whether agents may not edit a path while phases are active.
pub(super) fn is_guarded(phases: &Phases, rows: &[PhaseRow], path: &Path) -> bool {
    let root = Path::new("/");
    if path.starts_with(resolve(root, &phases.state_dir)) {
        return true;
    }
    let mut guarded = files(phases, rows).into_iter();
    if guarded.any(|file| resolve(root, &file.path) == path) {
        return true;
    }
    // A linked worktree has a file `.git` with the path of its repository.
    let of_git =
        |row: &PhaseRow| path.starts_with(&row.repository) || path == row.worktree.join(".git");
    if rows.iter().any(of_git) {
        return true;
    }
    // The same files in the repository's other worktrees, where another session may use them.
    worktree_around(path).is_some_and(|(top, common)| {
        rows.iter().any(|row| row.repository == common)
            && SETTINGS
                .iter()
                .chain(&OTHERS)
                .any(|name| top.join(name) == path)
    })
}

/// One guarded file.
struct Guarded {
    path: PathBuf,
    /// The name of its saved copy.
    kept: String,
    settings: bool,
}

fn files(phases: &Phases, rows: &[PhaseRow]) -> Vec<Guarded> {
    rows.iter().flat_map(|row| files_of(phases, row)).collect()
}

fn files_of(phases: &Phases, row: &PhaseRow) -> Vec<Guarded> {
    let within = |name: &&str, settings: bool| Guarded {
        path: row.worktree.join(name),
        kept: name.replace('/', "_"),
        settings,
    };
    let mut files: Vec<Guarded> = SETTINGS.iter().map(|name| within(name, true)).collect();
    files.extend(OTHERS.iter().map(|name| within(name, false)));
    if let Some(folder) = phases.claude_folder() {
        files.push(Guarded {
            path: folder.join(USER_SETTINGS),
            kept: "user_settings".to_owned(),
            settings: true,
        });
    }
    if let Some(home) = &phases.home {
        files.push(Guarded {
            path: home.join(profile::USER_FILE),
            kept: "user_override".to_owned(),
            settings: false,
        });
    }
    files
}

/// Saves copies of the guarded files.
pub(super) fn save(phases: &Phases, row: &PhaseRow) -> Result<(), Error> {
    let folder = phases.snapshot_folder(row).join("guarded");
    let failed = |error: std::io::Error| {
        Error::new(
            Code::Internal,
            format!(
                "cannot save the guarded files in {}: {error}",
                folder.display()
            ),
        )
    };
    std::fs::create_dir_all(&folder).map_err(failed)?;
    for file in files_of(phases, row) {
        let kept = folder.join(&file.kept);
        match file::read(&file.path, MAX_GUARDED_BYTES) {
            Ok(text) => std::fs::write(&kept, text).map_err(failed)?,
            Err(_) => match std::fs::remove_file(&kept) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(failed(error));
                }
                _ => {}
            },
        }
    }
    Ok(())
}

/// Returns the guarded files that differ from their saved copies.
pub(super) fn changed(phases: &Phases, row: &PhaseRow) -> Vec<Violation> {
    let folder = phases.snapshot_folder(row).join("guarded");
    // An old or damaged snapshot has nothing to compare with.
    if !folder.is_dir() {
        return Vec::new();
    }
    files_of(phases, row)
        .into_iter()
        .filter_map(|file| {
            let how = difference(&file, &folder.join(&file.kept))?;
            let path = file
                .path
                .strip_prefix(&row.worktree)
                .map_or_else(|_| file.path.clone(), Path::to_owned);
            Some(Violation {
                path,
                kind: FileKind::Guard,
                how,
            })
        })
        .collect()
}

fn difference(file: &Guarded, kept: &Path) -> Option<Alteration> {
    let (before, after) = (
        std::fs::read(kept).ok(),
        file::read(&file.path, MAX_GUARDED_BYTES).ok(),
    );
    let same = if file.settings {
        hooks_in(before.as_deref()) == hooks_in(after.as_deref())
    } else {
        before == after
    };
    match (same, before, after) {
        (true, _, _) | (_, None, None) => None,
        (false, None, Some(_)) => Some(Alteration::Added),
        (false, Some(_), None) => Some(Alteration::Deleted),
        (false, Some(_), Some(_)) => Some(Alteration::Modified),
    }
}

/// Returns the hook settings of a settings file. A file that is not valid JSON counts as absent.
fn hooks_in(text: Option<&[u8]>) -> Option<(Value, Value)> {
    let settings: Value = serde_json::from_slice(text?).ok()?;
    let said = (
        settings["hooks"].clone(),
        settings["disableAllHooks"].clone(),
    );
    (said != (Value::Null, Value::Null)).then_some(said)
}

/// Restores a guarded file.
pub(super) fn restore(
    phases: &Phases,
    row: &PhaseRow,
    violation: &Violation,
) -> std::io::Result<()> {
    let folder = phases.snapshot_folder(row).join("guarded");
    let path = row.worktree.join(&violation.path);
    let Some(file) = files_of(phases, row)
        .into_iter()
        .find(|file| file.path == path)
    else {
        return Ok(());
    };
    match std::fs::read(folder.join(&file.kept)) {
        Ok(text) => {
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::write(&path, text)
        }
        Err(_) => Ok(()),
    }
}

/// Returns why Claude Code must not reload its settings; `None` allows it.
pub fn config_change(phases: &Phases, session: &str) -> Result<Option<String>, Error> {
    for row in phases.active(session)? {
        if let Some(violation) = changed(phases, &row).first() {
            return Ok(Some(format!(
                "claude-codex: {} was changed while the TDD phase `{}` is on. The hooks stay active as they were; `/tdd stop` ends the phases, `/tdd accept` accepts the change.",
                violation.path.display(),
                row.phase
            )));
        }
    }
    Ok(None)
}

//! The files that the phases stand on: hooks, profiles, the state folder.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Phases;
use super::place::resolve;
use crate::profile;
use shared::error::{Code, Error};
use shared::file;
use shared::git::worktree_around;
use shared::model::{Alteration, FileKind};
use shared::store::{PhaseRow, Violation};

/// Settings files of Claude Code: only what they say about hooks is ours to guard, for Claude Code itself
/// writes the rest when a person answers a dialog.
const SETTINGS: [&str; 2] = [".claude/settings.json", ".claude/settings.local.json"];
const OTHERS: [&str; 2] = [".claude/commands/tdd.md", profile::REPOSITORY_FILE];
/// No such file that anybody wrote is larger.
const LARGEST: u64 = 1 << 20;
/// Below the user's Claude folder.
const USER_SETTINGS: &str = "settings.json";

/// Tells whether a path is one that agents may never edit while there are phases.
pub(super) fn is_guarded(phases: &Phases, rows: &[PhaseRow], path: &Path) -> bool {
    let root = Path::new("/");
    if path.starts_with(resolve(root, &phases.state_dir)) {
        return true;
    }
    let mut guarded = files(phases, rows).into_iter();
    if guarded.any(|file| resolve(root, &file.path) == path) {
        return true;
    }
    // A linked worktree has a file `.git` that says where its repository is.
    let of_git =
        |row: &PhaseRow| path.starts_with(&row.repository) || path == row.worktree.join(".git");
    if rows.iter().any(of_git) {
        return true;
    }
    // The same names in the repository's other worktrees, whose hooks another session may live by.
    worktree_around(path).is_some_and(|(top, common)| {
        rows.iter().any(|row| row.repository == common)
            && SETTINGS
                .iter()
                .chain(&OTHERS)
                .any(|name| top.join(name) == path)
    })
}

/// One file that is guarded.
struct Guarded {
    path: PathBuf,
    /// Under which name its text is kept.
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

/// Keeps the guarded files as they are.
pub(super) fn keep(phases: &Phases, row: &PhaseRow) -> Result<(), Error> {
    let folder = phases.snapshot_folder(row).join("guarded");
    let failed = |error: std::io::Error| {
        Error::new(
            Code::Internal,
            format!("cannot keep what {} stands on: {error}", folder.display()),
        )
    };
    std::fs::create_dir_all(&folder).map_err(failed)?;
    for file in files_of(phases, row) {
        let kept = folder.join(&file.kept);
        match file::read(&file.path, LARGEST) {
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

/// Returns the guarded files that are not as they were.
pub(super) fn changed(phases: &Phases, row: &PhaseRow) -> Vec<Violation> {
    let folder = phases.snapshot_folder(row).join("guarded");
    // Taken before there was anything to guard, or gone: nothing can be said.
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
        file::read(&file.path, LARGEST).ok(),
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

/// Returns what a settings file says about hooks. A file that is none says the same as no file.
fn hooks_in(text: Option<&[u8]>) -> Option<(Value, Value)> {
    let settings: Value = serde_json::from_slice(text?).ok()?;
    let said = (
        settings["hooks"].clone(),
        settings["disableAllHooks"].clone(),
    );
    (said != (Value::Null, Value::Null)).then_some(said)
}

/// Puts a guarded file back.
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

/// Returns why Claude Code should go on with the settings it has; `None` lets it read the changed file.
pub fn config_change(phases: &Phases, session: &str) -> Result<Option<String>, Error> {
    for row in phases.active(session)? {
        if let Some(violation) = changed(phases, &row).first() {
            return Ok(Some(format!(
                "claude-codex: {} was changed while the TDD phase `{}` is on. The hooks stay as they were; `/tdd stop` ends the phases, `/tdd accept` takes the change.",
                violation.path.display(),
                row.phase
            )));
        }
    }
    Ok(None)
}

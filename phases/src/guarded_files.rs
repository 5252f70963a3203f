//! Guarded files: hooks, profiles and state that agents must not change while phases are active.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Phases;
use super::prompt_sources::{SCHEDULE, says_a_command};
use super::resolve_path::resolve;
use crate::profile;
use shared::error::{Code, Error};
use shared::file;
use shared::git::worktree_around;
use shared::model::{Alteration, FileKind};
use shared::store::{PhaseRow, Violation};

/// Settings files of Claude Code: variables, hooks, plugins and status line decide whether and how our hooks run.
const SETTINGS: [&str; 2] = [".claude/settings.json", ".claude/settings.local.json"];
const OTHERS: [&str; 2] = [".claude/commands/tdd.md", profile::REPOSITORY_FILE];
/// Settings that no hook depends on. Claude Code writes them when a person answers a dialog or picks from a menu.
const HARMLESS: [&str; 24] = [
    "$schema",
    "alwaysThinkingEnabled",
    "attribution",
    "autoCompactEnabled",
    "autoUpdatesChannel",
    "cleanupPeriodDays",
    "editorMode",
    "effortLevel",
    "fastMode",
    "feedbackSurveyState",
    "includeCoAuthoredBy",
    "language",
    "model",
    "outputStyle",
    "preferredNotifChannel",
    "prefersReducedMotion",
    "showTurnDuration",
    "skipAutoPermissionPrompt",
    "spinnerTipsEnabled",
    "syntaxHighlightingDisabled",
    "terminalProgressBarEnabled",
    "theme",
    "tui",
    "verbose",
];
/// Permissions that a person gives in a dialog; a hook's refusal is stronger.
const GIVEN: [&str; 2] = ["allow", "additionalDirectories"];
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
                .chain([&SCHEDULE])
                .any(|name| top.join(name) == path)
    })
}

/// One guarded file.
struct Guarded {
    path: PathBuf,
    /// The name of its saved copy.
    kept: String,
    compared: Compared,
}

/// What of a guarded file must stay.
#[derive(Clone, Copy)]
enum Compared {
    Whole,
    Settings,
    /// Claude Code rewrites it as its prompts fire; none may say a command of ours.
    Schedule,
}

fn files(phases: &Phases, rows: &[PhaseRow]) -> Vec<Guarded> {
    rows.iter().flat_map(|row| files_of(phases, row)).collect()
}

fn files_of(phases: &Phases, row: &PhaseRow) -> Vec<Guarded> {
    let within = |name: &str, compared: Compared| Guarded {
        path: row.worktree.join(name),
        kept: name.replace('/', "_"),
        compared,
    };
    let mut files = vec![within(SCHEDULE, Compared::Schedule)];
    files.extend(SETTINGS.map(|name| within(name, Compared::Settings)));
    files.extend(OTHERS.map(|name| within(name, Compared::Whole)));
    if let Some(folder) = phases.claude_folder() {
        files.push(Guarded {
            path: folder.join(USER_SETTINGS),
            kept: "user_settings".to_owned(),
            compared: Compared::Settings,
        });
    }
    if let Some(home) = &phases.home {
        files.push(Guarded {
            path: home.join(profile::USER_FILE),
            kept: "user_override".to_owned(),
            compared: Compared::Whole,
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

/// Returns the settings files of Claude Code as they were when the session's phases began; `None` without a phase.
///
/// What is in them now says nothing about which hooks run: an agent may have written it.
pub fn settings_at_start(phases: &Phases, session: &str) -> Result<Option<Vec<Value>>, Error> {
    let rows = phases.active(session)?;
    if rows.is_empty() {
        return Ok(None);
    }
    let saved = rows.iter().flat_map(|row| {
        let folder = phases.snapshot_folder(row).join("guarded");
        let files = files_of(phases, row).into_iter();
        let settings = files.filter(|file| matches!(file.compared, Compared::Settings));
        settings.filter_map(move |file| std::fs::read(folder.join(file.kept)).ok())
    });
    let parsed = saved.filter_map(|text| serde_json::from_slice(&text).ok());
    Ok(Some(parsed.collect()))
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
    let same = match file.compared {
        Compared::Whole => before == after,
        Compared::Settings => essence(before.as_deref()) == essence(after.as_deref()),
        Compared::Schedule => !after.as_deref().is_some_and(says_a_command),
    };
    match (same, before, after) {
        (true, _, _) | (_, None, None) => None,
        (false, None, Some(_)) => Some(Alteration::Added),
        (false, Some(_), None) => Some(Alteration::Deleted),
        (false, Some(_), Some(_)) => Some(Alteration::Modified),
    }
}

/// Returns what hooks depend on in a settings file. A file that is not valid JSON counts as absent.
fn essence(text: Option<&[u8]>) -> Option<Value> {
    let mut settings: Value = serde_json::from_slice(text?).ok()?;
    let fields = settings.as_object_mut()?;
    if let Some(permissions) = fields.get_mut("permissions").and_then(Value::as_object_mut) {
        permissions.retain(|name, _| !GIVEN.contains(&name.as_str()));
        if permissions.is_empty() {
            fields.remove("permissions");
        }
    }
    fields.retain(|name, _| !HARMLESS.contains(&name.as_str()));
    (!fields.is_empty()).then_some(settings)
}

/// Restores a guarded file. What is there now is kept.
pub(super) fn restore(
    phases: &Phases,
    row: &PhaseRow,
    violation: &Violation,
    kept: &Path,
) -> std::io::Result<()> {
    let folder = phases.snapshot_folder(row).join("guarded");
    let path = row.worktree.join(&violation.path);
    let Some(file) = files_of(phases, row)
        .into_iter()
        .find(|file| file.path == path)
    else {
        return Ok(());
    };
    if path.symlink_metadata().is_ok() {
        file::make_private_folder(kept)?;
        let to = kept.join(&file.kept);
        if std::fs::rename(&path, &to).is_err() {
            // On another file system.
            let text = file::read(&path, MAX_GUARDED_BYTES)?;
            std::fs::write(&to, text)?;
            std::fs::remove_file(&path)?;
        }
    }
    let Ok(text) = std::fs::read(folder.join(&file.kept)) else {
        return Ok(());
    };
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(&path, text)
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

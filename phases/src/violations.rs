//! Violations: changes that passed the guard, detected by comparison with the phase's snapshot.

use std::path::{Path, PathBuf};

use serde::Serialize;
use uuid::Uuid;

use super::build_products::Products;
use super::edit::{MAX_SOURCE_BYTES, kinds_of_rust};
use super::guard::command_ended;
use super::human_check::is_of_the_session;
use super::{Phases, approved, checks, guarded_files, messages, outside_links};
use shared::error::{Code, Error};
use shared::file;
use shared::git::{Changed, Snapshot};
use shared::model::{FileKind, Phase};
use shared::store::{PhaseRow, Violation};

/// How many files of a newly ignored folder are checked.
const MAX_IGNORED: usize = 2_000;

/// Detects the present violations and records them.
pub async fn detect(phases: &Phases, row: &PhaseRow) -> Result<Vec<Violation>, Error> {
    let found = find(phases, row).await?;
    phases.store.write_now(|w| w.set_violations(row, &found))?;
    Ok(found)
}

/// Handles the end of a shell command. Returns a message for the agent if there are violations.
pub async fn after_command(phases: &Phases, session: &str) -> Result<Option<String>, Error> {
    // A copy of the session does not say when the session's own command ends.
    if is_of_the_session(phases, session)? {
        command_ended(phases, session)?;
    }
    let mut messages = Vec::new();
    for row in phases.active(session)? {
        let found = detect(phases, &row).await?;
        if found.is_empty() {
            messages.extend(checks::after_command(phases, &row).await?);
        } else {
            messages.push(messages::violated(&row, &found));
        }
    }
    Ok((!messages.is_empty()).then(|| messages.join("\n\n")))
}

async fn find(phases: &Phases, row: &PhaseRow) -> Result<Vec<Violation>, Error> {
    let mut found = guarded_files::changed(phases, row);
    // In these phases only guarded files are protected.
    if matches!(row.phase, Phase::Implementation | Phase::Done) {
        return Ok(found);
    }
    found.extend(outside_links::changed(phases, row)?);
    let snapshot = phases.snapshot(row);
    let mut products = Products::of(phases, row, &snapshot).await?;
    for change in snapshot.changes().await? {
        if products.has(&change).await? {
            continue;
        }
        for path in files_in(&row.worktree, &change) {
            let change = Changed {
                path,
                how: change.how,
            };
            if products.has(&change).await? {
                continue;
            }
            if let Some(kind) = forbidden(phases, row, &snapshot, &change).await? {
                found.push(Violation {
                    path: change.path,
                    kind,
                    how: change.how,
                });
            }
        }
    }
    Ok(found)
}

/// Returns the forbidden kind of code that a change touches, if any.
async fn forbidden(
    phases: &Phases,
    row: &PhaseRow,
    snapshot: &Snapshot,
    change: &Changed,
) -> Result<Option<FileKind>, Error> {
    let path = row.worktree.join(&change.path);
    if guarded_files::is_guarded(phases, std::slice::from_ref(row), &path) {
        // `guarded_files::changed` compares these by content.
        return Ok(None);
    }
    let Some(profile) = phases.profile(&row.worktree, &path)? else {
        return Ok(None);
    };
    let kind = profile.kind(&path);
    let depends = row.phase.allows(FileKind::Production) != row.phase.allows(FileKind::Test);
    if kind == FileKind::Production && depends && profile.may_hold_tests(&path) {
        let before = snapshot.content(&change.path).await?.unwrap_or_default();
        let after = file::read(&path, MAX_SOURCE_BYTES).unwrap_or_default();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let kinds = kinds_of_rust(&text(&before), &text(&after));
        return Ok(kinds.into_iter().find(|kind| !row.phase.allows(*kind)));
    }
    Ok((!row.phase.allows(kind)).then_some(kind))
}

/// Returns the files of a change. A folder that git ignores only since the phase began is expanded, and so is a nested
/// repository.
fn files_in(worktree: &Path, change: &Changed) -> Vec<PathBuf> {
    if !worktree.join(&change.path).is_dir() {
        return vec![change.path.clone()];
    }
    let mut folders = vec![change.path.clone()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(worktree.join(&folder)) else {
            continue;
        };
        for entry in entries.filter_map(Result::ok) {
            if entry.file_name() == ".git" {
                continue;
            }
            let path = folder.join(entry.file_name());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(path),
                _ => files.push(path),
            }
            if files.len() >= MAX_IGNORED {
                return files;
            }
        }
    }
    files
}

/// The result of a restore.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Restored {
    pub files: Vec<Violation>,
    /// The folder with the replaced versions.
    pub kept: Option<PathBuf>,
}

/// Undoes the violations. The replaced versions are kept.
pub async fn restore(phases: &Phases, row: &PhaseRow) -> Result<Restored, Error> {
    let mut found = detect(phases, row).await?;
    if row.phase == Phase::Implementation {
        found.extend(approved::restorable(phases, row).await?);
    }
    if found.is_empty() {
        return Ok(Restored {
            files: found,
            kept: None,
        });
    }
    let kept = phases
        .state_dir
        .join("phases/undone")
        .join(Uuid::new_v4().to_string());
    let linked = outside_links::restore(phases, row, &kept)?;
    let (guarded, others): (Vec<_>, Vec<_>) = found
        .iter()
        .filter(|violation| !linked.contains(&violation.path))
        .cloned()
        .partition(|violation| violation.kind == FileKind::Guard);
    let changes: Vec<Changed> = others
        .into_iter()
        .map(|violation| Changed {
            path: violation.path,
            how: violation.how,
        })
        .collect();
    phases.snapshot(row).restore(&changes, &kept).await?;
    for violation in &guarded {
        guarded_files::restore(phases, row, violation, &kept).map_err(|error| {
            Error::new(
                Code::Internal,
                format!("cannot restore {}: {error}", violation.path.display()),
            )
        })?;
    }
    let left = detect(phases, row).await?;
    if !left.is_empty() {
        return Err(Error::new(
            Code::IllegalState,
            format!(
                "some changes could not be undone: {}",
                messages::list(&left)
            ),
        ));
    }
    Ok(Restored {
        files: found,
        kept: kept.exists().then_some(kept),
    })
}

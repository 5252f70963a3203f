//! Approved tests: in the implementation phase, the tests that the person confirmed stay, or the person accepts the change.
//!
//! The snapshot from the beginning of the phase has their files; how many of them ran is kept beside it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::edit::{MAX_SOURCE_BYTES, kinds_of_rust};
use super::{Phases, guarded_files};
use shared::error::Error;
use shared::file;
use shared::model::{Alteration, FileKind};
use shared::store::{PhaseRow, Violation};

/// How many tests ran in each project.
pub(super) type Ran = BTreeMap<PathBuf, u64>;

/// A project in which fewer tests ran than before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fewer {
    pub(super) project: PathBuf,
    pub(super) before: u64,
    pub(super) now: u64,
}

fn place(phases: &Phases, row: &PhaseRow) -> PathBuf {
    phases.snapshot_folder(row).join("tests-ran.json")
}

/// Keeps how many tests ran when the person confirmed them.
pub(super) fn note_ran(phases: &Phases, row: &PhaseRow, ran: &Ran) {
    if let Ok(text) = serde_json::to_vec(ran) {
        // Without the counts, the files are still compared.
        let _ = std::fs::write(place(phases, row), text);
    }
}

/// Forgets the counts: the person has accepted other tests.
pub(super) fn forget_ran(phases: &Phases, row: &PhaseRow) {
    let _ = std::fs::remove_file(place(phases, row));
}

/// Returns a project in which fewer tests ran than when they were confirmed.
pub(super) fn fewer(phases: &Phases, row: &PhaseRow, ran: &Ran) -> Option<Fewer> {
    let text = std::fs::read(place(phases, row)).ok()?;
    let before: Ran = serde_json::from_slice(&text).ok()?;
    before.into_iter().find_map(|(project, before)| {
        let now = *ran.get(&project)?;
        (now < before).then_some(Fewer {
            project,
            before,
            now,
        })
    })
}

/// Returns the tests from the beginning of the phase that are no longer as they were.
pub(super) async fn changed(phases: &Phases, row: &PhaseRow) -> Result<Vec<Violation>, Error> {
    let snapshot = phases.snapshot(row);
    let mut found = Vec::new();
    for change in snapshot.changes().await? {
        let path = row.worktree.join(&change.path);
        let is_new = matches!(change.how, Alteration::Added | Alteration::Ignored);
        if is_new || guarded_files::is_guarded(phases, std::slice::from_ref(row), &path) {
            continue;
        }
        let Some(profile) = phases.profile(&row.worktree, &path)? else {
            continue;
        };
        let holds_tests = match profile.kind(&path) {
            FileKind::Test => true,
            FileKind::Production if profile.may_hold_tests(&path) => {
                let before = snapshot.content(&change.path).await?.unwrap_or_default();
                let after = file::read(&path, MAX_SOURCE_BYTES).unwrap_or_default();
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                kinds_of_rust(&text(&before), &text(&after)).contains(&FileKind::Test)
            }
            _ => false,
        };
        if holds_tests {
            found.push(Violation {
                path: change.path,
                kind: FileKind::Test,
                how: change.how,
            });
        }
    }
    Ok(found)
}

/// The same without files that hold production code too: that is not undone.
pub(super) async fn restorable(phases: &Phases, row: &PhaseRow) -> Result<Vec<Violation>, Error> {
    let mut found = Vec::new();
    for one in changed(phases, row).await? {
        let path = row.worktree.join(&one.path);
        let profile = phases.profile(&row.worktree, &path)?;
        if profile.is_some_and(|profile| profile.kind(&path) == FileKind::Test) {
            found.push(one);
        }
    }
    Ok(found)
}

/// Returns how these files differ from what they were.
pub(super) async fn diff(
    phases: &Phases,
    row: &PhaseRow,
    changed: &[Violation],
) -> Result<String, Error> {
    let paths: Vec<PathBuf> = changed.iter().map(|one| one.path.clone()).collect();
    Ok(phases.snapshot(row).diff(&paths).await?)
}

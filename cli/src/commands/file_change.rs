//! File changes that `claude-codex init` makes and reports.

use std::io::ErrorKind;
use std::path::Path;

use serde::Serialize;
use shared::error::{Code, Error};

use crate::output::{DIM, GOOD};
use crate::text::harmless;

/// A change to one file, done or planned.
#[derive(Debug, Serialize)]
pub(super) struct FileChange {
    pub(super) path: String,
    pub(super) action: Action,
    pub(super) what: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Action {
    Created,
    Updated,
    Removed,
    Unchanged,
}

/// Returns the line that is printed for a change.
pub(super) fn described(change: &FileChange, dry_run: bool) -> String {
    let (word, style) = match (change.action, dry_run) {
        (Action::Created, false) => ("created", GOOD),
        (Action::Created, true) => ("would create", GOOD),
        (Action::Updated, false) => ("updated", GOOD),
        (Action::Updated, true) => ("would update", GOOD),
        (Action::Removed, false) => ("removed", GOOD),
        (Action::Removed, true) => ("would remove", GOOD),
        (Action::Unchanged, _) => ("unchanged", DIM),
    };
    let path = harmless(&change.path);
    format!("{style}{word}{style:#} {path}: {}\n", change.what)
}

/// Reads a text file; `None` if it does not exist.
pub(super) fn read(path: &Path) -> Result<Option<String>, Error> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::new(
            Code::ConfigInvalid,
            format!("cannot read {}: {error}", path.display()),
        )),
    }
}

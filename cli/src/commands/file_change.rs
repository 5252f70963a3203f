//! File changes that `claude-codex init` makes and reports.

use std::io::ErrorKind;
use std::path::Path;

use serde::Serialize;
use shared::error::{Code, Error};

use crate::atomic_write::write_atomically;
use crate::output::{DIM, GOOD};
use crate::text::harmless;

/// A change to one file, done or planned.
#[derive(Debug, Serialize)]
pub(super) struct FileChange {
    path: String,
    action: Action,
    what: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Action {
    Created,
    Updated,
    Removed,
    Unchanged,
}

/// What is to become of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Left {
    Unchanged,
    /// Nothing is left of it but what is ours, so the file goes.
    Nothing,
    Text(String),
}

impl FileChange {
    pub(super) fn new(path: &Path, action: Action, what: &str) -> Self {
        Self {
            path: path.to_string_lossy().into_owned(),
            action,
            what: what.to_owned(),
        }
    }
}

/// Writes or removes a file, unless it is only planned.
pub(super) fn change_file(
    path: &Path,
    left: Left,
    what: &str,
    dry_run: bool,
) -> Result<FileChange, Error> {
    let action = match &left {
        Left::Unchanged => Action::Unchanged,
        Left::Nothing => Action::Removed,
        Left::Text(_) if path.exists() => Action::Updated,
        Left::Text(_) => Action::Created,
    };
    if !dry_run {
        match left {
            Left::Unchanged => {}
            Left::Nothing => remove_file(path)?,
            Left::Text(text) => write_atomically(path, &text)?,
        }
    }
    Ok(FileChange::new(path, action, what))
}

/// Removes a file, and those of its folders that are ours and become empty.
pub(super) fn remove_file(path: &Path) -> Result<(), Error> {
    std::fs::remove_file(path).map_err(|error| {
        Error::new(
            Code::Internal,
            format!("cannot remove {}: {error}", path.display()),
        )
    })?;
    let is_ours = |folder: &&Path| {
        [".claude", ".claude/commands", ".claude-codex"]
            .iter()
            .any(|name| folder.ends_with(name))
    };
    for folder in path.ancestors().skip(1).take_while(is_ours) {
        if std::fs::remove_dir(folder).is_err() {
            break;
        }
    }
    Ok(())
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

//! Predicts whether an edit touches production code or tests, before it is made.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::profile::{Profile, rust_change};
use shared::file;
use shared::model::{FileKind, Phase, ToolKind};

/// Larger files are treated as changing both tests and production code.
pub(super) const MAX_SOURCE_BYTES: u64 = 4 << 20;

/// Returns the file that a tool is about to change.
pub(super) fn target(tool: ToolKind, input: &Value) -> Option<PathBuf> {
    let field = match tool {
        ToolKind::Write | ToolKind::Edit | ToolKind::MultiEdit => "file_path",
        ToolKind::NotebookEdit => "notebook_path",
        ToolKind::Bash => return None,
    };
    input[field].as_str().map(PathBuf::from)
}

/// Returns the kinds of code that an edit touches.
pub(super) fn touched(
    profile: &Profile,
    phase: Phase,
    tool: ToolKind,
    path: &Path,
    input: &Value,
) -> Vec<FileKind> {
    let kind = profile.kind(path);
    let depends = phase.allows(FileKind::Production) != phase.allows(FileKind::Test);
    if kind != FileKind::Production || !depends || !profile.may_hold_tests(path) {
        return vec![kind];
    }
    // If the result can't be predicted, it may touch either.
    let unknown = vec![FileKind::Production, FileKind::Test];
    let Some(before) = read(path) else {
        return unknown;
    };
    let Some(after) = after(tool, &before, input) else {
        return unknown;
    };
    kinds_of_rust(&before, &after)
}

/// Returns the kinds of code that differ between two versions of a Rust file.
pub(super) fn kinds_of_rust(before: &str, after: &str) -> Vec<FileKind> {
    let Some(change) = rust_change(before, after) else {
        return vec![FileKind::Production, FileKind::Test];
    };
    let mut kinds = Vec::new();
    if change.production {
        kinds.push(FileKind::Production);
    }
    if change.tests {
        kinds.push(FileKind::Test);
    }
    kinds
}

/// Reads a file; a missing one counts as empty.
fn read(path: &Path) -> Option<String> {
    match file::read(path, MAX_SOURCE_BYTES) {
        Ok(bytes) => String::from_utf8(bytes).ok(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(String::new()),
        Err(_) => None,
    }
}

/// Returns the file as the tool would leave it.
fn after(tool: ToolKind, before: &str, input: &Value) -> Option<String> {
    match tool {
        ToolKind::Write => input["content"].as_str().map(str::to_owned),
        ToolKind::Edit => replaced(before, input),
        ToolKind::MultiEdit => input["edits"]
            .as_array()?
            .iter()
            .try_fold(before.to_owned(), |text, edit| replaced(&text, edit)),
        ToolKind::NotebookEdit | ToolKind::Bash => None,
    }
}

fn replaced(text: &str, edit: &Value) -> Option<String> {
    let (old, new) = (edit["old_string"].as_str()?, edit["new_string"].as_str()?);
    if old.is_empty() {
        // Claude Code creates a file this way.
        return text.is_empty().then(|| new.to_owned());
    }
    if !text.contains(old) {
        return None;
    }
    Some(if edit["replace_all"].as_bool() == Some(true) {
        text.replace(old, new)
    } else {
        text.replacen(old, new, 1)
    })
}

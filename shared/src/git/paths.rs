//! Paths as git prints and stores them, and the links between a worktree and its git directory (`.git`, `gitdir`).

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use crate::file;

/// The `.git` file of a linked worktree names one path.
pub(super) const MAX_LINK: u64 = 64 << 10;

/// Reads a path that git printed with one line break after it.
pub(super) fn path_of_line(line: &[u8]) -> PathBuf {
    path_of(line.strip_suffix(b"\n").unwrap_or(line))
}

/// Reads a path that git printed between NUL bytes.
pub(super) fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes.to_vec()))
}

/// Returns the path as git stores it: without symbolic links, even if its last part is gone.
pub fn resolved(path: &Path) -> PathBuf {
    if let Ok(path) = path.canonicalize() {
        return path;
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => resolved(parent).join(name),
        _ => path.to_owned(),
    }
}

/// Reads which record the `.git` file of a worktree names.
pub(super) fn linked_record(worktree: &Path) -> Option<PathBuf> {
    link_of(worktree)?.canonicalize().ok()
}

pub(super) fn link_of(worktree: &Path) -> Option<PathBuf> {
    let line = file::read(&worktree.join(".git"), MAX_LINK).ok()?;
    let record = path_of_line(line.strip_prefix(b"gitdir: ")?);
    Some(worktree.join(record))
}

/// Reads which `.git` file a record names.
pub(super) fn recorded_link(record: &Path) -> Option<PathBuf> {
    let text = std::fs::read(record.join("gitdir")).ok()?;
    let link = record.join(path_of_line(&text));
    let folder = link.parent()?;
    Some(resolved(folder).join(".git"))
}

//! The cache key of a working tree: equal as long as neither the commit nor a file changes.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::git::OwnFilters;
use super::{Budget, git};

/// Returns a key of the commit and of the state of the working tree.
///
/// Changed and untracked files enter with their size and modification time. Without git (or when git can't
/// tell in time) the key never repeats, so that nothing stale is taken from a cache.
pub fn fingerprint(root: &Path, budget: &Budget) -> String {
    // It reads every file of patterns of the tree, which other questions do without.
    let budget = &budget.trying_git();
    let args = [
        "status",
        "--porcelain=v2",
        "--branch",
        "-z",
        "--untracked-files=all",
        "--no-renames",
        git::SUBMODULES,
    ];
    let status = OwnFilters::of(root, budget)
        .and_then(|filters| git::collect(filters.command(root, &args), budget));
    let top = git::output(root, &["rev-parse", "--show-toplevel"], budget);
    let (Ok(status), Ok(top)) = (status, top) else {
        let now = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
        return format!("unknown-{}", now.as_nanos());
    };
    let mut hasher = DefaultHasher::new();
    let mut commit = "none".to_owned();
    let top = Path::new(std::ffi::OsStr::from_bytes(top.trim_ascii_end()));
    root.hash(&mut hasher);
    for entry in status.split(|&byte| byte == 0) {
        if let Some(id) = entry.strip_prefix(b"# branch.oid ") {
            commit = String::from_utf8_lossy(&id[..id.len().min(16)]).replace(['(', ')'], "");
        }
        if entry.starts_with(b"# ") {
            continue;
        }
        entry.hash(&mut hasher);
        let fields_before_path = match entry.first() {
            Some(b'1') => 8,
            Some(b'u') => 10,
            Some(_) => 1,
            None => continue,
        };
        let path = entry
            .splitn(fields_before_path + 1, |&byte| byte == b' ')
            .last()
            .unwrap_or_default();
        if let Ok(metadata) = fs::symlink_metadata(top.join(std::ffi::OsStr::from_bytes(path))) {
            (
                metadata.size(),
                metadata.mtime(),
                metadata.mtime_nsec(),
                metadata.ino(),
            )
                .hash(&mut hasher);
        }
    }
    format!("{commit}-{:016x}", hasher.finish())
}

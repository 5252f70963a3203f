//! Resolves symbolic links and `..`, and finds the phase that governs a path.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use shared::git::worktree_around;
use shared::store::PhaseRow;

/// The limit of Linux.
const MAX_LINKS: usize = 40;

/// Resolves a path whose last components need not exist.
pub(super) fn resolve(directory: &Path, path: &Path) -> PathBuf {
    let mut done = PathBuf::from("/");
    let mut left: Vec<OsString> = Vec::new();
    push(&directory.join(path), &mut left);
    let mut links = 0;
    while let Some(part) = left.pop() {
        if part == ".." {
            done.pop();
            continue;
        }
        if part == "/" {
            done = PathBuf::from("/");
            continue;
        }
        done.push(&part);
        if links < MAX_LINKS
            && let Ok(target) = std::fs::read_link(&done)
        {
            links += 1;
            done.pop();
            push(&target, &mut left);
        }
    }
    done
}

/// Pushes the components of a path on a stack, the first on top.
fn push(path: &Path, left: &mut Vec<OsString>) {
    let parts = path.components().rev().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::RootDir => Some(OsString::from("/")),
        Component::CurDir | Component::Prefix(_) => None,
    });
    left.extend(parts);
}

/// Finds the phase that governs a path, and the path's worktree: the phase's own, or another one of the same
/// repository.
pub(super) fn phase_around<'r>(
    rows: &'r [PhaseRow],
    path: &Path,
) -> Option<(&'r PhaseRow, PathBuf)> {
    let own = rows
        .iter()
        .filter(|row| path.starts_with(&row.worktree))
        .max_by_key(|row| row.worktree.as_os_str().len());
    if let Some(row) = own {
        return Some((row, row.worktree.clone()));
    }
    let (top, common) = worktree_around(path)?;
    let row = rows.iter().find(|row| row.repository == common)?;
    Some((row, top))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_and_dots_lead_where_the_system_would_go() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::write(root.join("a/file"), "").unwrap();
        symlink("a/b", root.join("link")).unwrap();
        symlink(root.join("a/new"), root.join("dangling")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        for (path, expected) in [
            ("a/./file", "a/file"),
            ("link/../file", "a/file"),
            ("link/x/y", "a/b/x/y"),
            ("dangling", "a/new"),
            ("missing/../a/file", "a/file"),
        ] {
            assert_eq!(
                resolve(&root, Path::new(path)),
                root.join(expected),
                "{path}"
            );
        }
        // A loop terminates, with any result.
        resolve(&root, Path::new("loop"));
        assert_eq!(resolve(&root, Path::new("/../../x")), Path::new("/x"));
    }
}

//! Atomic writes of files in the user's repository: write a temporary file, fsync, rename.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use shared::error::{Code, Error};
use shared::file;

/// Returns the path of a file in a repository. Fails if a symbolic link leads out of it, because a hostile clone could then
/// choose the file that is written.
pub(crate) fn inside(root: &Path, name: &str) -> Result<PathBuf, Error> {
    let path = root.join(name);
    let there = path.ancestors().find_map(|part| part.canonicalize().ok());
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    if there.is_some_and(|there| there.starts_with(root)) {
        return Ok(path);
    }
    Err(Error::new(
        Code::ConfigInvalid,
        format!(
            "{} is a symbolic link that leads out of the repository, and was not changed",
            path.display()
        ),
    )
    .hint("Remove the link, or edit its target by hand."))
}

/// Replaces the contents of a file. Its mode stays, and so does a symbolic link that leads to it.
pub(crate) fn write_atomically(path: &Path, text: &str) -> Result<(), Error> {
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mode = target
        .metadata()
        .ok()
        .map(|metadata| metadata.permissions().mode() & 0o7777);
    let written = target
        .parent()
        .map_or(Ok(()), std::fs::create_dir_all)
        .and_then(|()| file::replace(&target, text, mode));
    written.map_err(|source| {
        let code = if source.kind() == std::io::ErrorKind::StorageFull {
            Code::DiskFull
        } else {
            Code::Internal
        };
        Error::new(code, format!("cannot write {}: {source}", path.display()))
            .hint("The file is unchanged.")
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_and_modes_stay_and_nothing_is_left_over() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        std::fs::write(&real, "old").unwrap();
        std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&real, &link).unwrap();
        write_atomically(&link, "new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read_to_string(&real).unwrap(), "new");
        assert_eq!(real.metadata().unwrap().permissions().mode() & 0o777, 0o640);
        write_atomically(&folder.path().join("a/b/c"), "deep").unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
    }

    #[test]
    fn a_link_out_of_the_repository_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("repository");
        std::fs::create_dir_all(root.join("folder")).unwrap();
        std::fs::write(folder.path().join("outside"), "").unwrap();
        for (link, target) in [("in", "folder"), ("out", ".."), ("file", "../outside")] {
            symlink(target, root.join(link)).unwrap();
        }
        for name in ["file", "out/outside", "out/new/deep"] {
            assert!(inside(&root, name).is_err(), "{name}");
        }
        for name in ["new", "folder/new", "in/new", "new/deep"] {
            assert_eq!(inside(&root, name).unwrap(), root.join(name));
        }
    }

    #[test]
    fn a_fault_leaves_the_file_alone() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("folder");
        std::fs::create_dir(&target).unwrap();
        assert!(write_atomically(&target, "x").is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

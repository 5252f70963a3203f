//! Writing a file of the user's: all of it or nothing.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use shared::error::{Code, Error};

/// Returns the path of a file in a repository, unless a link on the way leads out: a clone would choose what is written.
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
            "{} leads out of the repository and was left as it is",
            path.display()
        ),
    )
    .hint("Take the link away, or write into what it leads to by hand."))
}

/// Replaces a file's text in one step, keeping its mode and, if it is a link, the link.
pub(crate) fn write_whole(path: &Path, text: &str) -> Result<(), Error> {
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let fresh = target.with_file_name(format!(".{name}.{}.new", std::process::id()));
    let written = write(&target, &fresh, text);
    if written.is_err() {
        // Whatever the fault was, nothing of ours stays.
        let _ = std::fs::remove_file(&fresh);
    }
    written.map_err(|source| {
        let code = if source.kind() == std::io::ErrorKind::StorageFull {
            Code::DiskFull
        } else {
            Code::Internal
        };
        Error::new(code, format!("cannot write {}: {source}", path.display()))
            .hint("The file is as it was before.")
    })
}

fn write(target: &Path, fresh: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = target.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(fresh)?;
    if let Ok(metadata) = target.metadata() {
        file.set_permissions(metadata.permissions())?;
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(fresh, target)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn links_and_modes_stay_and_nothing_is_left_over() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        std::fs::write(&real, "old").unwrap();
        std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&real, &link).unwrap();
        write_whole(&link, "new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read_to_string(&real).unwrap(), "new");
        assert_eq!(real.metadata().unwrap().permissions().mode() & 0o777, 0o640);
        write_whole(&folder.path().join("a/b/c"), "deep").unwrap();
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
        assert!(write_whole(&target, "x").is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

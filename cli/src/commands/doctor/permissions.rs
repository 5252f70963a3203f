//! Permissions of the state folder: 0700 and 0600, no access for other users.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Returns whether other users have any access to a folder.
pub(super) fn is_open(folder: &Path) -> bool {
    let metadata = std::fs::metadata(folder);
    metadata.is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
}

/// Removes the access of other users to a folder and its contents. Returns how many entries were changed.
///
/// Symbolic links are skipped: their targets are not ours to change.
pub(super) fn close(path: &Path) -> io::Result<usize> {
    let metadata = match std::fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        // An agent may have removed it meanwhile.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    if metadata.is_symlink() {
        return Ok(0);
    }
    let mode = metadata.permissions().mode();
    let mut opened = 0;
    if mode & 0o077 != 0 {
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode & 0o700))?;
        opened += 1;
    }
    if metadata.is_dir() {
        for entry in std::fs::read_dir(path)? {
            opened += close(&entry?.path())?;
        }
    }
    Ok(opened)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_could_read_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let (inner, file) = (folder.path().join("a"), folder.path().join("a/b"));
        let outside = tempfile::NamedTempFile::new().unwrap();
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(outside.path(), inner.join("link")).unwrap();
        let set = |path: &Path, mode| {
            std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
        };
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        set(folder.path(), 0o700);
        set(&inner, 0o755);
        set(&file, 0o640);
        set(outside.path(), 0o644);
        assert_eq!(close(folder.path()).unwrap(), 2);
        assert_eq!((mode(&inner), mode(&file)), (0o700, 0o600));
        assert_eq!(mode(outside.path()), 0o644);
        assert_eq!(close(folder.path()).unwrap(), 0);
    }
}

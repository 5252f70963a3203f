//! Deletes a folder with everything in it, read-only folders included.

use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::mounts::mounts_in;

/// Deletes a folder; one that is gone already is fine. Tries again while something still writes into it.
///
/// The `.git` file of a worktree goes last: it tells whose a half-deleted worktree is.
pub(super) async fn delete_folder(
    path: &Path,
    attempts: u32,
    pause: Duration,
) -> std::io::Result<()> {
    // Deleting does not stop at a mount, and what is mounted is not the folder's.
    if let Some(place) = mounts_in(path).first() {
        let place = path.join(place);
        let text = format!("something is mounted at {}", place.display());
        return Err(std::io::Error::other(text));
    }
    let mut attempt = 1;
    loop {
        let folder = path.to_owned();
        let deleted = tokio::task::spawn_blocking(move || delete_at_once(&folder)).await?;
        match deleted {
            Err(error) if attempt == attempts => return Err(error),
            Err(_) => tokio::time::sleep(pause).await,
            Ok(()) => return Ok(()),
        }
        attempt += 1;
    }
}

fn delete_at_once(folder: &Path) -> std::io::Result<()> {
    let delete = || {
        for entry in entries(folder) {
            if entry.file_name().is_some_and(|name| name == ".git") {
                continue;
            }
            if entry.symlink_metadata()?.is_dir() {
                std::fs::remove_dir_all(&entry)?;
            } else {
                std::fs::remove_file(&entry)?;
            }
        }
        std::fs::remove_dir_all(folder)
    };
    let mut deleted = delete();
    // Go's module cache, for one, is read-only.
    if (deleted.as_ref()).is_err_and(|error| error.kind() == ErrorKind::PermissionDenied) {
        make_writable(folder);
        deleted = delete();
    }
    deleted.or_else(|error| match error.kind() {
        ErrorKind::NotFound if folder.symlink_metadata().is_err() => Ok(()),
        _ => Err(error),
    })
}

/// Lets the user delete what is in a folder and in those below it. What can't be changed is noticed when it is deleted.
fn make_writable(folder: &Path) {
    let Ok(found) = folder.symlink_metadata() else {
        return;
    };
    if !found.is_dir() {
        return;
    }
    let mode = found.permissions().mode();
    if mode & 0o700 != 0o700 {
        let _ = std::fs::set_permissions(folder, PermissionsExt::from_mode(mode | 0o700));
    }
    for entry in entries(folder) {
        make_writable(&entry);
    }
}

pub(super) fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let found = std::fs::read_dir(folder).into_iter().flatten().flatten();
    found.map(|entry| entry.path())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_only_folders_are_made_writable_and_links_are_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let (folder, outside) = (place.path().join("worktree"), place.path().join("outside"));
        let inner = folder.join("cache/module");
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::create_dir(&outside).unwrap();
        std::os::unix::fs::symlink(&outside, inner.join("link")).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        for path in [&inner, &folder.join("cache"), &outside] {
            std::fs::set_permissions(path, PermissionsExt::from_mode(0o555)).unwrap();
        }
        make_writable(&folder);
        assert_eq!((mode(&inner), mode(&outside)), (0o755, 0o555));
        delete_at_once(&folder).unwrap();
        assert!(!folder.exists() && outside.exists());
        delete_at_once(&folder).unwrap();
    }
}

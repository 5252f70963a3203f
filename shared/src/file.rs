//! Untrusted files (bounded, no links out, no pipes), private files, and atomic file replacement.

use std::fs::{DirBuilder, File, Permissions};
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::OFlags;
use uuid::Uuid;

use crate::fault;

/// No settings file or prompt that anybody wrote is larger.
const MAX_TEXT_BYTES: u64 = 256 << 10;

/// Reads a file below a folder; none if there is none. No link out of the folder, no device, no pipe, bounded.
pub fn read_inside(root: &Path, name: &str) -> Result<Option<String>> {
    let refused = |why: &str| Err(Error::new(ErrorKind::InvalidInput, why));
    let found = match root.join(name).canonicalize() {
        Ok(found) => found,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    if !found.starts_with(root.canonicalize()?) {
        return refused("it is a link that leads out of the repository");
    }
    let text = String::from_utf8(read(&found, MAX_TEXT_BYTES)?);
    text.map(Some)
        .map_err(|error| Error::new(ErrorKind::InvalidData, error))
}

/// Opens a file that lies where others write; nothing that is no file.
pub fn open(path: &Path) -> Result<File> {
    // To open a pipe waits for somebody who writes, unless told otherwise.
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(Error::new(ErrorKind::InvalidInput, "it is not a file"));
    }
    Ok(file)
}

/// Reads a file that lies where others write: nothing that is no file, and no more than `most` bytes.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>> {
    let refused = |why: String| Err(Error::new(ErrorKind::InvalidInput, why));
    let file = open(path)?;
    let mut bytes = Vec::new();
    if file.take(most + 1).read_to_end(&mut bytes)? as u64 > most {
        return refused(format!("it is larger than {} KiB", most >> 10));
    }
    Ok(bytes)
}

/// Makes an empty file for the user alone, and its folder if need be. One that exists is emptied.
pub fn create_private(path: &Path) -> Result<File> {
    if let Some(folder) = path.parent() {
        make_private_folder(folder)?;
    }
    let mut options = File::options();
    options.write(true).create(true).truncate(true).mode(0o600);
    let step = format!("file {}", path.display());
    fault::before(&step)?;
    let file = options.open(path)?;
    fault::after(&step);
    Ok(file)
}

/// Writes a file for the user alone, and its folder if need be.
pub fn write_private(path: &Path, bytes: impl AsRef<[u8]>) -> Result<()> {
    create_private(path)?.write_all(bytes.as_ref())
}

/// Replaces a file atomically: a reader sees the old content or the new, and a failure leaves the old file alone.
///
/// The new file gets the mode, whatever the old one had; without one, that of any new file. Its content is on the disk
/// before it gets its name. Two writers don't collide: the last one to rename wins.
pub fn replace(path: &Path, bytes: impl AsRef<[u8]>, mode: Option<u32>) -> Result<()> {
    let fresh = path.with_added_extension(format!("{}.new", Uuid::new_v4().simple()));
    let write = || {
        let step = format!("file {}", path.display());
        fault::before(&step)?;
        let mut options = File::options();
        let mut file = options
            .write(true)
            .create_new(true)
            .mode(mode.map_or(0o666, |_| 0o600))
            .open(&fresh)?;
        file.write_all(bytes.as_ref())?;
        if let Some(mode) = mode {
            file.set_permissions(Permissions::from_mode(mode))?;
        }
        file.sync_all()?;
        std::fs::rename(&fresh, path)?;
        fault::after(&step);
        Ok(())
    };
    let written = write();
    if written.is_err() {
        let _ = std::fs::remove_file(&fresh);
    }
    written
}

/// Makes a folder for the user alone; one that exists is left as it is.
pub fn make_private_folder(folder: &Path) -> Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, Mode, mkfifoat};

    use super::*;

    #[test]
    fn only_files_inside_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("repository");
        std::fs::create_dir_all(root.join("folder")).unwrap();
        std::fs::write(root.join("real"), "text").unwrap();
        std::fs::write(folder.path().join("outside"), "secret").unwrap();
        std::fs::write(root.join("large"), "x".repeat(257 << 10)).unwrap();
        mkfifoat(CWD, root.join("pipe"), Mode::RUSR | Mode::WUSR).unwrap();
        for (link, target) in [
            ("inside", "real"),
            ("out", "../outside"),
            ("zero", "/dev/zero"),
            ("to-pipe", "pipe"),
            ("dangling", "nothing"),
        ] {
            symlink(target, root.join(link)).unwrap();
        }
        let read = |name: &str| read_inside(&root, name);
        for name in ["real", "inside"] {
            assert_eq!(read(name).unwrap().as_deref(), Some("text"), "{name}");
        }
        for name in ["nothing", "dangling", "real/below"] {
            assert_eq!(read(name).unwrap(), None, "{name}");
        }
        for name in ["out", "zero", "pipe", "to-pipe", "folder", "large"] {
            assert!(read(name).is_err(), "{name}");
        }
    }
}

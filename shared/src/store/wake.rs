//! Wake files: how the server of an agent hears that its agent is owed a message, and sleeps through all other commits.
//!
//! Who commits a new message writes to the wake file of its agent afterwards. There are as many files as
//! [`FILES`], not one for each agent: nobody has to remove them, and two agents that share one only wake in vain.
//! A writer that is killed before it has done so costs time, no message: watchers look by themselves as well.

use std::fs::{DirBuilder, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::file_names::beside;
use crate::model::InstanceId;

const FILES: u32 = 64;

/// Makes a wake file if it is missing, so that it can be watched.
pub(super) fn make(file: &Path) {
    if !file.exists() {
        write(file);
    }
}

/// Wakes whoever delivers to an agent.
pub(super) fn wake(database: &Path, instance: &InstanceId) {
    write(&file(database, instance));
}

/// A file that can't be written (a full disk, a folder of somebody else) leaves the watcher to its own looks.
fn write(path: &Path) {
    if let Some(folder) = path.parent() {
        let _ = DirBuilder::new().mode(0o700).create(folder);
    }
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path);
    if let Ok(file) = file {
        let _ = file.write_at(b"!", 0);
    }
}

/// Returns the wake file of an agent.
pub(super) fn file(database: &Path, instance: &InstanceId) -> PathBuf {
    // FNV-1a: the same number in every process and version.
    let hash = instance
        .as_str()
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, byte| {
            (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
        });
    beside(database, "-wake").join(format!("{:02}", hash % FILES))
}

//! The lock around changes to a repository's worktrees and branches.
//!
//! Concurrent `git worktree add` commands trip over each other and leave branches behind; under
//! this lock they do not. It is a `flock`, so it ends with the process that holds it,
//! and with the git that was handed it: one that outlives a killed launcher keeps others out until
//! it is done.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;

use tokio::time::Instant;

use super::error::GitError;

pub(super) const WORKTREES_FILE: &str = "claude-codex.lock";
/// What is done under the lock takes some 10 ms, so this is reached only if something hangs.
pub(super) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
const MIN_PAUSE: Duration = Duration::from_millis(1);
const MAX_PAUSE: Duration = Duration::from_millis(10);

/// Held while it lives.
#[derive(Debug)]
pub(super) struct WorktreeLock {
    file: File,
}

impl WorktreeLock {
    /// Waits for the lock of a file without blocking the thread, up to a timeout.
    pub(super) async fn acquire(path: PathBuf, timeout: Duration) -> Result<Self, GitError> {
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(GitError::io("open", &path))?;
        let start = Instant::now();
        let mut pause = MIN_PAUSE;
        // Polls instead of calling `File::lock` on another thread, which could not be cancelled.
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { file }),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(source)) => {
                    return Err(GitError::io("lock", &path)(source));
                }
            }
            if start.elapsed() >= timeout {
                return Err(GitError::LockTimeout {
                    path,
                    waited: timeout,
                });
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(MAX_PAUSE);
        }
    }

    /// Returns a second handle, for a child to hold the lock too.
    pub(super) fn share(&self) -> std::io::Result<OwnedFd> {
        Ok(self.file.try_clone()?.into())
    }
}

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

use super::discovery::Repository;
use super::error::GitError;

const FILE: &str = "claude-codex.lock";
/// What is done under the lock takes some 10 ms, so this is reached only if something hangs.
const PATIENCE: Duration = Duration::from_secs(30);
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(10);

/// Held while it lives.
#[derive(Debug)]
pub(super) struct WorktreeLock {
    file: File,
}

impl WorktreeLock {
    /// Returns a second handle, for a child to hold the lock too.
    pub(super) fn share(&self) -> std::io::Result<OwnedFd> {
        Ok(self.file.try_clone()?.into())
    }
}

impl Repository {
    /// Waits for the lock without blocking the thread, but not for ever.
    pub(super) async fn lock(&self) -> Result<WorktreeLock, GitError> {
        self.lock_within(self.patience.unwrap_or(PATIENCE)).await
    }

    /// Returns the repository for somebody who would rather come again than wait longer for the lock.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = Some(patience);
        self
    }

    pub(super) async fn lock_within(&self, patience: Duration) -> Result<WorktreeLock, GitError> {
        self.lock_file(FILE, patience).await
    }

    /// Waits for the lock that a file in the common directory stands for.
    pub(super) async fn lock_file(
        &self,
        name: &str,
        patience: Duration,
    ) -> Result<WorktreeLock, GitError> {
        let path = self.common_dir().join(name);
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(|source| io_error("open", &path, source))?;
        let start = Instant::now();
        let mut pause = FIRST_PAUSE;
        // Asking again and again, not `File::lock` on another thread: that cannot be given up.
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(WorktreeLock { file }),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(source)) => return Err(io_error("lock", &path, source)),
            }
            if start.elapsed() >= patience {
                return Err(GitError::LockTimeout {
                    path,
                    waited: patience,
                });
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}

fn io_error(action: &'static str, path: &std::path::Path, source: std::io::Error) -> GitError {
    GitError::Io {
        action,
        path: PathBuf::from(path),
        source,
    }
}

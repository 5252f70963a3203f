//! Handover of the user's environment, with its tokens, to the agent's process through a named pipe (FIFO).
//!
//! It goes through a named pipe that is read once and then removed: no file holds it (an agent may read
//! the files of its own folder unasked), no argument and no variable of tmux shows it.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, OFlags, mkfifoat};

use super::environment::Environment;
use super::error::AgentError;

/// How long either end waits for the other. A loaded machine needs seconds to start a process.
const HANDOVER_TIMEOUT: Duration = Duration::from_secs(30);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

fn pipe_in(folder: &Path) -> PathBuf {
    folder.join("environment.pipe")
}

fn non_blocking() -> i32 {
    // The flags of open(2) fit into an int on every system.
    i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default()
}

/// The launcher's end. The pipe goes away with it.
#[derive(Debug)]
pub struct Handover {
    path: PathBuf,
}

impl Handover {
    /// Makes the pipe in the agent's folder, before the process that reads it is started.
    pub fn make(folder: &Path) -> Result<Self, AgentError> {
        let path = pipe_in(folder);
        let _ = std::fs::remove_file(&path);
        mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).map_err(|source| AgentError::Write {
            path: path.clone(),
            source: source.into(),
        })?;
        Ok(Self { path })
    }

    /// Hands the environment over; returns when it was read.
    pub async fn give(self, environment: &Environment) -> Result<(), AgentError> {
        let given = self.write(environment).await;
        given.map_err(|source| AgentError::Write {
            path: self.path.clone(),
            source,
        })
    }

    async fn write(&self, environment: &Environment) -> std::io::Result<()> {
        let bytes = serde_json::to_vec(environment)?;
        let deadline = Instant::now() + HANDOVER_TIMEOUT;
        let mut pipe = loop {
            // Without a reader this fails at once.
            let opened = File::options()
                .write(true)
                .custom_flags(non_blocking())
                .open(&self.path);
            match opened {
                Ok(pipe) => break pipe,
                // The launch was taken back: nobody will ever read from it.
                Err(error) if error.kind() == ErrorKind::NotFound => return Err(error),
                Err(_) if Instant::now() < deadline => tokio::time::sleep(POLL_INTERVAL).await,
                Err(error) => return Err(error),
            }
        };
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            match pipe.write(rest) {
                Ok(written) => rest = &rest[written..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error)
                    if error.kind() == ErrorKind::WouldBlock && Instant::now() < deadline =>
                {
                    tokio::time::sleep(POLL_INTERVAL).await;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Drop for Handover {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Takes the environment that is handed over in an agent's folder; empty if none is.
pub fn take_environment(folder: &Path) -> Result<Environment, AgentError> {
    let path = pipe_in(folder);
    let unreadable = |source| AgentError::Read {
        path: path.clone(),
        source,
    };
    let opened = File::options()
        .read(true)
        .custom_flags(non_blocking())
        .open(&path);
    let mut pipe = match opened {
        Ok(pipe) => pipe,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Environment::new()),
        Err(error) => return Err(unreadable(error)),
    };
    let deadline = Instant::now() + HANDOVER_TIMEOUT;
    let mut bytes = Vec::new();
    let mut piece = [0; 8192];
    loop {
        match pipe.read(&mut piece) {
            Ok(0) if !bytes.is_empty() => break,
            // Nobody writes yet.
            Ok(0) => {}
            Ok(read) => {
                bytes.extend_from_slice(&piece[..read]);
                continue;
            }
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(error) => return Err(unreadable(error)),
        }
        if Instant::now() >= deadline {
            return Err(unreadable(ErrorKind::TimedOut.into()));
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    let _ = std::fs::remove_file(&path);
    serde_json::from_slice(&bytes).map_err(|source| AgentError::Corrupt { path, source })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};

    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn an_environment_of_any_size_is_taken_once_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let environment = Environment::from([
            ("TOKEN".to_owned(), "x".repeat(300_000)),
            ("LINES".to_owned(), "a\nb\u{1f600}".to_owned()),
        ]);
        assert_eq!(take_environment(folder.path()).unwrap(), Environment::new());
        let handover = Handover::make(folder.path()).unwrap();
        let metadata = std::fs::metadata(pipe_in(folder.path())).unwrap();
        assert!(metadata.file_type().is_fifo());
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
        let there = folder.path().to_owned();
        let taken = tokio::task::spawn_blocking(move || take_environment(&there));
        handover.give(&environment).await.unwrap();
        assert_eq!(taken.await.unwrap().unwrap(), environment);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn a_launch_that_is_given_up_removes_the_pipe() {
        let folder = tempfile::tempdir().unwrap();
        let handover = Handover::make(folder.path()).unwrap();
        let environment = Environment::new();
        let given = handover.give(&environment);
        let waited = tokio::time::timeout(Duration::from_millis(50), given).await;
        assert!(waited.is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

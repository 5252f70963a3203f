//! The named pipe by which tmux tells that a terminal prints something.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use tokio::net::unix::pipe::{OpenOptions, Receiver};

/// A pipe that goes with the one who reads it.
#[derive(Debug)]
pub(super) struct Pipe {
    path: PathBuf,
    receiver: Receiver,
}

impl Pipe {
    /// Makes a pipe that only we can open.
    pub(super) fn make(folder: &Path, name: &str) -> io::Result<Self> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        let path = folder.join(name);
        // What a dashboard left that was killed.
        let _ = std::fs::remove_file(&path);
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
        // Open for writing, too: else it would be at its end whenever no other writer is there.
        let receiver = OpenOptions::new().read_write(true).open_receiver(&path)?;
        Ok(Self { path, receiver })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Waits until something is printed.
    pub(super) async fn signalled(&self) -> io::Result<()> {
        self.receiver.readable().await
    }

    /// Throws away what has come so far: that it came is all that matters.
    pub(super) fn drain(&self) {
        let mut buffer = [0; 16_384];
        while self
            .receiver
            .try_read(&mut buffer)
            .is_ok_and(|read| read > 0)
        {}
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

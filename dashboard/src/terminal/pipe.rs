//! The named pipe (FIFO) through which tmux signals output of a terminal.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use shared::process;
use tokio::net::unix::pipe::{OpenOptions, Receiver};

/// A named pipe with its reader; dropping it removes the file.
#[derive(Debug)]
pub(super) struct Pipe {
    path: PathBuf,
    receiver: Receiver,
}

impl Pipe {
    /// Creates a pipe that only this user can open.
    pub(super) fn make(folder: &Path, name: &str) -> io::Result<Self> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        let path = folder.join(name);
        // A dashboard that was killed may have left one.
        let _ = std::fs::remove_file(&path);
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
        // Also open for writing: otherwise reads would return EOF whenever tmux has not opened it.
        let receiver = OpenOptions::new().read_write(true).open_receiver(&path)?;
        Ok(Self { path, receiver })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Waits until something was printed.
    pub(super) async fn signalled(&self) -> io::Result<()> {
        self.receiver.readable().await
    }

    /// Discards what was printed so far: only the fact matters.
    pub(super) fn drain(&self) {
        let mut buffer = [0; 16_384];
        while self
            .receiver
            .try_read(&mut buffer)
            .is_ok_and(|read| read > 0)
        {}
    }
}

/// Removes the pipes of dashboards that were killed, after releasing writers that wait for a reader.
pub(super) fn remove_orphans(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| name.rsplit_once('-'));
        let owner = owner.and_then(|(_, pid)| pid.parse().ok());
        let is_pipe = entry.file_type().is_ok_and(|kind| kind.is_fifo());
        if is_pipe && owner.is_some_and(|pid| process::mark(pid).is_none()) {
            let _ = File::options().read(true).write(true).open(entry.path());
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_pipes_of_the_dead_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path();
        let mine = Pipe::make(place, &format!("a-{}", std::process::id())).unwrap();
        let dead = Pipe::make(place, "b-999999999").unwrap();
        std::fs::write(place.join("c-999999999"), "").unwrap();
        remove_orphans(place);
        assert!(mine.path().exists() && place.join("c-999999999").exists());
        assert!(!dead.path().exists());
        drop(mine);
        assert_eq!(std::fs::read_dir(place).unwrap().count(), 1);
    }
}

//! Follows a file that grows, like `tail -f`, in whole lines.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result, Seek, SeekFrom};
use std::path::PathBuf;

/// How much is read at a time.
const MAX_READ_BYTES: u64 = 4 << 20;

/// A file and how far it was read.
#[derive(Debug)]
pub struct FollowedFile {
    path: PathBuf,
    position: u64,
    /// The beginning of a line whose end was not there yet.
    partial: Vec<u8>,
    /// Until the first read: how many bytes at the end of the file it may return.
    tail: Option<u64>,
}

impl FollowedFile {
    /// Follows a file from its beginning.
    pub fn from_start(path: PathBuf) -> Self {
        Self {
            path,
            position: 0,
            partial: Vec::new(),
            tail: None,
        }
    }

    /// Follows a file from its last whole lines, at most `bytes` of them.
    pub fn from_tail(path: PathBuf, bytes: u64) -> Self {
        Self {
            tail: Some(bytes),
            ..Self::from_start(path)
        }
    }

    /// Returns the lines added since the last call. A file that does not exist is empty.
    pub fn read_new(&mut self) -> Result<String> {
        self.read_bytes()
            .map(|lines| String::from_utf8_lossy(&lines).into_owned())
            .map_err(|error| {
                let message = format!("cannot read {}: {error}", self.path.display());
                Error::new(error.kind(), message)
            })
    }

    fn read_bytes(&mut self) -> Result<Vec<u8>> {
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let length = file.metadata()?.len();
        if length < self.position {
            // The file was replaced by a shorter one.
            self.position = 0;
            self.partial.clear();
        }
        let skipped = match self.tail.take() {
            Some(tail) => length.saturating_sub(tail),
            None => 0,
        };
        self.position += skipped;
        file.seek(SeekFrom::Start(self.position))?;
        let read = file.take(MAX_READ_BYTES).read_to_end(&mut self.partial)?;
        self.position += read as u64;
        let whole = self.partial.iter().rposition(|byte| *byte == b'\n');
        let partial = self.partial.split_off(whole.map_or(0, |end| end + 1));
        let mut lines = std::mem::replace(&mut self.partial, partial);
        if skipped > 0 {
            // The tail begins in the middle of a line.
            let first = lines.iter().position(|byte| *byte == b'\n');
            lines.drain(..first.map_or(0, |end| end + 1));
        }
        Ok(lines)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_growing_file_is_read_in_whole_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        let mut log = FollowedFile::from_tail(path.clone(), 1_000);
        assert_eq!(log.read_new().unwrap(), "");
        let mut file = File::create(&path).unwrap();
        file.write_all(b"one\ntw").unwrap();
        assert_eq!(log.read_new().unwrap(), "one\n");
        file.write_all(b"o\n").unwrap();
        assert_eq!(log.read_new().unwrap(), "two\n");
        assert_eq!(log.read_new().unwrap(), "");
        std::fs::write(&path, "new\n").unwrap();
        assert_eq!(log.read_new().unwrap(), "new\n");
    }

    #[test]
    fn the_tail_of_a_long_file_begins_with_a_whole_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        let line = format!("{}\n", "x".repeat(99));
        std::fs::write(&path, line.repeat(2_000)).unwrap();
        let text = FollowedFile::from_tail(path, 65_536).read_new().unwrap();
        assert!(text.len() <= 65_536 && text.len() > 60_000);
        assert!(text.lines().all(|line| line.len() == 99));
    }
}

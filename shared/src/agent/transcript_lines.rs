//! Transcript lines: whole lines of a transcript, from where the last read ended.
//!
//! A transcript grows to hundreds of megabytes, its last line may be half written, and Claude Code cuts and rewrites its end. It
//! lies where agents write, so it may be anything.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::transcript_ends::End;
use crate::file;

/// A longer line is passed over: it is a picture, or no transcript.
const MAX_LINE_BYTES: u64 = 16 << 20;
const BUFFER_BYTES: usize = 256 << 10;

/// The lines of a file behind a place.
#[derive(Debug)]
pub(super) struct TranscriptLines {
    reader: BufReader<std::fs::File>,
    end: End,
    line: Vec<u8>,
    restarted: bool,
    began: u64,
}

impl TranscriptLines {
    /// Opens a file behind an earlier end, or at its beginning if it is another one now; none if there is none.
    pub(super) fn open(path: &Path, after: &End) -> io::Result<Option<Self>> {
        let mut file = match file::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let metadata = file.metadata()?;
        let opened = (metadata.dev(), metadata.ino());
        let continues = after.file == opened && after.continues_in(&file, metadata.len())?;
        let end = if continues {
            after.clone()
        } else {
            End {
                file: opened,
                ..End::default()
            }
        };
        file.seek(SeekFrom::Start(end.offset))?;
        Ok(Some(Self {
            reader: BufReader::with_capacity(BUFFER_BYTES, file),
            began: end.offset,
            end,
            line: Vec::new(),
            restarted: !continues && after.offset > 0,
        }))
    }

    /// Opens a file at an offset where a line begins, or at its beginning if it is shorter now; none if there is none.
    pub(super) fn open_at(path: &Path, offset: u64) -> io::Result<Option<Self>> {
        let Some(mut lines) = Self::open(path, &End::default())? else {
            return Ok(None);
        };
        if offset <= lines.reader.get_ref().metadata()?.len() {
            lines.reader.seek(SeekFrom::Start(offset))?;
            lines.end.offset = offset;
            lines.began = offset;
        }
        Ok(Some(lines))
    }

    /// Opens a file at the first line that begins in its last bytes; none if there is none.
    pub(super) fn open_tail(path: &Path, bytes: u64) -> io::Result<Option<Self>> {
        let length = match path.metadata() {
            Ok(metadata) => metadata.len(),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        // The byte before belongs to it, so that a line which begins right there is not passed over.
        let from = length.saturating_sub(bytes.saturating_add(1));
        let Some(mut lines) = Self::open_at(path, from)? else {
            return Ok(None);
        };
        if lines.end.offset > 0 {
            lines.next()?;
        }
        Ok(Some(lines))
    }

    /// Returns where the last whole line ended.
    pub(super) fn offset(&self) -> u64 {
        self.end.offset
    }

    /// Tells whether lines come again that were read before.
    pub(super) fn are_read_again(&self) -> bool {
        self.restarted
    }

    /// Returns how many bytes were read.
    pub(super) fn bytes_read(&self) -> u64 {
        self.end.offset - self.began
    }

    /// Returns where the last whole line ended.
    pub(super) fn into_end(self) -> End {
        self.end
    }

    /// Returns the next whole line; an empty one instead of one that is too long.
    pub(super) fn next(&mut self) -> io::Result<Option<&[u8]>> {
        self.line.clear();
        let mut bounded = (&mut self.reader).take(MAX_LINE_BYTES);
        bounded.read_until(b'\n', &mut self.line)?;
        if self.line.last() == Some(&b'\n') {
            self.end.pass(&self.line);
            return Ok(Some(&self.line));
        }
        if (self.line.len() as u64) < MAX_LINE_BYTES {
            return Ok(None);
        }
        self.skip_long_line()
    }

    fn skip_long_line(&mut self) -> io::Result<Option<&[u8]>> {
        let mut length = self.line.len() as u64;
        loop {
            self.line.clear();
            let mut bounded = (&mut self.reader).take(MAX_LINE_BYTES);
            let read = bounded.read_until(b'\n', &mut self.line)?;
            if self.line.last() == Some(&b'\n') {
                self.end.offset += length;
                self.end.pass(&self.line);
                return Ok(Some(&[]));
            }
            if read == 0 {
                return Ok(None);
            }
            length += read as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &Path, end: &mut End) -> (Vec<String>, bool) {
        let mut lines = TranscriptLines::open(path, end).unwrap().unwrap();
        let mut found = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            found.push(String::from_utf8_lossy(line).trim_end().to_owned());
        }
        let again = lines.are_read_again();
        *end = lines.into_end();
        (found, again)
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let mut end = End::default();
        let long = "x".repeat(usize::try_from(MAX_LINE_BYTES).unwrap() + 5);
        std::fs::write(&path, format!("one\n{long}")).unwrap();
        assert_eq!(read(&path, &mut end).0, ["one"], "it may go on");
        std::fs::write(&path, format!("one\n{long}\ntwo\n")).unwrap();
        assert_eq!(
            read(&path, &mut end),
            (vec![String::new(), "two".to_owned()], false)
        );
        assert_eq!(read(&path, &mut end), (vec![], false));
    }

    #[test]
    fn a_pipe_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        assert!(
            TranscriptLines::open(&path, &End::default())
                .unwrap()
                .is_none()
        );
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
        TranscriptLines::open(&path, &End::default()).unwrap_err();
    }

    proptest::proptest! {
        /// Whatever is written in whatever pieces, every whole line is read exactly once.
        #[test]
        fn lines_are_read_once(pieces in proptest::collection::vec("[a-c\n]{0,9}", 0..20)) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("t.jsonl");
            let (mut end, mut written, mut found) = (End::default(), String::new(), Vec::new());
            for piece in pieces {
                written.push_str(&piece);
                std::fs::write(&path, &written).unwrap();
                let (lines, again) = read(&path, &mut end);
                proptest::prop_assert!(!again);
                found.extend(lines);
            }
            let whole = written.rsplit_once('\n').map_or("", |(whole, _)| whole);
            let expected: Vec<&str> = if written.contains('\n') { whole.split('\n').collect() } else { vec![] };
            proptest::prop_assert_eq!(found, expected);
        }
    }
}

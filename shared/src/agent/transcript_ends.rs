//! Offsets at which transcripts ended before a message was first typed: it cannot be before them.
//!
//! A hook has milliseconds, and a transcript grows to hundreds of megabytes.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::transcript::transcripts_beside;

/// How much of the text before an end is compared, to notice a file that was written anew in place.
const OVERLAP: usize = 64;
/// How far back a line may have begun that is just being written.
const MAX_TAIL_BYTES: usize = 1 << 20;

/// The ends of some transcripts, by their paths.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TranscriptEnds(pub(super) BTreeMap<PathBuf, End>);

/// Up to where a transcript had been written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct End {
    /// Device and inode.
    pub(super) file: (u64, u64),
    /// The end of the last whole line.
    pub(super) offset: u64,
    /// The last bytes before the offset.
    pub(super) overlap: Vec<u8>,
}

impl End {
    /// Tells whether what was read still stands before the offset.
    pub(super) fn continues_in(&self, file: &File, length: u64) -> io::Result<bool> {
        let start = self.offset.saturating_sub(self.overlap.len() as u64);
        if length < self.offset {
            return Ok(false);
        }
        let mut before = vec![0; self.overlap.len()];
        file.read_exact_at(&mut before, start)?;
        Ok(before == self.overlap)
    }

    /// Goes on behind a whole line.
    pub(super) fn pass(&mut self, line: &[u8]) {
        self.offset += line.len() as u64;
        let kept = line.len().saturating_sub(OVERLAP);
        self.overlap.clear();
        self.overlap.extend_from_slice(&line[kept..]);
    }
}

impl TranscriptEnds {
    /// Returns where a transcript and those that were left for it end now. One that can't be read has no end: it is read whole.
    pub fn now(transcript: &Path) -> Self {
        let paths = std::iter::once(transcript.to_owned()).chain(transcripts_beside(transcript));
        let ends = paths.filter_map(|path| {
            let end = end_of(&path).ok()?;
            Some((path, end))
        });
        Self(ends.collect())
    }

    /// Reads what was kept; what is not understood is nothing.
    pub fn parse(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns the transcripts that there were.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.keys().map(PathBuf::as_path)
    }
}

fn end_of(path: &Path) -> io::Result<End> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    let tail_start = metadata.len().saturating_sub(MAX_TAIL_BYTES as u64);
    let mut tail = Vec::new();
    io::Read::read_to_end(&mut TailOf(&file, tail_start), &mut tail)?;
    // Without a whole line in sight, all of it is read.
    let Some(last) = memchr::memrchr(b'\n', &tail) else {
        return Ok(End::default());
    };
    let whole = &tail[..=last];
    Ok(End {
        file: (metadata.dev(), metadata.ino()),
        offset: tail_start + whole.len() as u64,
        overlap: whole[whole.len().saturating_sub(OVERLAP)..].to_vec(),
    })
}

/// A file from one place on.
struct TailOf<'a>(&'a File, u64);

impl io::Read for TailOf<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read_at(buffer, self.1)?;
        self.1 += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::TranscriptReader;

    const OTHER: &str = "{\"type\":\"user\",\"message\":{\"content\":\"something else\"}}\n";
    const TAKEN: &str = "{\"type\":\"user\",\"message\":{\"content\":\"[m1]\"}}\n";

    fn is_taken(path: &Path, ends: &TranscriptEnds) -> bool {
        let reader = TranscriptReader::default();
        reader.begin_at(ends, "[m1]");
        reader.was_taken_here_or_before(path, "[m1]").unwrap()
    }

    #[test]
    fn what_was_written_since_is_read_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let (path, before) = (folder.path().join("t.jsonl"), folder.path().join("b.jsonl"));
        // Half a line is being written; it may become anything.
        let (begun, rest) = TAKEN.split_at(20);
        for (first, second) in [(OTHER, TAKEN), (&*format!("{OTHER}{begun}"), rest)] {
            for (written, unwritten) in [(&path, &before), (&before, &path)] {
                std::fs::write(written, first).unwrap();
                std::fs::write(unwritten, OTHER).unwrap();
                let ends = TranscriptEnds::parse(&TranscriptEnds::now(&path).to_text());
                assert_eq!(ends.paths().count(), 2);
                assert!(!is_taken(&path, &ends));
                std::fs::write(written, format!("{first}{second}")).unwrap();
                assert!(is_taken(&path, &ends));
            }
        }
        // What stood there before can't be this message.
        std::fs::write(&path, TAKEN).unwrap();
        std::fs::remove_file(&before).unwrap();
        assert!(!is_taken(&path, &TranscriptEnds::now(&path)));
        assert!(is_taken(&path, &TranscriptEnds::default()));
    }

    #[test]
    fn a_transcript_that_is_another_one_now_is_read_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        std::fs::write(&path, OTHER.repeat(9)).unwrap();
        let ends = TranscriptEnds::now(&path);
        std::fs::write(&path, format!("{TAKEN}{}", "{}\n".repeat(900))).unwrap();
        assert!(is_taken(&path, &ends), "written anew in place");
        std::fs::write(&path, TAKEN).unwrap();
        assert!(is_taken(&path, &ends), "cut");
        assert!(!is_taken(
            &folder.path().join("none.jsonl"),
            &TranscriptEnds::now(&path)
        ));
    }
}

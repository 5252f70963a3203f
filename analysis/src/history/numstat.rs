//! Reads added and deleted lines from `git diff-tree --numstat`.

use std::collections::HashMap;
use std::path::Path;

use super::{Change, Shard};
use crate::Control;
use crate::git::{self, GitFailure, Stream};

struct Reader<'a> {
    commits: &'a [(u32, &'a str)],
    /// Position in `commits` of the commit that is being read.
    current: usize,
    numbers: HashMap<Vec<u8>, u32>,
    shard: Shard,
}

/// Reads the changes of the given commits.
pub(super) fn read(
    root: &Path,
    commits: &[(u32, &str)],
    control: &Control,
) -> Result<Shard, GitFailure> {
    if commits.is_empty() {
        return Ok(Shard::default());
    }
    let mut input = Vec::with_capacity(commits.len() * 41);
    for (_, id) in commits {
        input.extend_from_slice(id.as_bytes());
        input.push(b'\n');
    }
    let command = git::command(
        root,
        &[
            "diff-tree",
            "--stdin",
            "--root",
            "-r",
            "-z",
            "--numstat",
            "--no-renames",
            "--no-ext-diff",
            "--no-textconv",
            "--relative",
        ],
    );
    let mut stream = Stream::start(command, Some(input))?;
    let mut reader = Reader {
        commits,
        current: 0,
        numbers: HashMap::new(),
        shard: Shard::default(),
    };
    let mut buffer = Vec::with_capacity(1 << 17);
    loop {
        match stream.read(&mut buffer, control) {
            Ok(more) => {
                let used = reader.take(&buffer)?;
                buffer.drain(..used);
                if !more {
                    break;
                }
            }
            Err(GitFailure::Stopped) => {
                reader.shard.complete_to = commits.get(reader.current).map(|commit| commit.0);
                return Ok(reader.shard);
            }
            Err(failure) => return Err(failure),
        }
    }
    stream.finish()?;
    Ok(reader.shard)
}

impl Reader<'_> {
    /// Takes the whole records from the bytes and returns how many bytes that were.
    fn take(&mut self, bytes: &[u8]) -> Result<usize, GitFailure> {
        let mut start = 0;
        for end in memchr::memchr_iter(0, bytes) {
            self.record(&bytes[start..end])?;
            start = end + 1;
        }
        Ok(start)
    }

    fn record(&mut self, record: &[u8]) -> Result<(), GitFailure> {
        let Some(tab) = memchr::memchr(b'\t', record) else {
            // A commit without changes prints nothing at all, so ids may be skipped.
            let ahead = self.commits[self.current..]
                .iter()
                .position(|(_, id)| id.as_bytes() == record)
                .ok_or(GitFailure::Unexpected)?;
            self.current += ahead;
            return Ok(());
        };
        let rest = &record[tab + 1..];
        let second = memchr::memchr(b'\t', rest).ok_or(GitFailure::Unexpected)?;
        let path = &rest[second + 1..];
        let path = if let Some(&number) = self.numbers.get(path) {
            number
        } else {
            let number =
                u32::try_from(self.shard.paths.len()).map_err(|_| GitFailure::Unexpected)?;
            self.numbers.insert(path.to_owned(), number);
            self.shard.paths.push(path.to_owned());
            number
        };
        self.shard.changes.push(Change {
            commit: self.commits[self.current].0,
            path,
            added: lines(&record[..tab]),
            deleted: lines(&rest[..second]),
        });
        Ok(())
    }
}

/// Reads a number; `-` stands for a binary file, which has no lines.
fn lines(digits: &[u8]) -> u32 {
    std::str::from_utf8(digits)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0)
}

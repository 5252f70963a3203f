//! Parses added and deleted lines and renames from `git diff-tree --numstat -M`.

use std::collections::HashMap;
use std::path::Path;

use super::{Change, Move, Numbered, Shard};
use crate::Budget;
use crate::git::{self, GitFailure, Stream};

/// A commit that moves and changes more files than this is searched for moves without changes only.
const RENAME_LIMIT: &str = "-l400";

struct Reader<'a> {
    commits: &'a [Numbered<'a>],
    /// Position in `commits` of the commit that is being read.
    current: usize,
    numbers: HashMap<Vec<u8>, u32>,
    /// The change whose old and new path come as the next records, and the old path.
    renamed: Option<(Change, Option<u32>)>,
    shard: Shard,
}

/// Reads the changes of the given commits; what was read before a failure is kept.
pub(super) fn read(root: &Path, commits: &[Numbered<'_>], budget: &Budget) -> Shard {
    let mut reader = Reader {
        commits,
        current: 0,
        numbers: HashMap::new(),
        renamed: None,
        shard: Shard::default(),
    };
    if !commits.is_empty()
        && let Err(failure) = reader.run(root, budget)
    {
        reader.shard.complete_to = commits.get(reader.current).map(|commit| commit.0);
        reader.shard.failure = Some(failure);
    }
    reader.shard
}

fn start(root: &Path, commits: &[Numbered<'_>]) -> Result<Stream, GitFailure> {
    let command = git::command(
        root,
        &[
            "diff-tree",
            "--stdin",
            "--root",
            "-r",
            "-z",
            "--numstat",
            "-M50%",
            RENAME_LIMIT,
            "--no-rename-empty",
            "--diff-algorithm=default",
            "--no-ext-diff",
            "--no-textconv",
            "--relative",
        ],
    );
    Stream::start(command, Some(super::as_input(commits)))
}

impl Reader<'_> {
    fn run(&mut self, root: &Path, budget: &Budget) -> Result<(), GitFailure> {
        let mut stream = start(root, self.commits)?;
        let mut buffer = Vec::with_capacity(1 << 17);
        while stream.read(&mut buffer, budget)? {
            let used = self.take(&buffer)?;
            buffer.drain(..used);
        }
        stream.finish()
    }

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
        match self.renamed.take() {
            Some((change, None)) => {
                let old = self.number(record)?;
                self.renamed = Some((change, Some(old)));
                return Ok(());
            }
            Some((mut change, Some(old))) => {
                change.path = self.number(record)?;
                self.shard.moves.push(Move {
                    commit: change.commit,
                    from: old,
                    to: change.path,
                });
                self.shard.changes.push(change);
                return Ok(());
            }
            None => {}
        }
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
        let mut change = Change {
            commit: self.commits[self.current].0,
            path: 0,
            added: lines(&record[..tab]),
            deleted: lines(&rest[..second]),
        };
        if path.is_empty() {
            self.renamed = Some((change, None));
        } else {
            change.path = self.number(path)?;
            self.shard.changes.push(change);
        }
        Ok(())
    }

    fn number(&mut self, path: &[u8]) -> Result<u32, GitFailure> {
        if let Some(&number) = self.numbers.get(path) {
            return Ok(number);
        }
        let number = u32::try_from(self.shard.paths.len()).map_err(|_| GitFailure::Unexpected)?;
        self.numbers.insert(path.to_owned(), number);
        self.shard.paths.push(path.to_owned());
        Ok(number)
    }
}

/// Parses a number; `-` means a binary file, which has no lines.
fn lines(digits: &[u8]) -> u32 {
    std::str::from_utf8(digits)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0)
}

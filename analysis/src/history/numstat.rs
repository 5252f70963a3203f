//! Parses added and deleted lines and renames from `git diff-tree --numstat -M`.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use super::{Change, Move, Numbered, Shard};
use crate::Budget;
use crate::git::{self, GitFailure, Stream};

/// After so many commits that can't be compared, only the files of the others are read.
const MAX_FAULTS: usize = 32;

/// A commit that moves and changes more files than this is searched for moves without changes only.
const RENAME_LIMIT: &str = "-l400";

struct Reader<'a> {
    commits: &'a [Numbered<'a>],
    /// Position in `commits` of the commit that is being read.
    current: usize,
    numbers: HashMap<Vec<u8>, u32>,
    /// The change whose old and new path come as the next records, and the old path.
    renamed: Option<(Change, Option<u32>)>,
    /// Whether the next record is the path of a file whose lines are not known.
    is_path_next: bool,
    shard: Shard,
}

/// What git is asked about each commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Question {
    /// The lines and renames of each file, for which git reads the files.
    Lines,
    /// The files alone, which the trees tell.
    Files,
}

/// Reads the changes of the given commits; what was read before a failure is kept.
pub(super) fn read(root: &Path, commits: &[Numbered<'_>], budget: &Budget) -> Shard {
    let mut reader = Reader {
        commits,
        current: 0,
        numbers: HashMap::new(),
        renamed: None,
        is_path_next: false,
        shard: Shard::default(),
    };
    if let Err(failure) = reader.read_all(root, budget) {
        reader.shard.complete_to = commits.get(reader.current).map(|commit| commit.0);
        reader.shard.failure = Some(failure);
    }
    reader.shard
}

fn start(root: &Path, commits: &[Numbered<'_>], question: Question) -> Result<Stream, GitFailure> {
    let mut args = vec![
        "diff-tree",
        "--stdin",
        "--root",
        "-r",
        "-z",
        "--diff-algorithm=default",
        "--no-ext-diff",
        "--no-textconv",
        "--relative",
        git::SUBMODULES,
    ];
    args.extend_from_slice(match question {
        Question::Lines => &["--numstat", "-M50%", RENAME_LIMIT, "--no-rename-empty"],
        Question::Files => &["--raw", "--no-renames"],
    });
    Stream::start(git::command(root, &args), Some(super::as_input(commits)))
}

impl Reader<'_> {
    /// Reads all commits. Where objects are missing, the commits that need them are read as far as they can be.
    fn read_all(&mut self, root: &Path, budget: &Budget) -> Result<(), GitFailure> {
        let end = self.commits.len();
        let (mut from, mut faults) = (0, 0);
        while from < end && faults < MAX_FAULTS {
            match self.run(root, from..end, Question::Lines, budget) {
                Ok(()) => return Ok(()),
                Err(GitFailure::Failed { .. }) => faults += 1,
                Err(failure) => return Err(failure),
            }
            // The one that was printed last is not complete, or the next one could not be printed.
            from = end.min(self.current + 2);
            for suspect in self.current..from {
                self.read_one(root, suspect, budget)?;
            }
        }
        if from < end {
            self.run(root, from..end, Question::Files, budget)?;
            let rest = self.commits[from..].iter().map(|commit| commit.0);
            self.shard.without_lines.extend(rest);
        }
        Ok(())
    }

    fn read_one(&mut self, root: &Path, commit: usize, budget: &Budget) -> Result<(), GitFailure> {
        let number = self.commits[commit].0;
        for question in [Question::Lines, Question::Files] {
            self.shard.changes.retain(|change| change.commit != number);
            self.shard.moves.retain(|moved| moved.commit != number);
            match self.run(root, commit..commit + 1, question, budget) {
                Ok(()) if question == Question::Lines => return Ok(()),
                Ok(()) => {
                    self.shard.without_lines.push(number);
                    return Ok(());
                }
                Err(GitFailure::Failed { .. }) => {}
                Err(failure) => return Err(failure),
            }
        }
        self.shard.lost.push(number);
        Ok(())
    }

    fn run(
        &mut self,
        root: &Path,
        range: Range<usize>,
        question: Question,
        budget: &Budget,
    ) -> Result<(), GitFailure> {
        if range.is_empty() {
            return Ok(());
        }
        self.current = range.start;
        self.renamed = None;
        self.is_path_next = false;
        let mut stream = start(root, &self.commits[range], question)?;
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
        if std::mem::take(&mut self.is_path_next) {
            let path = self.number(record)?;
            self.shard.changes.push(Change {
                commit: self.commits[self.current].0,
                path,
                added: 0,
                deleted: 0,
            });
            return Ok(());
        }
        if record.starts_with(b":") {
            self.is_path_next = true;
            return Ok(());
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

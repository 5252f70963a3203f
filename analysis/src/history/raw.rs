//! Finds bulk commits with `git diff-tree --raw`, which reads trees but no contents.

use std::path::Path;

use super::bulk::Whole;
use super::{Numbered, processors};
use crate::Budget;
use crate::git::{self, GitFailure, Stream};

/// A commit that does nothing but add, or nothing but delete, at least this many files is a bulk commit.
///
/// One that does both may move files, which only a comparison tells.
const MIN_BULK_FILES: usize = 32;

struct Reader {
    found: Vec<(u32, Vec<Whole>)>,
    /// Number of the present commit and its files as long as it may be a bulk commit.
    current: Option<(u32, Vec<Whole>)>,
    /// Whether the next record is a path, and the file that it belongs to if that is wanted.
    is_path_next: bool,
    file: Option<Whole>,
    is_added: Option<bool>,
}

/// Returns the bulk commits among the given ones, with all their files.
pub(super) fn bulk_commits(
    root: &Path,
    commits: &[Numbered<'_>],
    budget: &Budget,
) -> Result<Vec<(u32, Vec<Whole>)>, GitFailure> {
    let stretch = commits.len().div_ceil(processors()).max(1);
    let mut found = Vec::new();
    std::thread::scope(|scope| {
        let running: Vec<_> = commits
            .chunks(stretch)
            .map(|part| scope.spawn(|| read(root, part, budget)))
            .collect();
        for thread in running {
            found.extend(thread.join().unwrap_or(Err(GitFailure::Unexpected))?);
        }
        Ok(found)
    })
}

fn read(
    root: &Path,
    commits: &[Numbered<'_>],
    budget: &Budget,
) -> Result<Vec<(u32, Vec<Whole>)>, GitFailure> {
    let command = git::command(
        root,
        &[
            "diff-tree",
            "--stdin",
            "--root",
            "-r",
            "-z",
            "--raw",
            "--no-abbrev",
            "--no-renames",
            "--relative",
            git::SUBMODULES,
        ],
    );
    let mut stream = Stream::start(command, Some(super::as_input(commits)))?;
    let mut reader = Reader {
        found: Vec::new(),
        current: None,
        is_path_next: false,
        file: None,
        is_added: None,
    };
    let mut left = commits.iter();
    let mut buffer = Vec::with_capacity(1 << 17);
    while stream.read(&mut buffer, budget)? {
        let mut start = 0;
        for end in memchr::memchr_iter(0, &buffer) {
            let record = &buffer[start..end];
            start = end + 1;
            if std::mem::take(&mut reader.is_path_next) {
                reader.path(record);
            } else if let Some(raw) = record.strip_prefix(b":") {
                reader.raw(raw)?;
            } else {
                reader.end_commit();
                // A commit without changes prints nothing at all, so ids may be skipped.
                let (number, _) = left
                    .find(|(_, id)| id.as_bytes() == record)
                    .ok_or(GitFailure::Unexpected)?;
                reader.current = Some((*number, Vec::new()));
                reader.is_added = None;
            }
        }
        buffer.drain(..start);
    }
    match stream.finish() {
        Ok(()) => reader.end_commit(),
        // Those that follow the one with a missing tree are read one by one, like what is no bulk commit.
        Err(GitFailure::Failed { .. }) => {}
        Err(failure) => return Err(failure),
    }
    Ok(reader.found)
}

impl Reader {
    /// Reads `mode mode blob blob status`; the path comes as the next record.
    fn raw(&mut self, raw: &[u8]) -> Result<(), GitFailure> {
        let text = std::str::from_utf8(raw).map_err(|_| GitFailure::Unexpected)?;
        let mut fields = text.split(' ');
        let (Some(old_mode), Some(new_mode), Some(old), Some(new), Some(status)) = (
            fields.next(),
            fields.next(),
            fields.next(),
            fields.next(),
            fields.next(),
        ) else {
            return Err(GitFailure::Unexpected);
        };
        let is_added = status == "A";
        if (!is_added && status != "D") || *self.is_added.get_or_insert(is_added) != is_added {
            self.current = None;
        }
        let (mode, blob) = if is_added {
            (new_mode, new)
        } else {
            (old_mode, old)
        };
        self.is_path_next = true;
        self.file = self.current.is_some().then(|| Whole {
            path: Vec::new(),
            blob: blob.to_owned(),
            is_added,
            is_submodule: mode == "160000",
        });
        Ok(())
    }

    fn path(&mut self, path: &[u8]) {
        if let (Some((_, files)), Some(mut file)) = (&mut self.current, self.file.take()) {
            file.path = path.to_vec();
            files.push(file);
        }
    }

    fn end_commit(&mut self) {
        self.found.extend(
            self.current
                .take()
                .filter(|(_, files)| files.len() >= MIN_BULK_FILES),
        );
    }
}

//! Counts the lines of bulk commits, which only add or delete many files.
//!
//! `git log --numstat` compares each such file with nothing, which takes several times as long as reading it.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use memchr::{memchr, memchr_iter};

use super::{Change, KnownLines, Shard, processors};
use crate::Budget;
use crate::git::{self, GitFailure, OwnFilters, Stream};
use crate::paths::printable;

/// How much of a file git searches for a zero byte to call it binary.
const BINARY_HEAD: usize = 8_000;

/// A file that a bulk commit adds or deletes.
#[derive(Debug, Clone)]
pub(super) struct Whole {
    pub(super) path: Vec<u8>,
    pub(super) blob: String,
    pub(super) is_added: bool,
    /// A submodule has no blob; git counts it as one line.
    pub(super) is_submodule: bool,
}

/// The commits that are counted in bulk.
#[derive(Debug, Default)]
pub(super) struct Bulk {
    commits: Vec<(u32, Vec<Whole>)>,
    numbers: HashSet<u32>,
    /// Files whose contents in the working tree are not those of the blob.
    converted: HashSet<Vec<u8>>,
}

impl Bulk {
    /// Keeps the commits without files for which `.gitattributes` ask for another kind of comparison.
    pub(super) fn sort_out(
        root: &Path,
        commits: Vec<(u32, Vec<Whole>)>,
        budget: &Budget,
    ) -> Result<Self, GitFailure> {
        if commits.is_empty() {
            return Ok(Self::default());
        }
        let mut input = Vec::new();
        for file in commits.iter().flat_map(|(_, files)| files) {
            input.extend_from_slice(&file.path);
            input.push(0);
        }
        let command = git::command(
            root,
            &[
                "check-attr",
                "--stdin",
                "-z",
                "diff",
                "filter",
                "working-tree-encoding",
            ],
        );
        let mut stream = Stream::start(command, Some(input))?;
        let mut answer = Vec::new();
        while stream.read(&mut answer, budget)? {}
        stream.finish()?;
        let fields: Vec<&[u8]> = answer.split(|&byte| byte == 0).collect();
        let (mut special, mut converted) = (HashSet::new(), HashSet::new());
        for fields in fields
            .chunks_exact(3)
            .filter(|fields| fields[2] != b"unspecified")
        {
            if fields[1] == b"diff" {
                special.insert(fields[0]);
            } else {
                converted.insert(fields[0].to_vec());
            }
        }
        let commits: Vec<(u32, Vec<Whole>)> = commits
            .into_iter()
            .filter(|(_, files)| {
                !files
                    .iter()
                    .any(|file| special.contains(file.path.as_slice()))
            })
            .collect();
        Ok(Self {
            numbers: commits.iter().map(|(number, _)| *number).collect(),
            commits,
            converted,
        })
    }

    pub(super) fn contains(&self, commit: u32) -> bool {
        self.numbers.contains(&commit)
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> {
        self.numbers.iter().copied()
    }

    /// Counts the lines of all files; `known` tells those of the working tree, so that clean files need no reading.
    pub(super) fn read(
        self,
        root: &Path,
        known: &mut KnownLines,
        budget: &Budget,
    ) -> Result<Shard, GitFailure> {
        if self.commits.is_empty() {
            return Ok(Shard::default());
        }
        let clean = git::if_answered(self.clean_lines(root, known, budget))?;
        let mut blobs: Vec<&str> = Vec::new();
        let mut seen = HashSet::new();
        for file in self
            .commits
            .iter()
            .flat_map(|(_, files)| files)
            .filter(|file| !file.is_submodule)
        {
            if !clean.contains_key(&file.blob) && seen.insert(file.blob.as_str()) {
                blobs.push(&file.blob);
            }
        }
        // Neighbours share deltas, so each process gets a stretch of its own.
        let stretch = blobs.len().div_ceil(processors()).max(1);
        let counted: Vec<Result<HashMap<&str, u32>, GitFailure>> = std::thread::scope(|scope| {
            let running: Vec<_> = blobs
                .chunks(stretch)
                .map(|part| scope.spawn(|| lines_of(root, part, budget)))
                .collect();
            running
                .into_iter()
                .map(|thread| thread.join().unwrap_or(Err(GitFailure::Unexpected)))
                .collect()
        });
        let mut lines: HashMap<&str, u32> = clean
            .iter()
            .map(|(blob, lines)| (blob.as_str(), *lines))
            .collect();
        for part in counted {
            lines.extend(git::if_answered(part)?);
        }
        let mut shard = Shard::default();
        let mut numbers: HashMap<&[u8], u32> = HashMap::new();
        for (commit, files) in &self.commits {
            let known = |file: &Whole| {
                let submodule = file.is_submodule.then_some(1);
                submodule.or_else(|| lines.get(file.blob.as_str()).copied())
            };
            let counts: Vec<Option<u32>> = files.iter().map(known).collect();
            if counts.iter().any(Option::is_none) {
                if budget.must_stop() {
                    shard.complete_to = Some(*commit);
                    shard.failure = Some(GitFailure::Stopped);
                    break;
                }
                shard.without_lines.push(*commit);
            }
            for (file, count) in files.iter().zip(counts) {
                let next = u32::try_from(numbers.len()).map_err(|_| GitFailure::Unexpected)?;
                let path = *numbers.entry(&file.path).or_insert(next);
                if path == next {
                    shard.paths.push(file.path.clone());
                }
                let count = count.unwrap_or_default();
                let (added, deleted) = if file.is_added {
                    (count, 0)
                } else {
                    (0, count)
                };
                shard.changes.push(Change {
                    commit: *commit,
                    path,
                    added,
                    deleted,
                });
            }
        }
        Ok(shard)
    }

    /// Returns the lines of each blob that is unchanged in the working tree.
    ///
    /// git is asked while the files are still being read.
    fn clean_lines(
        &self,
        root: &Path,
        known: &mut KnownLines,
        budget: &Budget,
    ) -> Result<HashMap<String, u32>, GitFailure> {
        if known.are_unknown() {
            return Ok(HashMap::new());
        }
        let unchanged = self.unchanged(root, budget)?;
        let known = known.wait();
        Ok(unchanged
            .into_iter()
            .filter_map(|(blob, path)| Some((blob, *known.get(&path)?)))
            .collect())
    }

    /// Returns the blobs that stand unchanged in the working tree, with their printable paths.
    fn unchanged(&self, root: &Path, budget: &Budget) -> Result<Vec<(String, String)>, GitFailure> {
        let args = [
            "diff-files",
            "-z",
            "--name-only",
            "--relative",
            git::SUBMODULES,
        ];
        let filters = OwnFilters::of(root, budget)?;
        let dirty = git::collect(filters.command(root, &args), budget)?;
        let dirty: HashSet<&[u8]> = dirty.split(|&byte| byte == 0).collect();
        let paths: HashSet<&[u8]> = self
            .commits
            .iter()
            .flat_map(|(_, files)| files.iter().map(|file| file.path.as_slice()))
            .filter(|path| !dirty.contains(path) && !self.converted.contains(*path))
            .collect();
        let index = git::output(root, &["ls-files", "-s", "-z"], budget)?;
        let mut unchanged = Vec::new();
        for entry in index.split(|&byte| byte == 0) {
            // `<mode> <blob> <stage>\t<path>`
            let Some(tab) = memchr(b'\t', entry) else {
                continue;
            };
            let path = &entry[tab + 1..];
            let blob = entry[..tab].split(|&byte| byte == b' ').nth(1);
            if let Some(blob) = blob.filter(|_| paths.contains(path)) {
                let blob = String::from_utf8_lossy(blob).into_owned();
                unchanged.push((blob, printable(path)));
            }
        }
        Ok(unchanged)
    }
}

/// Counts the lines of blobs; those that the repository lacks or for which the time did not last are missing.
fn lines_of<'a>(
    root: &Path,
    blobs: &[&'a str],
    budget: &Budget,
) -> Result<HashMap<&'a str, u32>, GitFailure> {
    let mut input = Vec::with_capacity(blobs.len() * 41);
    for blob in blobs {
        input.extend_from_slice(blob.as_bytes());
        input.push(b'\n');
    }
    let mut stream = Stream::start(
        git::command(root, &["cat-file", "--batch", "--buffer"]),
        Some(input),
    )?;
    let mut counts = HashMap::with_capacity(blobs.len());
    let mut buffer: Vec<u8> = Vec::with_capacity(1 << 18);
    let mut wanted = blobs.iter();
    let mut open: Option<OpenBlob> = None;
    loop {
        match stream.read(&mut buffer, budget) {
            Ok(true) => {}
            Ok(false) => break,
            Err(GitFailure::Stopped) => return Ok(counts),
            Err(failure) => return Err(failure),
        }
        let mut at = 0;
        loop {
            if let Some(blob) = &mut open {
                at += blob.take(&buffer[at..]);
                // A line end follows the last byte.
                if blob.remaining > 0 || at == buffer.len() {
                    break;
                }
                at += 1;
                let id = wanted.next().ok_or(GitFailure::Unexpected)?;
                counts.insert(*id, blob.lines());
                open = None;
            } else if let Some(length) = memchr(b'\n', &buffer[at..]) {
                let header = &buffer[at..at + length];
                if header.ends_with(b" missing") {
                    wanted.next().ok_or(GitFailure::Unexpected)?;
                } else {
                    open = Some(OpenBlob::announced(header)?);
                }
                at += length + 1;
            } else {
                break;
            }
        }
        buffer.drain(..at);
    }
    stream.finish()?;
    if wanted.next().is_some() {
        return Err(GitFailure::Unexpected);
    }
    Ok(counts)
}

/// A blob that is being read; blobs may be larger than the memory.
struct OpenBlob {
    remaining: usize,
    seen: usize,
    ends: usize,
    last: Option<u8>,
    is_binary: bool,
}

impl OpenBlob {
    /// Reads `<id> blob <size>`.
    fn announced(header: &[u8]) -> Result<Self, GitFailure> {
        let remaining = std::str::from_utf8(header)
            .ok()
            .and_then(|header| header.split(' ').nth(2)?.parse().ok())
            .ok_or(GitFailure::Unexpected)?;
        Ok(Self {
            remaining,
            seen: 0,
            ends: 0,
            last: None,
            is_binary: false,
        })
    }

    /// Takes what belongs to the blob and returns how much that was.
    fn take(&mut self, bytes: &[u8]) -> usize {
        let bytes = &bytes[..bytes.len().min(self.remaining)];
        let head = &bytes[..bytes.len().min(BINARY_HEAD.saturating_sub(self.seen))];
        self.is_binary |= memchr(0, head).is_some();
        self.ends += memchr_iter(b'\n', bytes).count();
        self.last = bytes.last().copied().or(self.last);
        self.seen += bytes.len();
        self.remaining -= bytes.len();
        bytes.len()
    }

    /// Counts lines as git does; a binary file has none.
    fn lines(&self) -> u32 {
        if self.is_binary {
            return 0;
        }
        let open = usize::from(self.last.is_some_and(|byte| byte != b'\n'));
        u32::try_from(self.ends + open).unwrap_or(u32::MAX)
    }
}

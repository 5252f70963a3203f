//! The newest commits with their subjects and files: what changes lately, and what changes together.
//!
//! Lighter than [`history`](crate::history): the names of files, not the lines; git compares trees and no content.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::Budget;
use crate::git::{self, GitFailure, Stream};
use crate::paths::printable;
use crate::text::{harmless, shortened};
use crate::tree::working_tree::Tree;

/// A commit with more files is a sweep through the tree: its files have no more in common than that.
const MAX_FILES: usize = 100;

const MAX_SUBJECT: usize = 160;

/// Commits after which a change counts half.
const HALF_LIFE: f64 = 400.0;

/// One commit that is no merge.
#[derive(Debug, Clone)]
pub(crate) struct RecentCommit {
    pub(crate) id: String,
    pub(crate) time: i64,
    pub(crate) author: String,
    pub(crate) subject: String,
    /// Numbers in the tree of those files that still exist; none for a sweep.
    pub(crate) files: Vec<usize>,
}

/// The newest commits, the newest first.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    pub(crate) commits: Vec<RecentCommit>,
    /// Why older commits are missing, other than by their number.
    pub(crate) cut: Option<String>,
}

impl Recent {
    /// Reads up to `most` commits. No repository or no commit is an empty list.
    pub(crate) fn read(root: &Path, most: usize, budget: &Budget) -> Result<Raw, GitFailure> {
        git::output(root, &["rev-parse", "--git-dir"], budget)?;
        if !git::has_commit(root, budget)? {
            return Ok(Raw::default());
        }
        let most = format!("--max-count={most}");
        let command = git::command(
            root,
            &[
                "log",
                "-z",
                "--name-only",
                "--no-renames",
                "--no-merges",
                "--relative",
                git::SUBMODULES,
                "--use-mailmap",
                "--format=%x01%h%x09%at%x09%aN%x09%s",
                &most,
                "HEAD",
                "--",
            ],
        );
        let mut stream = Stream::start(command, None)?;
        let mut raw = Raw::default();
        let mut buffer = Vec::with_capacity(1 << 17);
        loop {
            match stream.read(&mut buffer, budget) {
                Ok(true) => {}
                Ok(false) => break,
                // What was read is true, and the newest.
                Err(GitFailure::Stopped) => {
                    raw.commits.pop();
                    raw.cut = Some(format!(
                        "the time limit was reached: the newest {} commits were read",
                        raw.commits.len()
                    ));
                    return Ok(raw);
                }
                Err(failure) => return Err(failure),
            }
            let mut start = 0;
            for end in memchr::memchr_iter(0, &buffer) {
                raw.record(&buffer[start..end]);
                start = end + 1;
            }
            buffer.drain(..start);
        }
        raw.record(&buffer);
        match stream.finish() {
            Err(failure @ GitFailure::Failed { .. }) if raw.commits.len() > 1 => {
                // The files of the last one may be missing.
                raw.commits.pop();
                let read = raw.commits.len();
                raw.cut = Some(format!("{failure}: the newest {read} commits were read"));
            }
            ended => ended?,
        }
        Ok(raw)
    }

    /// Returns how often each file changed, the newest commits counting most, between 0 and 1 of the most.
    pub(crate) fn churn(&self, files: usize) -> Vec<f64> {
        let mut churn = vec![0.0; files];
        let mut weight = 1.0;
        for commit in &self.commits {
            for &file in &commit.files {
                churn[file] += weight;
            }
            weight *= 0.5f64.powf(1.0 / HALF_LIFE);
        }
        let highest = churn.iter().copied().fold(1.0, f64::max);
        for value in &mut churn {
            *value = (*value / highest).sqrt();
        }
        churn
    }
}

/// What git printed, before the files are known.
#[derive(Debug, Default)]
pub(crate) struct Raw {
    commits: Vec<(RecentCommit, Vec<String>)>,
    cut: Option<String>,
}

impl Raw {
    fn record(&mut self, record: &[u8]) {
        let record = record.trim_ascii_start();
        if let Some(header) = record.strip_prefix(b"\x01") {
            let mut fields = header.splitn(4, |&byte| byte == b'\t');
            let mut field = || {
                let bytes = fields.next().unwrap_or_default();
                String::from_utf8_lossy(bytes).into_owned()
            };
            let (id, time, author, subject) = (field(), field(), field(), field());
            let commit = RecentCommit {
                id: shortened(&printable(id.as_bytes()), 40),
                time: time.parse().unwrap_or(0),
                author: harmless(&author, 80),
                subject: harmless(&subject, MAX_SUBJECT),
                files: Vec::new(),
            };
            self.commits.push((commit, Vec::new()));
        } else if !record.is_empty()
            && let Some((_, files)) = self.commits.last_mut()
            // One more than is wanted tells that it is a sweep.
            && files.len() <= MAX_FILES
        {
            files.push(printable(record));
        }
    }

    /// Finds the files in the tree.
    pub(crate) fn in_tree(self, tree: &Tree) -> Recent {
        let mut numbers: HashMap<String, Option<usize>> = HashMap::new();
        let commits = self
            .commits
            .into_iter()
            .map(|(commit, paths)| {
                let is_sweep = paths.len() > MAX_FILES;
                let files: HashSet<usize> = paths
                    .into_iter()
                    .filter(|_| !is_sweep)
                    .filter_map(|path| {
                        let known = numbers.entry(path);
                        *known.or_insert_with_key(|path| tree.position(path))
                    })
                    .collect();
                let mut files: Vec<usize> = files.into_iter().collect();
                files.sort_unstable();
                RecentCommit { files, ..commit }
            })
            .collect();
        Recent {
            commits,
            cut: self.cut,
        }
    }
}

//! The git history: which commit changed which file by how many lines.

mod authors;
pub(crate) mod blame;
mod bulk;
mod cache;
pub(crate) mod churn;
pub(crate) mod date;
mod listing;
mod numstat;
mod raw;
mod reading;
mod renames;

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::mpsc::Receiver;

use super::Budget;
use super::git::{self, GitFailure};
use super::report::Incomplete;
pub(crate) use authors::Author;

/// Most commits that are read, the newest first; more would not be done in the time of any depth.
const MAX_COMMITS: usize = 200_000;

/// Lines of the text files of the working tree, by printable path.
pub(crate) type LinesByPath = HashMap<String, u32>;

/// A commit's place in the list and its id.
type Numbered<'a> = (u32, &'a str);

/// Reads the history; an empty repository has an empty one.
pub(crate) fn history_of(
    root: &Path,
    known: Option<Receiver<LinesByPath>>,
    budget: &Budget,
) -> Result<History, GitFailure> {
    git::output(root, &["rev-parse", "--git-dir"], budget)?;
    if !git::has_commit(root, budget)? {
        return Ok(History::default());
    }
    let mut known = KnownLines {
        promised: known,
        ..KnownLines::default()
    };
    reading::read(root, &mut known, budget)
}

/// Returns the history if there is one; missing parts are added to the list.
pub(crate) fn usable(
    history: Result<History, GitFailure>,
    incomplete: &mut Vec<Incomplete>,
) -> Option<History> {
    match history {
        Ok(history) => {
            if let Some(why) = &history.cut {
                incomplete.push(Incomplete::new("history", why.clone()));
            }
            if let Some(why) = &history.missing {
                incomplete.push(Incomplete::new("history", why.clone()));
            }
            if history.is_shallow {
                let why = "the clone is shallow: older commits are not here";
                incomplete.push(Incomplete::new("history", why));
            }
            Some(history)
        }
        Err(failure) => {
            incomplete.push(Incomplete::new("history", failure.to_string()));
            None
        }
    }
}

/// One commit.
#[derive(Debug, Clone)]
pub(crate) struct Commit {
    pub(crate) author: u32,
    /// Author date, seconds since 1970.
    pub(crate) time: i64,
    /// Whether `.git-blame-ignore-revs` names it.
    pub(crate) is_ignored: bool,
}

/// One file changed by one commit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Change {
    pub(crate) commit: u32,
    /// The file by the name that it has today.
    pub(crate) path: u32,
    pub(crate) added: u32,
    pub(crate) deleted: u32,
}

/// One file renamed by one commit.
#[derive(Debug, Clone, Copy)]
struct Move {
    commit: u32,
    from: u32,
    to: u32,
}

/// The history as far as it was read.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// The newest first.
    pub(crate) commits: Vec<Commit>,
    /// How many commits there are, read or not.
    pub(crate) listed: usize,
    pub(crate) authors: Vec<Author>,
    pub(crate) paths: Vec<String>,
    /// The newest first.
    pub(crate) changes: Vec<Change>,
    pub(crate) is_shallow: bool,
    /// Why older commits are missing.
    pub(crate) cut: Option<String>,
    /// What could not be read because objects are missing.
    pub(crate) missing: Option<String>,
    /// The files that git knows; none if it can't tell.
    pub(crate) tracked: Option<HashSet<String>>,
}

impl History {
    /// Returns whether changes may be missing: what it does not tell may have happened all the same.
    pub(crate) fn is_partial(&self) -> bool {
        self.cut.is_some() || self.is_shallow || self.missing.is_some()
    }
}

/// The changes of some commits; paths are numbered on their own.
#[derive(Debug, Default)]
struct Shard {
    paths: Vec<Vec<u8>>,
    changes: Vec<Change>,
    moves: Vec<Move>,
    /// Commits whose files are known but not their lines, because objects are missing.
    without_lines: Vec<u32>,
    /// Commits of which nothing is known, for the same reason.
    lost: Vec<u32>,
    /// The first commit that is not complete, after a failure.
    complete_to: Option<u32>,
    failure: Option<GitFailure>,
}

/// The lines of the files of the working tree, which another thread counts.
#[derive(Default)]
struct KnownLines {
    promised: Option<Receiver<LinesByPath>>,
    told: LinesByPath,
}

impl KnownLines {
    fn are_unknown(&self) -> bool {
        self.promised.is_none() && self.told.is_empty()
    }

    /// Waits for the other thread; one that failed tells nothing.
    fn wait(&mut self) -> &LinesByPath {
        if let Some(lines) = self
            .promised
            .take()
            .and_then(|promised| promised.recv().ok())
        {
            self.told = lines;
        }
        &self.told
    }
}

fn processors() -> usize {
    std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(8)
}

/// Writes the ids as `git diff-tree --stdin` reads them.
fn as_input(commits: &[Numbered<'_>]) -> Vec<u8> {
    let mut input = Vec::with_capacity(commits.len() * 41);
    for (_, id) in commits {
        input.extend_from_slice(id.as_bytes());
        input.push(b'\n');
    }
    input
}

//! The git history: which commit changed which file by how many lines.

pub(crate) mod blame;
mod bulk;
pub(crate) mod churn;
pub(crate) mod date;
mod listing;
mod numstat;

use std::collections::HashMap;
use std::path::Path;
use std::sync::mpsc::Receiver;

use super::Control;
use super::git::{self, GitFailure};
use super::report::Incomplete;
use crate::paths::printable;

/// Most commits that are read, the newest first; more would not be done in the time of any depth.
const MOST_COMMITS: usize = 200_000;

/// Histories shorter than this are read by one process.
const WORTH_SPLITTING: usize = 64;

/// Lines of the text files of the working tree, by printable path.
pub(crate) type LinesByPath = HashMap<String, u32>;

/// Reads the history; an empty repository has an empty one.
pub(crate) fn history_of(
    root: &Path,
    known: Option<Receiver<LinesByPath>>,
    control: &Control,
) -> Result<History, GitFailure> {
    git::output(root, &["rev-parse", "--git-dir"], control)?;
    if git::output(root, &["rev-parse", "--verify", "--quiet", "HEAD"], control).is_err() {
        return Ok(History::default());
    }
    read(root, known, control)
}

/// Returns the history if there is one; what is missing goes to the list.
pub(crate) fn usable(
    history: Result<History, GitFailure>,
    incomplete: &mut Vec<Incomplete>,
) -> Option<History> {
    match history {
        Ok(history) => {
            if let Some(why) = &history.cut {
                incomplete.push(Incomplete::new("history", why.clone()));
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
}

/// One file changed by one commit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Change {
    pub(crate) commit: u32,
    pub(crate) path: u32,
    pub(crate) added: u32,
    pub(crate) deleted: u32,
}

/// The history as far as it was read.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// The newest first.
    pub(crate) commits: Vec<Commit>,
    /// Names by mail address.
    pub(crate) authors: Vec<String>,
    pub(crate) paths: Vec<String>,
    pub(crate) changes: Vec<Change>,
    /// Why older commits are missing.
    pub(crate) cut: Option<String>,
}

/// Reads the history of a directory. The time of the control bounds it: the newest commits come first.
///
/// The lines are those of `git log --numstat --no-renames`. Two things make it faster than that command: several
/// processes share the commits, and a commit that only adds or deletes many files (an import) needs no
/// comparison, only the number of lines of each file.
pub(crate) fn read(
    root: &Path,
    known: Option<Receiver<LinesByPath>>,
    control: &Control,
) -> Result<History, GitFailure> {
    let listed = listing::list(root, MOST_COMMITS, control)?;
    let bulk = bulk::Bulk::sort_out(root, listed.bulk, control)?;
    let ids: Vec<(u32, &str)> = listed
        .ids
        .iter()
        .enumerate()
        .filter_map(|(number, id)| Some((u32::try_from(number).ok()?, id.as_deref()?)))
        .filter(|(number, _)| !bulk.contains(*number))
        .collect();
    let shards = deal(&ids);
    let results: Vec<Result<Shard, GitFailure>> = std::thread::scope(|scope| {
        let running: Vec<_> = shards
            .iter()
            .map(|shard| scope.spawn(|| numstat::read(root, shard, control)))
            .collect();
        running
            .into_iter()
            .map(|thread| thread.join().unwrap_or(Err(GitFailure::Unexpected)))
            .collect()
    });
    let mut history = History {
        commits: listed.commits,
        authors: listed.authors,
        cut: listed.cut,
        ..History::default()
    };
    let mut numbers: HashMap<Vec<u8>, u32> = HashMap::new();
    let mut complete = history.commits.len();
    for shard in results.into_iter().chain([bulk.read(root, known, control)]) {
        complete = complete.min(history.merge(shard?, &mut numbers));
    }
    if complete < history.commits.len() {
        history.cut = Some(format!(
            "the time was up: the newest {complete} of {} commits were read",
            history.commits.len()
        ));
        // Processes stop at different commits; what lies beyond the first stop would count some and not others.
        history
            .changes
            .retain(|change| (change.commit as usize) < complete);
        history.commits.truncate(complete);
    }
    let mut paths = vec![String::new(); numbers.len()];
    for (path, number) in numbers {
        paths[number as usize] = printable(&path);
    }
    history.paths = paths;
    Ok(history)
}

/// The changes of some commits; paths are numbered on their own.
#[derive(Debug, Default)]
struct Shard {
    paths: Vec<Vec<u8>>,
    changes: Vec<Change>,
    /// The first commit that is not complete, when the time was up.
    complete_to: Option<u32>,
}

impl History {
    /// Takes over the changes of a shard; returns up to which commit it is complete.
    fn merge(&mut self, shard: Shard, numbers: &mut HashMap<Vec<u8>, u32>) -> usize {
        let renumbered: Vec<u32> = shard
            .paths
            .into_iter()
            .map(|path| {
                let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
                *numbers.entry(path).or_insert(next)
            })
            .collect();
        self.changes
            .extend(shard.changes.into_iter().map(|change| Change {
                path: renumbered[change.path as usize],
                ..change
            }));
        shard
            .complete_to
            .map_or(usize::MAX, |commit| commit as usize)
    }
}

fn processors() -> usize {
    std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(8)
}

/// Deals the commits out to as many processes as there are processors, newest first in each.
fn deal<'a>(ids: &[(u32, &'a str)]) -> Vec<Vec<(u32, &'a str)>> {
    let count = if ids.len() < WORTH_SPLITTING {
        1
    } else {
        processors()
    };
    let mut shards = vec![Vec::new(); count];
    for (turn, id) in ids.iter().enumerate() {
        shards[turn % count].push(*id);
    }
    shards
}

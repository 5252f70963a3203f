//! Reads the history: from the cache what it has, the rest from git in portions, the newest commits first.
//!
//! The lines are those of `git log --numstat -M`. Two things make it faster than that command: several
//! processes share the commits, and a commit that only adds or only deletes many files (an import) needs no
//! comparison, only the number of lines of each file.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::bulk::Bulk;
use super::cache::{Cache, Entries};
use super::date::date;
use super::listing::{self, Listed};
use super::{
    Change, History, KnownLines, Move, Numbered, Shard, numstat, processors, raw, renames,
};
use crate::Budget;
use crate::git::{self, GitFailure};
use crate::paths::printable;

/// Commits of one portion: when the time is up, what earlier portions found is complete.
const PORTION: usize = 4_000;

/// Portions smaller than this are read by one process.
const MIN_SHARDED_COMMITS: usize = 64;

/// Reads the history of a directory. The time of the budget bounds it.
pub(super) fn read(
    root: &Path,
    known: &mut KnownLines,
    budget: &Budget,
) -> Result<History, GitFailure> {
    let listed = listing::list(root, budget)?;
    let today = git::if_answered(git::output(root, &["ls-files", "-z"], budget))?;
    let cache = Cache::of(root, budget);
    let mut sum = Sum {
        done: listed.ids.iter().map(Option::is_none).collect(),
        ..Sum::default()
    };
    let entries = cache.as_ref().map(Cache::load).unwrap_or_default();
    sum.take_entries(&entries, &listed);
    let missing = sum.missing(&listed);
    let mut failure = None;
    for portion in missing.chunks(PORTION) {
        failure = match read_portion(root, portion, known, budget) {
            Ok(parts) => sum.take_parts(parts),
            Err(failure) => Some(failure),
        };
        if failure.is_some() {
            break;
        }
    }
    sum.changes.sort_by_key(|change| change.commit);
    sum.moves.sort_by_key(|moved| moved.commit);
    if let Some(cache) = cache
        .as_ref()
        .filter(|_| sum.has_news && !budget.is_cancelled())
    {
        // Without it the next analysis reads the same again, which is all that is lost.
        let _ = cache.store(&sum.entries(&listed), &entries);
    }
    drop(entries);
    let is_kept = cache.is_some();
    sum.finish(listed, &today, failure, is_kept)
}

/// Everything that was read so far; paths have the names that they had.
#[derive(Default)]
struct Sum {
    numbers: HashMap<Vec<u8>, u32>,
    changes: Vec<Change>,
    moves: Vec<Move>,
    /// Whether each commit is complete.
    done: Vec<bool>,
    /// Commits whose lines, and commits whose files are not known; a later fetch may bring them.
    without_lines: HashSet<u32>,
    lost: HashSet<u32>,
    /// Whether commits came that the cache did not have.
    has_news: bool,
}

/// What one process read of which commits.
type Part = (Vec<u32>, Shard);

impl Sum {
    fn number(&mut self, path: &[u8]) -> u32 {
        if let Some(&number) = self.numbers.get(path) {
            return number;
        }
        let number = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
        self.numbers.insert(path.to_owned(), number);
        number
    }

    fn take_entries(&mut self, entries: &Entries, listed: &Listed) {
        let mut known: Vec<Option<u32>> = vec![None; entries.paths.len()];
        for (commit, id) in listed.ids.iter().enumerate() {
            let Some(changes) = id.as_deref().and_then(|id| entries.of(id)) else {
                continue;
            };
            let Ok(number) = u32::try_from(commit) else {
                break;
            };
            self.done[commit] = true;
            for change in changes {
                let mut named = |path: u32| {
                    *known[path as usize]
                        .get_or_insert_with(|| self.number(&entries.paths[path as usize]))
                };
                let path = named(change.path);
                if let Some(from) = change.from {
                    let from = named(from);
                    self.moves.push(Move {
                        commit: number,
                        from,
                        to: path,
                    });
                }
                self.changes.push(Change {
                    commit: number,
                    path,
                    added: change.added,
                    deleted: change.deleted,
                });
            }
        }
    }

    fn missing<'a>(&self, listed: &'a Listed) -> Vec<Numbered<'a>> {
        let ids = listed.ids.iter().enumerate().zip(&self.done);
        ids.filter(|(_, done)| !**done)
            .filter_map(|((number, id), _)| Some((u32::try_from(number).ok()?, id.as_deref()?)))
            .collect()
    }

    /// Takes over what is complete of each part; returns why a part is not.
    fn take_parts(&mut self, parts: Vec<Part>) -> Option<GitFailure> {
        let mut failure = None;
        for (commits, shard) in parts {
            let end = shard.complete_to.unwrap_or(u32::MAX);
            self.without_lines.extend(shard.without_lines);
            self.lost.extend(shard.lost);
            for number in commits.into_iter().filter(|number| *number < end) {
                self.done[number as usize] = true;
                self.has_news = true;
            }
            let named: Vec<u32> = shard.paths.iter().map(|path| self.number(path)).collect();
            let changes = shard.changes.into_iter();
            self.changes
                .extend(
                    changes
                        .filter(|change| change.commit < end)
                        .map(|change| Change {
                            path: named[change.path as usize],
                            ..change
                        }),
                );
            let moves = shard.moves.into_iter();
            self.moves
                .extend(moves.filter(|moved| moved.commit < end).map(|moved| Move {
                    from: named[moved.from as usize],
                    to: named[moved.to as usize],
                    ..moved
                }));
            failure = failure.or(shard.failure);
        }
        failure
    }

    /// Returns what the cache is to keep of the listed commits.
    fn entries(&self, listed: &Listed) -> Entries {
        let mut entries = Entries::default();
        entries.paths.resize(self.numbers.len(), Vec::new());
        for (path, number) in &self.numbers {
            entries.paths[*number as usize].clone_from(path);
        }
        let mut changes = self.changes.as_slice();
        let mut moves = self.moves.as_slice();
        for (number, id) in listed.ids.iter().enumerate() {
            let of_this = |commit: u32| commit as usize == number;
            let count = changes.partition_point(|change| change.commit as usize <= number);
            let (own, rest) = changes.split_at(count);
            changes = rest;
            let count = moves.partition_point(|moved| moved.commit as usize <= number);
            let (own_moves, rest) = moves.split_at(count);
            moves = rest;
            if let Some(id) = id.as_deref().filter(|_| self.is_known(number)) {
                let from: HashMap<u32, u32> = own_moves
                    .iter()
                    .filter(|moved| of_this(moved.commit))
                    .map(|moved| (moved.to, moved.from))
                    .collect();
                entries.add(id, own, &from);
            }
        }
        entries
    }

    fn is_known(&self, commit: usize) -> bool {
        let unknown = u32::try_from(commit).is_ok_and(|number| {
            self.without_lines.contains(&number) || self.lost.contains(&number)
        });
        self.done[commit] && !unknown
    }

    /// Says what objects that are missing have kept from being read.
    fn missing_objects(&self) -> Option<String> {
        let says = |commits: usize, what: &str| {
            (commits > 0).then(|| format!("the {what} changed by {commits} commits"))
        };
        let parts = [
            says(self.without_lines.len(), "numbers of lines"),
            says(self.lost.len(), "files"),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let why = format!("objects are missing: {} are unknown", parts.join(", "));
        (!parts.is_empty()).then_some(why)
    }

    fn finish(
        mut self,
        listed: Listed,
        today: &[u8],
        failure: Option<GitFailure>,
        is_kept: bool,
    ) -> Result<History, GitFailure> {
        let mut history = History {
            listed: listed.commits.len(),
            commits: listed.commits,
            authors: listed.authors,
            is_shallow: listed.is_shallow,
            cut: listed.cut,
            missing: self.missing_objects(),
            tracked: (!today.is_empty())
                .then(|| today.split(|&byte| byte == 0).map(printable).collect()),
            ..History::default()
        };
        if let Some(failure) = failure {
            // Processes stop at different commits; what lies beyond the first gap would count some and not others.
            let complete = self.done.iter().position(|done| !done);
            let complete = complete.unwrap_or(self.done.len());
            if complete == 0 {
                return Err(failure);
            }
            self.changes
                .retain(|change| (change.commit as usize) < complete);
            self.moves
                .retain(|moved| (moved.commit as usize) < complete);
            history.commits.truncate(complete);
            let oldest = history.commits.iter().map(|commit| commit.time).min();
            let next = if is_kept && matches!(failure, GitFailure::Stopped) {
                "; the next analysis goes on from there"
            } else {
                ""
            };
            history.cut = Some(format!(
                "{failure}: the newest {complete} of {} commits were read, back to {}{next}",
                history.listed,
                date(oldest.unwrap_or_default()),
            ));
        }
        let today: HashSet<u32> = today
            .split(|&byte| byte == 0)
            .filter_map(|path| self.numbers.get(path).copied())
            .collect();
        renames::follow(&mut self.changes, &self.moves, self.numbers.len(), &today);
        let mut paths = vec![String::new(); self.numbers.len()];
        for (path, number) in self.numbers {
            paths[number as usize] = printable(&path);
        }
        history.paths = paths;
        history.changes = self.changes;
        Ok(history)
    }
}

fn read_portion(
    root: &Path,
    commits: &[Numbered<'_>],
    known: &mut KnownLines,
    budget: &Budget,
) -> Result<Vec<Part>, GitFailure> {
    let bulk = raw::bulk_commits(root, commits, budget)?;
    // Without it they are compared like the others.
    let bulk = git::if_answered(Bulk::sort_out(root, bulk, budget))?;
    let rest: Vec<Numbered<'_>> = commits
        .iter()
        .filter(|(number, _)| !bulk.contains(*number))
        .copied()
        .collect();
    let shards = deal(&rest);
    let mut parts: Vec<Part> = std::thread::scope(|scope| {
        let running: Vec<_> = shards
            .iter()
            .map(|shard| scope.spawn(|| numstat::read(root, shard, budget)))
            .collect();
        shards
            .iter()
            .zip(running)
            .filter_map(|(shard, thread)| {
                let numbers = shard.iter().map(|(number, _)| *number).collect();
                Some((numbers, thread.join().ok()?))
            })
            .collect()
    });
    let mut numbers: Vec<u32> = bulk.numbers().collect();
    numbers.sort_unstable();
    let shard = bulk
        .read(root, known, budget)
        .unwrap_or_else(|failure| Shard {
            complete_to: Some(0),
            failure: Some(failure),
            ..Shard::default()
        });
    parts.push((numbers, shard));
    Ok(parts)
}

/// Deals the commits out to as many processes as there are processors, newest first in each.
fn deal<'a>(commits: &[Numbered<'a>]) -> Vec<Vec<Numbered<'a>>> {
    let count = if commits.len() < MIN_SHARDED_COMMITS {
        1
    } else {
        processors()
    };
    let mut shards = vec![Vec::new(); count];
    for (turn, commit) in commits.iter().enumerate() {
        shards[turn % count].push(*commit);
    }
    shards
}

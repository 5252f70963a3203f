//! Churn: sums the history by file, author and folder.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::date::{date, now};
use super::{Author, Change, Commit, History};
use crate::paths::{name_of, top_folder_of};
use crate::report::Listing;
use crate::report::history::{FolderOwners, HistoryReport, Hotspot, Owner};
use crate::tree::classify::Origin;
use crate::tree::syntax::Nature;
use crate::tree::working_tree::{Tree, TreeFile};

/// Most hotspots kept in the complete report.
const MAX_HOTSPOTS: usize = 500;

/// Commits that make an owner.
const MIN_COMMITS: u32 = 2;

/// From which age on a change counts less, and the time after which it counts half of that.
const FULL_WEIGHT: f64 = 365.0 * 86_400.0;

/// What the history tells about one file. Commits of `.git-blame-ignore-revs` only count for `last`.
#[derive(Debug, Clone, Default)]
pub(crate) struct FileChurn {
    pub(crate) commits: u64,
    added: u64,
    deleted: u64,
    /// Lines weighed by their age.
    weight: f64,
    /// None if no commit that was read changed it.
    pub(crate) last: Option<i64>,
    authors: HashSet<u32>,
    /// The last commit that was counted.
    commit: Option<u32>,
}

/// Adds up the changes of each path; the index is the number of the path.
pub(crate) fn by_path(history: &History) -> Vec<FileChurn> {
    let weights = weights(history);
    let mut churns = vec![FileChurn::default(); history.paths.len()];
    for change in &history.changes {
        let commit = &history.commits[change.commit as usize];
        let churn = &mut churns[change.path as usize];
        churn.last = churn.last.max(Some(commit.time));
        if commit.is_ignored {
            continue;
        }
        // A commit may have changed a file under two of its names.
        churn.commits += u64::from(churn.commit.replace(change.commit) != Some(change.commit));
        churn.added += u64::from(change.added);
        churn.deleted += u64::from(change.deleted);
        churn.weight += weights[change.commit as usize] * lines(change);
        if !history.authors[commit.author as usize].is_bot {
            churn.authors.insert(commit.author);
        }
    }
    churns
}

fn lines(change: &Change) -> f64 {
    f64::from(change.added) + f64::from(change.deleted)
}

/// Weighs each commit: the last year of the history fully, what is older half for each further year.
#[expect(clippy::cast_precision_loss, reason = "seconds of some decades")]
fn weights(history: &History) -> Vec<f64> {
    let newest = history.commits.iter().map(|commit| commit.time).max();
    let newest = newest.unwrap_or_default().min(now());
    let weigh = |time: i64| {
        let age = (newest.saturating_sub(time) as f64 - FULL_WEIGHT).max(0.0);
        0.5f64.powf(age / FULL_WEIGHT)
    };
    let commits = history.commits.iter();
    commits.map(|commit| weigh(commit.time)).collect()
}

/// Writes the history part of the codebase report.
pub(crate) fn report(history: &History, churns: &[FileChurn], tree: &Tree) -> HistoryReport {
    let times = || history.commits.iter().map(|commit| commit.time);
    let sum = |of: fn(&Change) -> u32| history.changes.iter().map(|it| u64::from(of(it))).sum();
    let people: HashSet<u32> = history
        .commits
        .iter()
        .map(|commit| commit.author)
        .filter(|author| !history.authors[*author as usize].is_bot)
        .collect();
    // A shallow clone knows too little to say who wrote what.
    let (owners, bus_factor) = if history.is_shallow {
        (Listing::default(), None)
    } else {
        let (owners, bus_factor) = owners(history, tree);
        (owners, Some(bus_factor))
    };
    let is_whole = history.commits.len() == history.listed;
    HistoryReport {
        commits: history.commits.len() as u64,
        of_commits: (!is_whole).then_some(history.listed as u64),
        is_shallow: history.is_shallow,
        authors: people.len() as u64,
        first: times().min().map(date).unwrap_or_default(),
        last: times().max().map(date).unwrap_or_default(),
        added: sum(|change| change.added),
        deleted: sum(|change| change.deleted),
        hotspots: hotspots(history, churns, tree, false),
        test_hotspots: hotspots(history, churns, tree, true),
        owners,
        bus_factor,
    }
}

fn is_own_code(file: &TreeFile) -> bool {
    file.origin == Origin::Own
        && file.language().is_some_and(|language| {
            matches!(language.get().nature, Nature::Program | Nature::Markup)
        })
}

/// Returns whether a file only says how the code is built: every release changes it.
fn is_manifest(path: &str) -> bool {
    let name = name_of(path);
    matches!(
        name,
        "pom.xml" | "build.xml" | "ivy.xml" | "packages.config"
    ) || [".csproj", ".vcxproj", ".fsproj", ".props", ".targets"]
        .iter()
        .any(|ending| name.ends_with(ending))
}

#[expect(clippy::cast_precision_loss, reason = "a score for people")]
fn hotspots(
    history: &History,
    churns: &[FileChurn],
    tree: &Tree,
    of_tests: bool,
) -> Listing<Hotspot> {
    let mut hotspots: Vec<Hotspot> = history
        .paths
        .iter()
        .zip(churns)
        .filter_map(|(path, churn)| {
            let file = tree
                .find(path)
                .filter(|file| is_own_code(file) && !is_manifest(&file.path))
                .filter(|file| {
                    if of_tests {
                        file.is_test
                    } else {
                        file.is_product()
                    }
                })?;
            Some(Hotspot {
                path: path.clone(),
                score: (churn.weight * file.lines.code as f64).sqrt(),
                commits: churn.commits,
                churn: churn.added + churn.deleted,
                code: file.lines.code,
                authors: churn.authors.len() as u64,
                last_change: date(churn.last.unwrap_or_default()),
            })
        })
        // A file that was added and never touched again is large, not hot.
        .filter(|hotspot| hotspot.commits > 1)
        .collect();
    hotspots.sort_by(|one, other| {
        other
            .score
            .total_cmp(&one.score)
            .then_with(|| one.path.cmp(&other.path))
    });
    let highest = hotspots
        .first()
        .map_or(1.0, |hotspot| hotspot.score)
        .max(1.0);
    for hotspot in &mut hotspots {
        hotspot.score = rounded(hotspot.score * 100.0 / highest);
    }
    Listing::bounded(hotspots, MAX_HOTSPOTS)
}

fn rounded(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

fn owners(history: &History, tree: &Tree) -> (Listing<FolderOwners>, u64) {
    let counted: Vec<bool> = history
        .paths
        .iter()
        .map(|path| tree.find(path).is_some_and(is_own_code))
        .collect();
    let weights = weights(history);
    let mut folders: BTreeMap<&str, Shares> = BTreeMap::new();
    let mut all = Shares::default();
    for change in history
        .changes
        .iter()
        .filter(|change| counted[change.path as usize])
    {
        let commit = &history.commits[change.commit as usize];
        if commit.is_ignored || history.authors[commit.author as usize].is_bot {
            continue;
        }
        let weight = weights[change.commit as usize];
        let folder = top_folder_of(&history.paths[change.path as usize]);
        folders
            .entry(folder)
            .or_default()
            .add(commit, change, weight);
        all.add(commit, change, weight);
    }
    let mut owners: Vec<FolderOwners> = folders
        .into_iter()
        .map(|(folder, shares)| shares.owners(folder, &history.authors))
        .collect();
    owners.sort_by(|one, other| {
        other
            .churn
            .cmp(&one.churn)
            .then_with(|| one.folder.cmp(&other.folder))
    });
    (owners.into(), bus_factor(&all.sorted()))
}

/// What each person changed, by the number of the author.
#[derive(Default)]
struct Shares {
    churn: u64,
    people: HashMap<u32, Share>,
}

#[derive(Clone, Copy, Default)]
struct Share {
    weight: f64,
    last: i64,
    commits: u32,
    /// The last commit that was counted; changes come commit by commit.
    counted: Option<u32>,
}

impl Shares {
    fn add(&mut self, commit: &Commit, change: &Change, weight: f64) {
        self.churn += u64::from(change.added) + u64::from(change.deleted);
        let share = self.people.entry(commit.author).or_default();
        share.weight += weight * lines(change);
        share.last = share.last.max(commit.time);
        share.commits += u32::from(share.counted.replace(change.commit) != Some(change.commit));
    }

    fn sorted(&self) -> Vec<(u32, Share)> {
        let mut people: Vec<(u32, Share)> = self
            .people
            .iter()
            .map(|(&author, &share)| (author, share))
            .collect();
        people.sort_by(|(one, mine), (other, theirs)| {
            theirs
                .weight
                .total_cmp(&mine.weight)
                .then_with(|| one.cmp(other))
        });
        people
    }

    fn owners(&self, folder: &str, authors: &[Author]) -> FolderOwners {
        let people = self.sorted();
        let sum: f64 = people.iter().map(|(_, share)| share.weight).sum();
        FolderOwners {
            folder: folder.to_owned(),
            bus_factor: bus_factor(&people),
            authors: people.len() as u64,
            churn: self.churn,
            owners: people
                .iter()
                // Who was here once, with a large change perhaps, knows no more of it.
                .filter(|(_, share)| share.commits >= MIN_COMMITS)
                .take(3)
                .map(|&(author, share)| Owner {
                    name: authors[author as usize].name.clone(),
                    percent: rounded(share.weight * 100.0 / sum.max(f64::MIN_POSITIVE)),
                    last_change: date(share.last),
                })
                .collect(),
        }
    }
}

/// Counts the fewest people who together made more than half of the weighed lines.
fn bus_factor(people: &[(u32, Share)]) -> u64 {
    let total: f64 = people.iter().map(|(_, share)| share.weight).sum();
    let mut sum = 0.0;
    for (count, (_, share)) in people.iter().enumerate() {
        sum += share.weight;
        if sum * 2.0 > total {
            return count as u64 + 1;
        }
    }
    0
}

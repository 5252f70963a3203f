//! Adds the history up: by file, by author, by folder.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::History;
use super::date::date;
use crate::paths::top_folder_of;
use crate::report::Listing;
use crate::report::codebase::{FolderOwners, HistoryReport, Hotspot, Owner};
use crate::tree::classify::Origin;
use crate::tree::language::Nature;
use crate::tree::scan::{Tree, TreeFile};

/// Most hotspots kept in the complete report.
const MOST_HOTSPOTS: usize = 500;

/// What the history tells about one file.
#[derive(Debug, Clone, Default)]
pub(crate) struct FileChurn {
    pub(crate) commits: u64,
    pub(crate) added: u64,
    pub(crate) deleted: u64,
    pub(crate) last: i64,
    authors: HashSet<u32>,
}

/// Adds up the changes of each path; the index is the number of the path.
pub(crate) fn by_path(history: &History) -> Vec<FileChurn> {
    let mut churns = vec![FileChurn::default(); history.paths.len()];
    for change in &history.changes {
        let commit = &history.commits[change.commit as usize];
        let churn = &mut churns[change.path as usize];
        churn.commits += 1;
        churn.added += u64::from(change.added);
        churn.deleted += u64::from(change.deleted);
        churn.last = churn.last.max(commit.time);
        churn.authors.insert(commit.author);
    }
    churns
}

/// Writes the history part of the codebase report.
pub(crate) fn report(history: &History, churns: &[FileChurn], tree: &Tree) -> HistoryReport {
    let times = || history.commits.iter().map(|commit| commit.time);
    let (owners, bus_factor) = owners(history, tree);
    HistoryReport {
        commits: history.commits.len() as u64,
        authors: history
            .commits
            .iter()
            .map(|commit| commit.author)
            .collect::<HashSet<_>>()
            .len() as u64,
        first: times().min().map(date).unwrap_or_default(),
        last: times().max().map(date).unwrap_or_default(),
        added: churns.iter().map(|churn| churn.added).sum(),
        deleted: churns.iter().map(|churn| churn.deleted).sum(),
        hotspots: hotspots(history, churns, tree),
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

#[expect(clippy::cast_precision_loss, reason = "a score for people")]
fn hotspots(history: &History, churns: &[FileChurn], tree: &Tree) -> Listing<Hotspot> {
    let mut hotspots: Vec<Hotspot> = history
        .paths
        .iter()
        .zip(churns)
        .filter_map(|(path, churn)| {
            let file = tree.find(path).filter(|file| is_own_code(file))?;
            let lines = churn.added + churn.deleted;
            Some(Hotspot {
                path: path.clone(),
                score: ((lines * file.lines.code) as f64).sqrt(),
                commits: churn.commits,
                churn: lines,
                code: file.lines.code,
                authors: churn.authors.len() as u64,
                last_change: date(churn.last),
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
    Listing::bounded(hotspots, MOST_HOTSPOTS)
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
    let mut folders: BTreeMap<&str, HashMap<u32, u64>> = BTreeMap::new();
    let mut all: HashMap<u32, u64> = HashMap::new();
    for change in history
        .changes
        .iter()
        .filter(|change| counted[change.path as usize])
    {
        let author = history.commits[change.commit as usize].author;
        let lines = u64::from(change.added) + u64::from(change.deleted);
        let folder = top_folder_of(&history.paths[change.path as usize]);
        *folders
            .entry(folder)
            .or_default()
            .entry(author)
            .or_default() += lines;
        *all.entry(author).or_default() += lines;
    }
    let mut owners: Vec<FolderOwners> = folders
        .into_iter()
        .map(|(folder, shares)| folder_owners(folder, &shares, &history.authors))
        .collect();
    owners.sort_by(|one, other| {
        other
            .churn
            .cmp(&one.churn)
            .then_with(|| one.folder.cmp(&other.folder))
    });
    (owners.into(), bus_factor(&sorted(&all)))
}

fn sorted(shares: &HashMap<u32, u64>) -> Vec<(u32, u64)> {
    let mut shares: Vec<(u32, u64)> = shares
        .iter()
        .map(|(&author, &lines)| (author, lines))
        .collect();
    shares.sort_by_key(|&(author, lines)| (std::cmp::Reverse(lines), author));
    shares
}

#[expect(clippy::cast_precision_loss, reason = "a percentage for people")]
fn folder_owners(folder: &str, shares: &HashMap<u32, u64>, names: &[String]) -> FolderOwners {
    let shares = sorted(shares);
    let churn: u64 = shares.iter().map(|(_, lines)| lines).sum();
    FolderOwners {
        folder: folder.to_owned(),
        bus_factor: bus_factor(&shares),
        authors: shares.len() as u64,
        churn,
        owners: shares
            .iter()
            .take(3)
            .map(|&(author, lines)| Owner {
                name: names.get(author as usize).cloned().unwrap_or_default(),
                percent: rounded(lines as f64 * 100.0 / churn.max(1) as f64),
            })
            .collect(),
    }
}

/// Counts the fewest people who together made more than half of the lines.
fn bus_factor(shares: &[(u32, u64)]) -> u64 {
    let total: u64 = shares.iter().map(|(_, lines)| lines).sum();
    let mut sum = 0;
    for (count, (_, lines)) in shares.iter().enumerate() {
        sum += lines;
        if sum * 2 > total {
            return count as u64 + 1;
        }
    }
    0
}

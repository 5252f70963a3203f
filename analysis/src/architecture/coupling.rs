//! Change coupling: files that change together although neither imports the other.

use std::collections::{HashMap, HashSet};

use super::resolve::FileGraph;
use crate::Budget;
use crate::history::History;
use crate::report::Listing;
use crate::report::architecture::CoupledFiles;
use crate::tree::classify::Origin;
use crate::tree::syntax::Nature;
use crate::tree::working_tree::Tree;

/// Commits with more files than this say nothing about pairs.
const MAX_COMMIT_FILES: usize = 30;

/// Fewer common commits than this may be chance.
const MIN_COMMON_COMMITS: u32 = 4;

/// Share of the commits of the rarer file that the pair must have in common.
const MIN_CONFIDENCE: f64 = 0.5;

/// Pairs that are counted at most, so that a long history can't fill the memory.
const MAX_PAIRS: usize = 3_000_000;

const MAX_REPORTED: usize = 500;

/// Finds the pairs.
pub(crate) fn report(
    tree: &Tree,
    graph: &FileGraph,
    history: &History,
    budget: &Budget,
) -> Listing<CoupledFiles> {
    let file_of: Vec<Option<u32>> = history
        .paths
        .iter()
        .map(|path| {
            let number = tree.position(path)?;
            let file = &tree.files[number];
            let is_code = file.origin == Origin::Own
                && !file.is_test
                && file.language().is_some_and(|language| {
                    matches!(language.get().nature, Nature::Program | Nature::Markup)
                });
            u32::try_from(number).ok().filter(|_| is_code)
        })
        .collect();
    let mut by_commit: HashMap<u32, Vec<u32>> = HashMap::new();
    let mut sizes: HashMap<u32, usize> = HashMap::new();
    for change in &history.changes {
        *sizes.entry(change.commit).or_default() += 1;
        if let Some(file) = file_of[change.path as usize] {
            by_commit.entry(change.commit).or_default().push(file);
        }
    }
    let mut commits_of: HashMap<u32, u32> = HashMap::new();
    let mut together: HashMap<(u32, u32), u32> = HashMap::new();
    let mut commits: Vec<(u32, Vec<u32>)> = by_commit.into_iter().collect();
    commits.sort_unstable_by_key(|(commit, _)| *commit);
    for (commit, mut files) in commits {
        if budget.is_cancelled() {
            break;
        }
        if sizes
            .get(&commit)
            .is_some_and(|size| *size > MAX_COMMIT_FILES)
        {
            continue;
        }
        files.sort_unstable();
        files.dedup();
        for (place, &one) in files.iter().enumerate() {
            *commits_of.entry(one).or_default() += 1;
            for &other in &files[place + 1..] {
                if together.len() < MAX_PAIRS || together.contains_key(&(one, other)) {
                    *together.entry((one, other)).or_default() += 1;
                }
            }
        }
    }
    let later = graph.later.iter().map(|(from, to, _)| (*from, *to));
    let imports: HashSet<(usize, usize)> = graph.edges.iter().copied().chain(later).collect();
    let mut pairs: Vec<CoupledFiles> = together
        .into_iter()
        .filter(|(_, count)| *count >= MIN_COMMON_COMMITS)
        .filter_map(|((one, other), count)| {
            let rarer = commits_of.get(&one)?.min(commits_of.get(&other)?);
            let confidence = f64::from(count) / f64::from((*rarer).max(1));
            let (one, other) = (one as usize, other as usize);
            let linked = imports.contains(&(one, other)) || imports.contains(&(other, one));
            (confidence >= MIN_CONFIDENCE && !linked).then(|| CoupledFiles {
                one: tree.files[one].path.clone(),
                other: tree.files[other].path.clone(),
                together: u64::from(count),
                confidence: (confidence * 1_000.0).round() / 10.0,
            })
        })
        .collect();
    pairs.sort_by(|one, other| {
        (other.together, other.confidence)
            .partial_cmp(&(one.together, one.confidence))
            .unwrap_or(std::cmp::Ordering::Equal)
            .then_with(|| (&one.one, &one.other).cmp(&(&other.one, &other.other)))
    });
    Listing::bounded(pairs, MAX_REPORTED)
}

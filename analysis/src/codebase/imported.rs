//! Finds vendored trees (third-party code) whose path does not say so, by their licence and their history.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

use crate::history::History;
use crate::paths::folder_of;
use crate::tree::classify::Origin;
use crate::tree::licences::{
    MAX_LICENCE_SIZE, MAX_LICENCES, holders, is_licence, is_same, own_licences,
};
use crate::tree::working_tree::Tree;

/// Fewer files than this are no tree of their own.
const MIN_FILES: usize = 5;

/// A file that was changed by more commits than this is maintained here.
const MAX_COMMITS: usize = 3;

/// Marks folders with a licence of other people that came in one commit and hardly changed since.
pub(super) fn mark(root: &Path, tree: &mut Tree, history: &History) {
    if history.is_partial() {
        return;
    }
    let own: HashSet<String> = own_licences(root, tree)
        .iter()
        .flat_map(|text| holders(text))
        .chain(
            history
                .authors
                .iter()
                .map(|author| author.name.to_lowercase()),
        )
        .collect();
    let foreign: BTreeSet<String> = tree
        .files
        .iter()
        .filter(|file| file.origin == Origin::Own && is_licence(&file.path))
        .filter(|file| !folder_of(&file.path).is_empty())
        .take(MAX_LICENCES)
        .filter(|file| {
            let text = file.read(root, MAX_LICENCE_SIZE).unwrap_or_default();
            let holders = holders(&text);
            let is_ours = |holder: &String| own.iter().any(|own| is_same(own, holder));
            !holders.is_empty() && !holders.iter().any(is_ours)
        })
        .map(|file| folder_of(&file.path).to_owned())
        .collect();
    if foreign.is_empty() {
        return;
    }
    let imported = imported(tree, history, &foreign);
    for file in &mut tree.files {
        if file.origin == Origin::Own && place_of(&file.path, &imported).is_some() {
            file.set_vendored();
        }
    }
}

/// Returns the folders most of whose files came in one commit and hardly changed since.
fn imported(tree: &Tree, history: &History, folders: &BTreeSet<String>) -> BTreeSet<String> {
    // The commits of each path and the oldest of them.
    let mut commits: HashMap<&str, (usize, u32)> = HashMap::new();
    for change in &history.changes {
        let path = history.paths[change.path as usize].as_str();
        let known = commits.entry(path).or_insert((0, change.commit));
        known.0 += 1;
        known.1 = known.1.max(change.commit);
    }
    let mut files: BTreeMap<&str, Vec<(usize, u32)>> = BTreeMap::new();
    for file in &tree.files {
        if let (Some(folder), Some(known)) = (
            place_of(&file.path, folders),
            commits.get(file.path.as_str()),
        ) {
            files.entry(folder).or_default().push(*known);
        }
    }
    let first = u32::try_from(history.commits.len().saturating_sub(1)).unwrap_or(u32::MAX);
    files
        .into_iter()
        .filter(|(_, files)| {
            let mut by_commit: HashMap<u32, usize> = HashMap::new();
            for (_, commit) in files {
                *by_commit.entry(*commit).or_default() += 1;
            }
            let together = by_commit
                .into_iter()
                .max_by_key(|(commit, count)| (*count, *commit));
            // What came with the first commit of all tells nothing: everything did.
            let came_together = together
                .is_some_and(|(commit, count)| commit != first && count * 10 >= files.len() * 8);
            let quiet = files.iter().filter(|file| file.0 <= MAX_COMMITS).count();
            files.len() >= MIN_FILES && came_together && quiet * 10 >= files.len() * 8
        })
        .map(|(folder, _)| folder.to_owned())
        .collect()
}

/// Returns the outermost of the folders that a path is in.
fn place_of<'a>(path: &str, folders: &'a BTreeSet<String>) -> Option<&'a str> {
    path.match_indices('/')
        .find_map(|(end, _)| folders.get(&path[..end]))
        .map(String::as_str)
}

//! Layers and cycles of folders: what imports what between whole folders, packages and single files.
//!
//! Modules are not used for it: a module that is the rest of a folder is a collection, and collections import each
//! other in circles that nobody made.

use std::collections::{BTreeMap, HashMap};

use super::circles::{cycles, layered};
use super::group_modules::{Folders, below, is_of_package};
use crate::paths::folder_of;
use crate::report::Listing;
use crate::report::architecture::{Cycle, Layer};
use crate::tree::working_tree::Tree;

/// As many as a reader can take in.
const MAX_AREAS: usize = 40;

/// A folder lighter than this share of the whole need not be opened.
const HEAVY: u64 = 12;

/// The layers and cycles of folders.
pub(super) struct Areas {
    pub(super) layers: Listing<Layer>,
    pub(super) cycles: Listing<Cycle>,
}

/// Finds them by the imports between files.
pub(super) fn find(tree: &Tree, files: &[usize], edges: &[(usize, usize)]) -> Areas {
    let folders = Folders::new(tree, files);
    Areas {
        layers: layers(tree, &folders, edges),
        cycles: cycles_of_folders(tree, &folders, edges),
    }
}

/// Cuts the tree into whole folders and single files, the heavy folders opened, and sorts these by height.
fn layers(tree: &Tree, folders: &Folders<'_>, edges: &[(usize, usize)]) -> Listing<Layer> {
    let root = folders.inner(0);
    let entries = |folder: usize| {
        let folder = &folders.all[folder];
        folder.children.len() + folder.files.len()
    };
    let mut opened = vec![root];
    let mut count = entries(root);
    let mut whole: Vec<usize> = children(folders, root).collect();
    loop {
        let heavy = |folder: usize| folders.all[folder].weight * HEAVY > folders.all[0].weight;
        let next = whole
            .iter()
            .enumerate()
            .filter(|(_, folder)| heavy(**folder) && count - 1 + entries(**folder) <= MAX_AREAS)
            .max_by_key(|(_, folder)| folders.all[**folder].weight);
        let Some((place, &folder)) = next else {
            break;
        };
        whole.swap_remove(place);
        count += entries(folder) - 1;
        opened.push(folder);
        whole.extend(children(folders, folder));
    }
    let mut names: Vec<String> = Vec::new();
    let mut area_of: HashMap<usize, usize> = HashMap::new();
    let mut add = |name: String, files: &[usize]| {
        area_of.extend(files.iter().map(|file| (*file, names.len())));
        if !files.is_empty() {
            names.push(name);
        }
    };
    for folder in whole {
        add(
            below(folders.all[folder].path, ""),
            &folders.files_below(folder),
        );
    }
    for folder in opened {
        let folder = &folders.all[folder];
        for (name, unit) in &folder.files {
            // `lib.rs` and `main.rs` stand for their folder, but here each is one file of it.
            let (faces, others): (Vec<usize>, Vec<usize>) = unit
                .files
                .iter()
                .partition(|file| name.is_empty() && !is_of_package(tree, **file));
            for face in faces {
                add(tree.files[face].path.clone(), &[face]);
            }
            add(below(folder.path, name), &others);
        }
    }
    let mut between: Vec<(usize, usize)> = edges
        .iter()
        .filter_map(|(from, to)| Some((*area_of.get(from)?, *area_of.get(to)?)))
        .filter(|(from, to)| from != to)
        .collect();
    between.sort_unstable();
    between.dedup();
    let (_, layer_of) = layered(names.len(), &between);
    let mut layers: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for (name, layer) in names.into_iter().zip(layer_of) {
        layers.entry(layer).or_default().push(name);
    }
    let layers = layers.into_iter().map(|(layer, mut modules)| {
        modules.sort_unstable();
        Layer { layer, modules }
    });
    layers.collect()
}

fn children(folders: &Folders<'_>, folder: usize) -> impl Iterator<Item = usize> {
    let children = folders.all[folder].children.iter();
    children.map(|child| folders.inner(*child))
}

/// Where a file is: its folder, and what of it.
#[derive(Clone, Copy)]
struct Address<'t> {
    folder: &'t str,
    /// Absent for `lib.rs` and the like, which stand for the folder and import all that is in it.
    unit: Option<&'t str>,
}

/// Finds circles among what lies in one folder: the folders in it, the package that its own files are, and files.
/// A circle of files alone is one of files.
fn cycles_of_folders(
    tree: &Tree,
    folders: &Folders<'_>,
    edges: &[(usize, usize)],
) -> Listing<Cycle> {
    let mut addresses: HashMap<usize, Address<'_>> = HashMap::new();
    for folder in &folders.all {
        for (name, unit) in &folder.files {
            for &file in &unit.files {
                let is_face = name.is_empty() && !is_of_package(tree, file);
                let address = Address {
                    folder: folder.path,
                    unit: (!is_face).then_some(*name),
                };
                addresses.insert(file, address);
            }
        }
    }
    // A place within a folder: the folder, and the path of what is in it.
    let mut numbers: BTreeMap<(&str, String), usize> = BTreeMap::new();
    let mut nodes: Vec<(String, bool)> = Vec::new();
    let mut between: Vec<(usize, usize)> = Vec::new();
    for (from, to) in edges {
        let (Some(from), Some(to)) = (addresses.get(from), addresses.get(to)) else {
            continue;
        };
        let within = common_folder(from.folder, to.folder);
        let (Some(from), Some(to)) = (place_in(within, *from), place_in(within, *to)) else {
            continue;
        };
        if from.0 == to.0 {
            continue;
        }
        let mut number = |(name, is_folder): (String, bool)| {
            *numbers.entry((within, name.clone())).or_insert_with(|| {
                nodes.push((name, is_folder));
                nodes.len() - 1
            })
        };
        between.push((number(from), number(to)));
    }
    between.sort_unstable();
    between.dedup();
    let (mut groups, _) = layered(nodes.len(), &between);
    groups.retain(|group| group.iter().any(|node| nodes[*node].1));
    cycles(&groups, &between, |node| nodes[node].0.clone())
}

/// Returns the folder that both folders are in, or are.
fn common_folder<'t>(one: &'t str, other: &str) -> &'t str {
    let mut folder = one;
    while !(folder.is_empty()
        || other == folder
        || other
            .strip_prefix(folder)
            .is_some_and(|rest| rest.starts_with('/')))
    {
        folder = folder_of(folder);
    }
    folder
}

/// Returns the entry of a folder that a file is or is in, and whether that is a folder or a package.
fn place_in(within: &str, address: Address<'_>) -> Option<(String, bool)> {
    if address.folder == within {
        let unit = address.unit?;
        return Some((below(within, unit), unit.is_empty()));
    }
    let start = if within.is_empty() {
        0
    } else {
        within.len() + 1
    };
    let rest = address.folder.get(start..)?;
    let end = start + rest.find('/').unwrap_or(rest.len());
    Some((address.folder.get(..end)?.to_owned(), true))
}

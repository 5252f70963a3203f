//! Finds vendored folders (third-party code) below `deps` and the like by their licence files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::attributes::Attributes;
use super::licences::{MAX_LICENCE_SIZE, MAX_LICENCES, is_licence, own_licences};
use super::working_tree::{Tree, TreeFile};
use crate::paths::{folder_of, name_of};

/// Folders that often hold what other people wrote; a licence file below them proves it.
const LIKELY: &[&str] = &[
    "deps",
    "dependencies",
    "extern",
    "external",
    "externals",
    "bundled",
    "subprojects",
];

/// Marks the folders below `deps` and the like, if one of them has a licence that is not that of the repository.
pub(super) fn mark_by_folder(root: &Path, tree: &mut Tree, attributes: &Attributes) {
    let mut licences: BTreeMap<&str, Vec<&TreeFile>> = BTreeMap::new();
    for file in tree.files.iter().filter(|file| is_licence(&file.path)) {
        let folder = folder_of(&file.path);
        if LIKELY.contains(&name_of(folder_of(folder))) {
            let place = licences.entry(folder_of(folder)).or_default();
            place.push(file);
        }
    }
    if licences.is_empty() {
        return;
    }
    let own = own_licences(root, tree);
    let proven: BTreeSet<String> = licences
        .into_iter()
        .filter(|(_, files)| {
            let mut read = files.iter().take(MAX_LICENCES);
            read.any(|file| {
                file.read(root, MAX_LICENCE_SIZE)
                    .is_some_and(|text| !own.iter().any(|own| own == text.trim_ascii()))
            })
        })
        .map(|(folder, _)| folder.to_owned())
        .collect();
    for file in &mut tree.files {
        let is_below = file.path.match_indices('/').any(|(end, _)| {
            // A file directly in the folder, such as a makefile, is written here.
            proven.contains(&file.path[..end]) && file.path[end + 1..].contains('/')
        });
        if is_below && attributes.origin(&file.path).is_none() {
            file.set_vendored();
        }
    }
}

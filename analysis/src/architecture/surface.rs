//! The public surface: the exported items of each module.

use super::group_modules::ModuleGroups;
use super::packages::FoundPackage;
use super::resolve::FileGraph;
use crate::paths::{is_under, name_of};
use crate::report::Listing;
use crate::report::architecture::{Ecosystem, EntryKind, ModuleSurface};
use crate::text::shortened;
use crate::tree::imports::ExportKind;
use crate::tree::working_tree::Tree;

/// Most names of one module.
const MAX_NAMES: usize = 12;

/// Counts the exported items of each module and names the most telling ones.
pub(crate) fn report(
    tree: &Tree,
    graph: &FileGraph,
    groups: &ModuleGroups,
    packages: &[FoundPackage],
) -> Listing<ModuleSurface> {
    let programs = folders_of_programs(packages);
    let mut counts = vec![0u64; groups.names.len()];
    let mut names: Vec<Vec<(ExportKind, &str)>> = vec![Vec::new(); groups.names.len()];
    let of_library = |file: &&usize| {
        let path = tree.files[**file].path.as_str();
        !is_inside(path) && !programs.iter().any(|folder| is_under(path, folder))
    };
    for file in graph.files.iter().filter(of_library) {
        let (Some(&module), Some(facts)) = (
            groups.module_of.get(file),
            tree.files[*file].source.as_deref(),
        ) else {
            continue;
        };
        counts[module] += facts.exported;
        names[module].extend(facts.names.iter().map(|(kind, name)| (*kind, &**name)));
    }
    let mut surfaces: Vec<ModuleSurface> = groups
        .names
        .iter()
        .zip(counts)
        .zip(names)
        .filter(|((_, exported), _)| *exported > 0)
        .map(|((module, exported), mut names)| {
            names.sort_by_key(|(kind, _)| *kind);
            let mut shown: Vec<String> = Vec::new();
            for (_, name) in names {
                if shown.len() < MAX_NAMES && !shown.iter().any(|other| other == name) {
                    shown.push(shortened(name, 80));
                }
            }
            ModuleSurface {
                module: module.clone(),
                exported,
                names: shown,
            }
        })
        .collect();
    surfaces.sort_by(|one, other| {
        other
            .exported
            .cmp(&one.exported)
            .then_with(|| one.module.cmp(&other.module))
    });
    surfaces.into()
}

/// Returns whether nobody outside can use what a file exports: programs in Rust, and `internal` in Go.
fn is_inside(path: &str) -> bool {
    let is_rust = path.strip_suffix(".rs").is_some();
    let is_go = path.strip_suffix(".go").is_some();
    (is_rust && (name_of(path) == "main.rs" || path.contains("/src/bin/")))
        || (is_go && (name_of(path) == "main.go" || path.split('/').any(|part| part == "internal")))
}

/// Returns the folders of Cargo packages that have no library: what is `pub` there stays there.
fn folders_of_programs(packages: &[FoundPackage]) -> Vec<String> {
    packages
        .iter()
        .filter(|package| package.package.ecosystem == Ecosystem::Cargo)
        .filter(|package| {
            let mut entries = package.entry_points.iter();
            let has_library = entries.any(|entry| entry.kind == EntryKind::Library);
            !has_library && !package.roots.is_empty()
        })
        .filter_map(|package| super::packages::join(&package.folder, "src"))
        .collect()
}

//! The public surface: the exported items of each module.

use super::group_modules::ModuleGroups;
use super::resolve::FileGraph;
use crate::report::Listing;
use crate::report::architecture::ModuleSurface;
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
) -> Listing<ModuleSurface> {
    let mut counts = vec![0u64; groups.names.len()];
    let mut names: Vec<Vec<(ExportKind, &str)>> = vec![Vec::new(); groups.names.len()];
    for file in &graph.files {
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

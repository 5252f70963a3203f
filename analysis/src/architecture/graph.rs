//! The module dependency graph: modules, edges between them and between files, cycles of files.

use std::collections::{BTreeMap, HashMap};

use super::areas;
use super::circles::{cycles, layered};
use super::group_modules::ModuleGroups;
use super::resolve::FileGraph;
use crate::paths::folder_of;
use crate::report::Listing;
use crate::report::architecture::{
    CentralFile, FileEdge, ImportTime, Module, ModuleEdge, ModuleGraph,
};
use crate::tree::imports::When;
use crate::tree::working_tree::Tree;

/// Most imports between files kept in the complete report.
const MAX_FILE_EDGES: usize = 20_000;
const MAX_CENTRAL: usize = 200;

/// Writes the report on imports.
pub(crate) fn report(tree: &Tree, graph: &FileGraph, groups: &ModuleGroups) -> ModuleGraph {
    let mut weights: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    for (from, to) in &graph.edges {
        let (Some(&from), Some(&to)) = (groups.module_of.get(from), groups.module_of.get(to))
        else {
            continue;
        };
        if from != to {
            *weights.entry((from, to)).or_default() += 1;
        }
    }
    let module_edges: Vec<(usize, usize)> = weights.keys().copied().collect();
    let areas = areas::find(tree, &graph.files, &graph.edges);
    let module_name = |module: usize| groups.names[module].clone();
    let mut edges: Vec<ModuleEdge> = weights
        .iter()
        .map(|(&(from, to), &imports)| ModuleEdge {
            from: module_name(from),
            to: module_name(to),
            imports,
        })
        .collect();
    edges.sort_by(|one, other| {
        other
            .imports
            .cmp(&one.imports)
            .then_with(|| (&one.from, &one.to).cmp(&(&other.from, &other.to)))
    });

    let number_of: HashMap<usize, usize> = graph
        .files
        .iter()
        .enumerate()
        .map(|(place, &file)| (file, place))
        .collect();
    let file_edges: Vec<(usize, usize)> = graph
        .edges
        .iter()
        .filter(|(from, to)| !is_within_go_package(tree, *from, *to))
        .filter_map(|(from, to)| Some((*number_of.get(from)?, *number_of.get(to)?)))
        .collect();
    let (file_groups, _) = layered(graph.files.len(), &file_edges);
    let path = |file: usize| tree.files[file].path.clone();
    ModuleGraph {
        files: graph.files.len() as u64,
        file_imports: graph.edges.len() as u64,
        later_imports: graph.later.len() as u64,
        unresolved: graph.unresolved,
        modules: modules(groups, &module_edges),
        edges: edges.into(),
        cycles: areas.cycles,
        file_cycles: cycles(&file_groups, &file_edges, |place| path(graph.files[place])),
        layers: areas.layers,
        central_files: central(graph, path),
        file_edges: Listing::bounded(file_edge_list(graph, path), MAX_FILE_EDGES),
    }
}

/// Files of one Go package are compiled as one; circles among them mean nothing.
fn is_within_go_package(tree: &Tree, from: usize, to: usize) -> bool {
    let (from, to) = (tree.files[from].path.as_str(), tree.files[to].path.as_str());
    let is_go = from.strip_suffix(".go").is_some();
    is_go && folder_of(from) == folder_of(to)
}

fn file_edge_list(graph: &FileGraph, path: impl Fn(usize) -> String) -> Vec<FileEdge> {
    let now = graph.edges.iter().map(|&(from, to)| (from, to, None));
    let later = graph.later.iter().map(|&(from, to, when)| {
        let when = match when {
            When::Load => None,
            When::Lazy => Some(ImportTime::Lazy),
            When::Type => Some(ImportTime::Type),
        };
        (from, to, when)
    });
    let mut edges: Vec<(usize, usize, Option<ImportTime>)> = now.chain(later).collect();
    edges.sort_unstable_by_key(|(from, to, _)| (*from, *to));
    let edges = edges.into_iter().map(|(from, to, when)| FileEdge {
        from: path(from),
        to: path(to),
        when,
    });
    edges.collect()
}

fn modules(groups: &ModuleGroups, edges: &[(usize, usize)]) -> Listing<Module> {
    let mut modules: Vec<Module> = groups
        .names
        .iter()
        .zip(&groups.kinds)
        .map(|(name, &kind)| Module {
            name: name.clone(),
            kind,
            files: 0,
            imported_by: 0,
            imports: 0,
        })
        .collect();
    for &module in groups.module_of.values() {
        modules[module].files += 1;
    }
    for &(from, to) in edges {
        modules[from].imports += 1;
        modules[to].imported_by += 1;
    }
    modules.sort_by(|one, other| {
        (other.imported_by, other.files)
            .cmp(&(one.imported_by, one.files))
            .then_with(|| one.name.cmp(&other.name))
    });
    modules.into()
}

fn central(graph: &FileGraph, path: impl Fn(usize) -> String) -> Listing<CentralFile> {
    let mut counts: HashMap<usize, u64> = HashMap::new();
    let later = graph.later.iter().map(|(_, to, _)| to);
    for to in graph.edges.iter().map(|(_, to)| to).chain(later) {
        *counts.entry(*to).or_default() += 1;
    }
    let mut files: Vec<CentralFile> = counts
        .into_iter()
        .map(|(file, imported_by)| CentralFile {
            path: path(file),
            imported_by,
        })
        .collect();
    files.sort_by(|one, other| {
        other
            .imported_by
            .cmp(&one.imported_by)
            .then_with(|| one.path.cmp(&other.path))
    });
    Listing::bounded(files, MAX_CENTRAL)
}

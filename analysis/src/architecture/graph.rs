//! The module dependency graph: modules, edges between them and between files, cycles of files.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::areas;
use super::group_modules::ModuleGroups;
use super::resolve::FileGraph;
use crate::paths::folder_of;
use crate::report::Listing;
use crate::report::architecture::{
    CentralFile, Cycle, FileEdge, ImportTime, Module, ModuleEdge, ModuleGraph,
};
use crate::tree::imports::When;
use crate::tree::working_tree::Tree;

/// Most imports between files kept in the complete report.
const MAX_FILE_EDGES: usize = 20_000;
const MAX_CENTRAL: usize = 200;
const MAX_CYCLES: usize = 100;
const CYCLE_MEMBERS: usize = 30;

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

/// Finds the strongly connected groups and the height of each node. The edges are sorted.
pub(super) fn layered(nodes: usize, edges: &[(usize, usize)]) -> (Vec<Vec<usize>>, Vec<u64>) {
    let mut graph: DiGraph<(), (), usize> = DiGraph::with_capacity(nodes, edges.len());
    for _ in 0..nodes {
        graph.add_node(());
    }
    for &(from, to) in edges {
        graph.add_edge(NodeIndex::new(from), NodeIndex::new(to), ());
    }
    // Groups come with what they depend on first.
    let groups: Vec<Vec<usize>> = kosaraju_scc(&graph)
        .into_iter()
        .map(|group| group.into_iter().map(NodeIndex::index).collect())
        .collect();
    let mut group_of = vec![0; nodes];
    for (number, group) in groups.iter().enumerate() {
        for &node in group {
            group_of[node] = number;
        }
    }
    let mut heights = vec![0u64; groups.len()];
    let mut layer_of = vec![0; nodes];
    for (number, group) in groups.iter().enumerate() {
        let below = group
            .iter()
            .flat_map(|&node| graph.neighbors(NodeIndex::new(node)));
        let height = below
            .map(|next| group_of[next.index()])
            .filter(|&other| other != number)
            .map(|other| heights[other] + 1)
            .max()
            .unwrap_or(0);
        heights[number] = height;
        for &node in group {
            layer_of[node] = height;
        }
    }
    (groups, layer_of)
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

pub(super) fn cycles(
    groups: &[Vec<usize>],
    edges: &[(usize, usize)],
    name: impl Fn(usize) -> String,
) -> Listing<Cycle> {
    let mut circles: Vec<&Vec<usize>> = groups.iter().filter(|group| group.len() > 1).collect();
    circles.sort_by_key(|group| (std::cmp::Reverse(group.len()), group.iter().min().copied()));
    let total = circles.len();
    circles.truncate(MAX_CYCLES);
    let items = circles
        .into_iter()
        .map(|group| {
            let mut members: Vec<String> = group.iter().map(|&node| name(node)).collect();
            members.sort_unstable();
            members.truncate(CYCLE_MEMBERS);
            Cycle {
                size: group.len() as u64,
                members,
                example: shortest_way_round(group, edges)
                    .into_iter()
                    .map(&name)
                    .collect(),
            }
        })
        .collect();
    Listing {
        items,
        omitted: total.saturating_sub(MAX_CYCLES) as u64,
    }
}

/// Finds the shortest circle through the group's first node.
fn shortest_way_round(group: &[usize], edges: &[(usize, usize)]) -> Vec<usize> {
    let Some(&start) = group.iter().min() else {
        return Vec::new();
    };
    let inside: HashSet<usize> = group.iter().copied().collect();
    let neighbours = |node: usize| {
        let first = edges.partition_point(|edge| *edge < (node, 0));
        edges[first..]
            .iter()
            .take_while(move |edge| edge.0 == node)
            .map(|edge| edge.1)
    };
    let mut before: HashMap<usize, usize> = HashMap::new();
    let mut open = VecDeque::from([start]);
    while let Some(node) = open.pop_front() {
        for next in neighbours(node).filter(|next| inside.contains(next)) {
            if next == start {
                let mut way = vec![start, node];
                let mut at = node;
                while at != start {
                    at = before[&at];
                    way.push(at);
                }
                if node == start {
                    way.pop();
                }
                way.reverse();
                return way;
            }
            if let Entry::Vacant(place) = before.entry(next) {
                place.insert(node);
                open.push_back(next);
            }
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_layers_and_cycles() {
        // 0 → 1 → 2 → 1, 2 → 3
        let edges = [(0, 1), (1, 2), (2, 1), (2, 3)];
        let (groups, layers) = layered(4, &edges);
        assert_eq!(layers, [2, 1, 1, 0]);
        let found = cycles(&groups, &edges, |node| node.to_string());
        assert_eq!(found.items.len(), 1);
        assert_eq!(found.items[0].members, ["1", "2"]);
        assert_eq!(found.items[0].example, ["1", "2", "1"]);
    }
}

//! Cycles and layers of any graph: strongly connected groups, heights, and a shortest way round.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet, VecDeque};

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::report::Listing;
use crate::report::architecture::Cycle;

const MAX_CYCLES: usize = 100;
const CYCLE_MEMBERS: usize = 30;

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

/// Lists the groups of more than one, the largest first.
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

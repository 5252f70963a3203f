//! Resolves imports to files of this repository.

mod c;
mod ecma;
mod go;
mod java;
mod python;
mod python_standard;
mod rust;
mod tsconfig;

use super::packages::{FoundPackage, Sources};
use crate::tree::classify::Origin;
use crate::tree::imports::{Family, SourceFacts, When, family};
use crate::tree::working_tree::{Tree, TreeFile};
use crate::{AnalysisError, Budget};

/// The imports between files of the repository.
#[derive(Debug, Default)]
pub(crate) struct FileGraph {
    /// Numbers of the source files in the tree, ascending.
    pub(crate) files: Vec<usize>,
    /// Importer and imported file, by number in the tree; sorted, each once.
    pub(crate) edges: Vec<(usize, usize)>,
    /// The same for imports that happen later than at loading or never; none is in `edges`.
    pub(crate) later: Vec<(usize, usize, When)>,
    /// The same of tests, which take no part in the graph: what they import, other tests included.
    pub(crate) test_edges: Vec<(usize, usize)>,
    /// Imports that look local but lead to no file.
    pub(crate) unresolved: u64,
}

/// Where one import leads.
pub(super) enum Target {
    File(usize),
    /// To something outside the repository.
    Elsewhere,
    /// It should be in the repository but isn't.
    Missing,
}

impl Target {
    fn found(file: Option<usize>) -> Self {
        file.map_or(Self::Missing, Self::File)
    }
}

/// Returns whether a file takes part in the graph.
fn takes_part(file: &TreeFile) -> bool {
    is_source(file) && file.is_product()
}

fn is_source(file: &TreeFile) -> bool {
    file.origin == Origin::Own && file.source.is_some()
}

/// Resolves all imports.
pub(crate) fn resolve(
    sources: Sources<'_>,
    packages: &[FoundPackage],
    budget: &Budget,
) -> Result<FileGraph, AnalysisError> {
    let tree = sources.tree;
    let mut graph = FileGraph {
        files: (0..tree.files.len())
            .filter(|&number| takes_part(&tree.files[number]))
            .collect(),
        ..FileGraph::default()
    };
    let rust = rust::Crates::new(tree, packages, budget);
    budget.check()?;
    let ecma = ecma::Packages::new(sources, packages);
    budget.check()?;
    let python = python::Modules::new(tree, packages);
    budget.check()?;
    let go = go::Modules::new(tree, packages);
    budget.check()?;
    let java = java::Classes::new(tree);
    budget.check()?;
    let c = c::Headers::new(tree);
    budget.check()?;
    for number in (0..tree.files.len()).filter(|&number| is_source(&tree.files[number])) {
        budget.check()?;
        // What examples import is of as much use as what tests import.
        let is_test = !tree.files[number].is_product();
        let Some((family, facts)) = facts_of(tree, number) else {
            continue;
        };
        let path = tree.files[number].path.as_str();
        let mut take = |when: When, target: Target| match target {
            Target::File(other) if other == number || !is_source(&tree.files[other]) => {}
            Target::File(other) if is_test => graph.test_edges.push((number, other)),
            Target::File(other) if takes_part(&tree.files[other]) => {
                if when == When::Load {
                    graph.edges.push((number, other));
                } else {
                    graph.later.push((number, other, when));
                }
            }
            Target::File(_) | Target::Elsewhere => {}
            Target::Missing if is_test => {}
            Target::Missing => graph.unresolved += 1,
        };
        match family {
            Family::Rust => rust
                .targets(number, facts)
                .for_each(|target| take(When::Load, target)),
            Family::Ecma => {
                // Declarations are never loaded.
                let is_declaration = path.strip_suffix(".d.ts").is_some();
                for (when, import) in &facts.imports {
                    let when = if is_declaration { When::Type } else { *when };
                    take(when, ecma.target(tree, path, import));
                }
            }
            Family::Python => {
                let is_stub = path.strip_suffix(".pyi").is_some();
                for (when, import) in &facts.imports {
                    let when = if is_stub { When::Type } else { *when };
                    python.targets(tree, path, import, &mut |target| take(when, target));
                }
            }
            Family::Go => go.targets(tree, path, facts, &mut |target| take(When::Load, target)),
            Family::Java => java.targets(path, facts, &mut |target| take(When::Load, target)),
            Family::C => facts
                .imports
                .iter()
                .for_each(|(when, import)| take(*when, c.target(tree, path, import))),
        }
    }
    graph.edges.sort_unstable();
    graph.edges.dedup();
    // The first of several imports of one file decides, and loading comes before all.
    graph.later.sort_unstable();
    graph.later.dedup_by_key(|(from, to, _)| (*from, *to));
    let edges = &graph.edges;
    graph
        .later
        .retain(|(from, to, _)| edges.binary_search(&(*from, *to)).is_err());
    graph.test_edges.sort_unstable();
    graph.test_edges.dedup();
    Ok(graph)
}

fn facts_of(tree: &Tree, number: usize) -> Option<(Family, &SourceFacts)> {
    let file = tree.files.get(number)?;
    Some((family(file.language()?)?, file.source.as_deref()?))
}

/// Lists the source files of one family with what they say.
fn files_of(tree: &Tree, wanted: Family) -> impl Iterator<Item = (usize, &TreeFile, &SourceFacts)> {
    (0..tree.files.len()).filter_map(move |number| {
        let (family, facts) = facts_of(tree, number)?;
        (family == wanted).then(|| (number, &tree.files[number], facts))
    })
}

//! From imports as written to files of this repository.

mod c;
mod ecma;
mod go;
mod java;
mod python;
mod rust;

use super::packages::{Found, Sources};
use crate::tree::classify::Origin;
use crate::tree::imports::{Family, SourceFacts, family};
use crate::tree::scan::{Tree, TreeFile};
use crate::{AnalysisError, Control};

/// The imports between files of the repository.
#[derive(Debug, Default)]
pub(crate) struct FileGraph {
    /// Numbers of the source files in the tree, ascending.
    pub(crate) files: Vec<usize>,
    /// Who imports whom, by number in the tree; sorted, each once.
    pub(crate) edges: Vec<(usize, usize)>,
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

/// Tells whether a file takes part in the graph.
fn takes_part(file: &TreeFile) -> bool {
    file.origin == Origin::Own && !file.is_test && file.source.is_some()
}

/// Resolves all imports.
pub(crate) fn resolve(
    sources: Sources<'_>,
    packages: &[Found],
    control: &Control,
) -> Result<FileGraph, AnalysisError> {
    let tree = sources.tree;
    let mut graph = FileGraph {
        files: (0..tree.files.len())
            .filter(|&number| takes_part(&tree.files[number]))
            .collect(),
        ..FileGraph::default()
    };
    let rust = rust::Crates::new(tree, packages, control);
    control.check()?;
    let ecma = ecma::Packages::new(sources, packages);
    control.check()?;
    let python = python::Modules::new(tree);
    control.check()?;
    let go = go::Modules::new(tree, packages);
    control.check()?;
    let java = java::Classes::new(tree);
    control.check()?;
    let c = c::Headers::new(tree);
    control.check()?;
    for &number in &graph.files {
        control.check()?;
        let Some((family, facts)) = facts_of(tree, number) else {
            continue;
        };
        let path = tree.files[number].path.as_str();
        let mut take = |target: Target| match target {
            Target::File(other) if other != number && takes_part(&tree.files[other]) => {
                graph.edges.push((number, other));
            }
            Target::File(_) | Target::Elsewhere => {}
            Target::Missing => graph.unresolved += 1,
        };
        match family {
            Family::Rust => rust.targets(number, facts).for_each(&mut take),
            Family::Ecma => facts
                .imports
                .iter()
                .for_each(|import| take(ecma.target(tree, path, import))),
            Family::Python => facts
                .imports
                .iter()
                .for_each(|import| python.targets(tree, path, import, &mut take)),
            Family::Go => facts
                .imports
                .iter()
                .for_each(|import| take(go.target(import))),
            Family::Java => facts
                .imports
                .iter()
                .for_each(|import| take(java.target(import))),
            Family::C => facts
                .imports
                .iter()
                .for_each(|import| take(c.target(tree, path, import))),
        }
    }
    graph.edges.sort_unstable();
    graph.edges.dedup();
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

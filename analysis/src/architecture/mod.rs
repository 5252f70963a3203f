//! The scope `architecture`: packages, entry points, commands and the module dependency graph.

mod areas;
mod circles;
mod commands;
mod conventions;
mod coupling;
mod entry_points;
mod graph;
mod group_modules;
mod identity;
pub(crate) mod packages;
mod reading_order;
pub(crate) mod resolve;
mod roles;
mod surface;

use std::collections::HashMap;
use std::path::Path;

use super::git::GitFailure;
use super::history::{history_of, usable};
use super::recent::{self, Recent};
use super::report::architecture::ArchitectureReport;
use super::report::symbols::SymbolFile;
use super::report::{Incomplete, Listing};
use super::symbols;
use super::tree::scan::{self, Reading};
use super::{AnalysisError, Budget, Depth};
use packages::Sources;
use resolve::FileGraph;

/// Share of the time that the history may take.
const HISTORY_SHARE: f64 = 0.7;

/// Commits whose files count as changed lately.
const RECENT_COMMITS: usize = 1_000;

/// Files that are parsed for the map of symbols at medium depth: a few seconds' work.
const MEDIUM_SYMBOL_FILES: usize = 4_000;

/// Analyses how the repository below a directory is built.
///
/// What can't be found out (no git, time up) is listed as incomplete; only a root that can't be read and
/// cancellation are errors.
pub fn architecture(
    root: &Path,
    depth: Depth,
    budget: &Budget,
) -> Result<ArchitectureReport, AnalysisError> {
    budget.report(0.0, "reading files");
    let reading = if depth == Depth::Shallow {
        Reading::Names
    } else {
        Reading::Sources
    };
    let (tree, history, recent) = std::thread::scope(|scope| {
        let recent = (depth > Depth::Shallow).then(|| {
            let budget = budget.with_share(HISTORY_SHARE);
            scope.spawn(move || Recent::read(root, RECENT_COMMITS, &budget))
        });
        let history = (depth == Depth::Deep).then(|| {
            let budget = budget.with_share(HISTORY_SHARE);
            scope.spawn(move || history_of(root, None, &budget))
        });
        let tree = scan::scan(root, reading, budget, (0.0, 0.5));
        let history = history.map(|thread| thread.join().unwrap_or(Err(GitFailure::Unexpected)));
        (tree, history, recent.and_then(|thread| thread.join().ok()))
    });
    let tree = tree?;
    budget.check()?;
    let cut = "the time limit was reached before all files were read";
    let mut incomplete = Vec::new();
    incomplete.extend(tree.cut.then(|| Incomplete::new("files", cut)));
    budget.report(0.6, "reading manifests");
    let sources = Sources { root, tree: &tree };
    let packages = packages::find(sources);
    incomplete.extend(packages::gaps(sources));
    budget.check()?;
    let mut report = ArchitectureReport {
        depth,
        identity: identity::describe(sources, &packages, budget),
        packages: packages.iter().map(|found| found.package.clone()).collect(),
        entry_points: entry_points::find(sources, &packages),
        commands: commands::find(sources, &packages),
        folders: roles::find(&tree, &packages),
        conventions: None,
        symbols: None,
        graph: None,
        public_surface: None,
        change_coupling: None,
        reading_order: None,
        incomplete: Listing::default(),
    };
    if depth > Depth::Shallow {
        budget.report(0.7, "following imports");
        let files = resolve::resolve(sources, &packages, budget)?;
        budget.check()?;
        let groups = group_modules::group_modules(&tree, &files.files, budget);
        budget.check()?;
        budget.report(0.8, "reading definitions");
        let recent = recent.unwrap_or(Err(GitFailure::Unexpected));
        let recent = recent.unwrap_or_else(|failure| {
            let why = failure.to_string();
            // At depth deep the history says it.
            incomplete.extend((depth != Depth::Deep).then(|| Incomplete::new("history", why)));
            recent::Raw::default()
        });
        let churn = recent.in_tree(&tree).churn(tree.files.len());
        report.symbols = Some(symbols_of(
            sources,
            depth,
            &files,
            &churn,
            budget,
            &mut incomplete,
        ));
        budget.check()?;
        let has_code = report.symbols.as_ref().is_some_and(|map| map.total() > 0);
        if files.files.is_empty() && has_code {
            incomplete.push(Incomplete::new(
                "graph",
                "there is no code in a language whose imports are followed",
            ));
        } else {
            report.graph = Some(graph::report(&tree, &files, &groups));
            budget.check()?;
            report.public_surface = Some(surface::report(&tree, &files, &groups, &packages));
        }
        report.conventions = Some(conventions::find(sources, budget));
        budget.check()?;
        if depth == Depth::Deep {
            budget.report(0.9, "comparing changes");
            let history = history.and_then(|history| usable(history, &mut incomplete));
            report.change_coupling = history
                .as_ref()
                .map(|history| coupling::report(&tree, &files, history, budget));
            report.reading_order = Some(reading_order::report(&report, history.as_ref()));
        }
    }
    budget.check()?;
    report.incomplete = incomplete.into();
    budget.report(1.0, "done");
    Ok(report)
}

/// Ranks the definitions. Without commits the map is one of imports and uses alone.
fn symbols_of(
    sources: Sources<'_>,
    depth: Depth,
    files: &FileGraph,
    churn: &[f64],
    budget: &Budget,
    incomplete: &mut Vec<Incomplete>,
) -> Listing<SymbolFile> {
    let tree = sources.tree;
    let mut imported_by: HashMap<usize, u32> = HashMap::new();
    for (_, to) in &files.edges {
        *imported_by.entry(*to).or_default() += 1;
    }
    let map = symbols::Map {
        root: sources.root,
        tree,
        churn,
        most: if depth == Depth::Deep {
            usize::MAX
        } else {
            MEDIUM_SYMBOL_FILES
        },
        imported_by: &imported_by,
    };
    symbols::map(&map, budget, incomplete)
}

//! The scope `codebase`: sizes, history, hotspots, owners, complexity, duplication.

mod complexity;
mod duplication;
mod function_rules;
mod imported;
mod markers;
mod sizes;

use std::path::Path;

use super::git::GitFailure;
use super::history::{churn, history_of, usable};
use super::report::Incomplete;
use super::report::codebase::CodebaseReport;
use super::tree::scan::{self, Reading};
use super::{AnalysisError, Budget, Depth};

/// Share of the time that the history may take; the rest is for what comes after it.
const HISTORY_SHARE: f64 = 0.6;

/// Analyses the code below a directory.
///
/// What can't be found out (no git, time up) is listed as incomplete; only a root that can't be read and
/// cancellation are errors.
pub fn codebase(
    root: &Path,
    depth: Depth,
    budget: &Budget,
) -> Result<CodebaseReport, AnalysisError> {
    budget.report(0.0, "reading files");
    let mut incomplete = Vec::new();
    let reading = if depth == Depth::Shallow {
        Reading::Lines
    } else {
        Reading::LinesAndMarkers
    };
    let until = match depth {
        Depth::Shallow => 0.95,
        Depth::Medium => 0.6,
        Depth::Deep => 0.3,
    };
    let (tell, known) = std::sync::mpsc::channel();
    let (tree, history) = std::thread::scope(|scope| {
        let history = (depth > Depth::Shallow).then(|| {
            let budget = budget.with_share(HISTORY_SHARE);
            scope.spawn(move || history_of(root, Some(known), &budget))
        });
        let tree = scan::scan(root, reading, budget, (0.0, until));
        if let (Ok(tree), true) = (&tree, history.is_some()) {
            // A history that ended early listens no more.
            let _ = tell.send(tree.line_counts());
        }
        drop(tell);
        let history = history.map(|thread| {
            budget.report(until, "reading the history");
            thread.join().unwrap_or(Err(GitFailure::Unexpected))
        });
        (tree, history)
    });
    let mut tree = tree?;
    budget.check()?;
    let history = history.and_then(|history| usable(history, &mut incomplete));
    if let Some(history) = &history {
        imported::mark(root, &mut tree, history);
    }
    if tree.cut {
        incomplete.push(Incomplete::new(
            "files",
            "the time limit was reached before all files were read",
        ));
    }
    let mut report = sizes::report(&tree, depth);
    budget.check()?;
    if depth > Depth::Shallow {
        budget.report(until + 0.1, "finding hotspots and open work");
        let churns = history.as_ref().map(churn::by_path);
        report.history = history
            .as_ref()
            .zip(churns.as_ref())
            .map(|(history, churns)| churn::report(history, churns, &tree));
        budget.check()?;
        let past = history.as_ref().zip(churns.as_deref());
        report.markers = Some(markers::report(
            root,
            &tree,
            past,
            depth,
            budget,
            &mut incomplete,
        ));
        budget.check()?;
    }
    if depth == Depth::Deep {
        budget.report(0.5, "measuring functions");
        report.complexity = Some(complexity::report(
            root,
            &tree,
            &budget.with_share(0.7),
            &mut incomplete,
        ));
        budget.check()?;
        budget.report(0.85, "comparing code");
        report.duplication = Some(duplication::report(root, &tree, budget, &mut incomplete));
    }
    budget.check()?;
    report.incomplete = incomplete.into();
    budget.report(1.0, "done");
    Ok(report)
}

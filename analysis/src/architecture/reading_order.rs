//! Suggests a reading order: documents, entry points, then the code that much depends on and that changes.

use std::collections::{HashMap, HashSet};

use super::entry_points::is_tool;
use crate::history::History;
use crate::report::Listing;
use crate::report::architecture::{ArchitectureReport, CentralFile, EntryKind, ReadingStep};

const MAX_ENTRIES: usize = 3;
const MAX_CENTRAL: usize = 20;

/// The changes of this long before the newest commit count.
const RECENT_SECONDS: i64 = 365 * 24 * 60 * 60;

/// Derives the reading order from the rest of the report and the changes of the last year.
pub(crate) fn report(
    report: &ArchitectureReport,
    history: Option<&History>,
) -> Listing<ReadingStep> {
    let mut steps = Steps::default();
    if let Some(readme) = &report.identity.readme {
        steps.add(readme, "says what the repository is");
    }
    for document in &report.identity.documents {
        let lower = document.to_ascii_lowercase();
        let is_guide = [
            "architecture",
            "design",
            "claude",
            "agents",
            "contributing",
            "hacking",
            "development",
        ]
        .iter()
        .any(|word| lower.contains(word));
        // In the folder of the documentation they are about writing it.
        let is_about_docs =
            lower.starts_with("docs/") && (lower.contains("claude") || lower.contains("agents"));
        if is_guide && !is_about_docs {
            steps.add(document, "a guide for contributors");
        }
    }
    for package in report
        .packages
        .items
        .iter()
        .filter(|package| package.path == ".")
    {
        steps.add(&package.manifest, "the manifest at the top");
    }
    let entries = |kind| {
        report
            .entry_points
            .items
            .iter()
            .filter(move |entry| entry.kind == kind && !is_tool(&entry.path))
            .take(MAX_ENTRIES)
    };
    for entry in entries(EntryKind::Binary) {
        steps.add(&entry.path, format!("`{}` starts here", entry.name));
    }
    for entry in entries(EntryKind::Library) {
        steps.add(&entry.path, format!("root of the library `{}`", entry.name));
    }
    if let Some(graph) = &report.graph {
        let changes = history.map(recent_changes).unwrap_or_default();
        for (file, commits) in ranked(&graph.central_files.items, &changes) {
            let importers = if file.imported_by == 1 {
                "1 file imports it".to_owned()
            } else {
                format!("{} files import it", file.imported_by)
            };
            steps.add(
                &file.path,
                match commits {
                    0 => importers,
                    1 => format!("{importers}; 1 commit in the last year of the history"),
                    _ => format!("{importers}; {commits} commits in the last year of the history"),
                },
            );
        }
    }
    steps.list.into()
}

/// Sorts the central files: what many import and what changes often comes first.
fn ranked<'a>(
    central: &'a [CentralFile],
    changes: &HashMap<&str, u32>,
) -> Vec<(&'a CentralFile, u32)> {
    let mut ranked: Vec<(&CentralFile, u32)> = central
        .iter()
        .filter(|file| !is_minor(&file.path))
        .map(|file| (file, changes.get(file.path.as_str()).copied().unwrap_or(0)))
        .collect();
    let score = |(file, commits): &(&CentralFile, u32)| {
        let importers = u32::try_from(file.imported_by).unwrap_or(u32::MAX);
        f64::from(importers).ln_1p() * (1.0 + f64::from(*commits).ln_1p())
    };
    ranked.sort_by(|one, other| {
        let by_score = score(other).total_cmp(&score(one));
        by_score.then_with(|| one.0.path.cmp(&other.0.path))
    });
    ranked.truncate(MAX_CENTRAL);
    ranked
}

fn is_minor(path: &str) -> bool {
    path.split('/').any(|part| {
        matches!(
            part,
            "example"
                | "examples"
                | "samples"
                | "demo"
                | "demos"
                | "bench"
                | "benches"
                | "benchmarks"
                | "test"
                | "tests"
                | "testing"
                | "__tests__"
                | "testdata"
                | "fixtures"
        )
    })
}

/// Counts the commits of each file in the last year of the history.
fn recent_changes(history: &History) -> HashMap<&str, u32> {
    let newest = history
        .commits
        .iter()
        .map(|commit| commit.time)
        .max()
        .unwrap_or(0);
    let mut counts: HashMap<&str, u32> = HashMap::new();
    for change in &history.changes {
        let recent = history
            .commits
            .get(change.commit as usize)
            .is_some_and(|commit| commit.time > newest - RECENT_SECONDS);
        if recent && let Some(path) = history.paths.get(change.path as usize) {
            *counts.entry(path).or_default() += 1;
        }
    }
    counts
}

#[derive(Default)]
struct Steps {
    seen: HashSet<String>,
    list: Vec<ReadingStep>,
}

impl Steps {
    fn add(&mut self, path: &str, why: impl Into<String>) {
        if self.seen.insert(path.to_owned()) {
            self.list.push(ReadingStep {
                path: path.to_owned(),
                why: why.into(),
            });
        }
    }
}

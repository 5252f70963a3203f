//! In which order to read the code: from what explains it, by where it starts, to what all else rests on.

use std::collections::HashSet;

use crate::report::Listing;
use crate::report::architecture::{ArchitectureReport, EntryKind, ReadingStep};

const MOST_ENTRIES: usize = 8;
const MOST_CENTRAL: usize = 15;

/// Suggests an order of reading from the rest of the report.
pub(crate) fn report(report: &ArchitectureReport) -> Listing<ReadingStep> {
    let mut steps = Steps::default();
    if let Some(readme) = &report.identity.readme {
        steps.add(readme, "says what the repository is");
    }
    for document in &report.identity.documents {
        let lower = document.to_ascii_lowercase();
        if [
            "architecture",
            "design",
            "claude",
            "agents",
            "contributing",
            "hacking",
        ]
        .iter()
        .any(|word| lower.contains(word))
        {
            steps.add(document, "explains the project to newcomers");
        }
    }
    for package in report
        .packages
        .items
        .iter()
        .filter(|package| package.path == ".")
    {
        steps.add(
            &package.manifest,
            "names the packages and what they depend on",
        );
    }
    let entries = |kind| {
        report
            .entry_points
            .items
            .iter()
            .filter(move |entry| entry.kind == kind)
            .take(MOST_ENTRIES)
    };
    for entry in entries(EntryKind::Binary) {
        steps.add(&entry.path, format!("`{}` starts here", entry.name));
    }
    for entry in entries(EntryKind::Library) {
        steps.add(&entry.path, format!("root of the library `{}`", entry.name));
    }
    if let Some(graph) = &report.graph {
        for file in graph.central_files.items.iter().take(MOST_CENTRAL) {
            steps.add(&file.path, format!("{} files import it", file.imported_by));
        }
    }
    if let Some(pair) = report
        .change_coupling
        .as_ref()
        .and_then(|coupling| coupling.items.first())
    {
        steps.add(
            &pair.one,
            format!("changes together with {} without importing it", pair.other),
        );
    }
    steps.list.into()
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

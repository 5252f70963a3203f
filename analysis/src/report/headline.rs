//! One readable line on top of each report.

use std::fmt::Write as _;

use super::architecture::{ArchitectureReport, EntryKind};
use super::codebase::CodebaseReport;
use super::dependencies::DependencyReport;
use super::issues::{IssueReport, SourceKind};

pub(super) fn codebase(report: &CodebaseReport) -> String {
    let mut parts = vec![format!(
        "{} files, {} lines of code",
        grouped(report.totals.files),
        grouped(report.totals.lines.code)
    )];
    let languages: Vec<&str> = report
        .languages
        .items
        .iter()
        .take(3)
        .map(|entry| entry.language.as_str())
        .collect();
    if !languages.is_empty() {
        parts.push(format!("mostly {}", languages.join(", ")));
    }
    parts.push(format!(
        "{:.2} test lines per production line",
        report.tests.ratio
    ));
    if let Some(history) = &report.history {
        parts.push(format!(
            "{} commits by {} authors (bus factor {})",
            grouped(history.commits),
            history.authors,
            history.bus_factor
        ));
        if let Some(hotspot) = history.hotspots.items.first() {
            parts.push(format!("hottest file {}", hotspot.path));
        }
    }
    if let Some(markers) = &report.markers {
        parts.push(format!("{} markers of open work", markers.list.total()));
    }
    if let Some(function) = report
        .complexity
        .as_ref()
        .and_then(|complexity| complexity.top.items.first())
    {
        parts.push(format!(
            "most complex function {} ({})",
            function.name, function.cyclomatic
        ));
    }
    if !report.incomplete.is_empty() {
        parts.push(format!("{} parts incomplete", report.incomplete.total()));
    }
    parts.join("; ")
}

pub(super) fn architecture(report: &ArchitectureReport) -> String {
    let binaries = report
        .entry_points
        .items
        .iter()
        .filter(|entry| entry.kind == EntryKind::Binary)
        .count();
    let mut parts = vec![format!(
        "{}: {} packages, {binaries} binaries, {} commands",
        report.identity.name,
        report.packages.total(),
        report.commands.total()
    )];
    if let Some(graph) = &report.graph {
        parts.push(format!(
            "{} modules in {} layers with {} imports between files",
            graph.modules.total(),
            graph.layers.total(),
            grouped(graph.file_imports)
        ));
        parts.push(match graph.cycles.total() {
            0 => "no cycles between modules".to_owned(),
            count => format!("{count} cycles between modules"),
        });
    }
    if let Some(coupling) = &report.change_coupling {
        parts.push(format!("{} hidden couplings", coupling.total()));
    }
    if !report.incomplete.is_empty() {
        parts.push(format!("{} parts incomplete", report.incomplete.total()));
    }
    parts.join("; ")
}

pub(super) fn dependencies(report: &DependencyReport) -> String {
    if report.ecosystems.is_empty() {
        return "no dependency manifests found".to_owned();
    }
    let counts: Vec<String> = report
        .ecosystems
        .iter()
        .map(|each| {
            format!(
                "{} ({} direct, {} locked)",
                each.ecosystem.label(),
                each.direct,
                each.locked
            )
        })
        .collect();
    let mut line = counts.join(", ");
    let findings = [
        (report.conflicts.total(), "conflicting requirements"),
        (report.duplicates.total(), "packages in several versions"),
        (report.loose.total(), "loose or outside a registry"),
        (report.unused.total(), "perhaps unused"),
    ];
    for (count, what) in findings {
        if count > 0 {
            // Writing to a String cannot fail.
            let _ = write!(line, "; {count} {what}");
        }
    }
    if report.incomplete.total() > 0 {
        line.push_str("; incomplete, see the list");
    }
    line
}

pub(super) fn issues(report: &IssueReport) -> String {
    let mut line = match report.source {
        SourceKind::Github | SourceKind::Local => format!(
            "{} open issues, {} open pull requests ({} stale)",
            report.issues, report.pulls, report.stale
        ),
        SourceKind::Unavailable => "Issues and pull requests unavailable".to_owned(),
    };
    let findings = [
        (report.ready.total(), "tasks ready to start"),
        (report.blocked.total(), "tasks waiting"),
        (report.branches.total(), "branches perhaps left over"),
        (report.todos.total(), "TODOs without an issue"),
        (report.duplicates.total(), "likely duplicates"),
    ];
    for (count, what) in findings {
        if count > 0 {
            // Writing to a String cannot fail.
            let _ = write!(line, "; {count} {what}");
        }
    }
    if report.incomplete.total() > 0 {
        line.push_str("; incomplete, see the list");
    }
    line
}

/// Writes a number with a comma after each three digits.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn groups_digits() {
        assert_eq!(super::grouped(1_234_567), "1,234,567");
        assert_eq!(super::grouped(12), "12");
    }
}

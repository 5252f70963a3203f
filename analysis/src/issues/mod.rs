//! The open work on a repository: issues, pull requests, tasks, branches and remarks in the code.
//!
//! The caller brings what forge and database know; this module thinks about it and looks at the
//! local repository.

mod branches;
mod duplicates;
mod groups;
pub(super) mod input;
mod pointers;
mod tasks;
#[cfg(test)]
mod tests;
mod todos;
mod words;

use crate::tree::file_list::FileList;
use crate::tree::scan::Reading;
use crate::{AnalysisError, Control, Depth, Incomplete};

use super::report::issues::{IssueReport, SourceKind};
use input::{IssuesInput, Source};

/// Analyses the open work on a repository.
///
/// Shallow groups issues, tasks and branches; medium adds remarks in the code; deep adds likely
/// duplicates and the files that issues speak of.
pub fn issues(
    input: &IssuesInput,
    depth: Depth,
    control: &Control,
) -> Result<IssueReport, AnalysisError> {
    control.check()?;
    control.report(0.0, "grouping issues");
    let (source, missing) = match &input.source {
        Source::Github => (SourceKind::Github, None),
        Source::Local => (SourceKind::Local, None),
        Source::Unavailable { why } => (SourceKind::Unavailable, Some(why)),
    };
    let mut report = IssueReport::empty(depth, source);
    report
        .incomplete
        .extend(missing.map(|why| Incomplete::new("issues and pull requests", why)));
    report.incomplete.extend(input.missing.iter().cloned());
    groups::fill(&mut report, input);
    tasks::fill(&mut report, &input.tasks);
    control.report(0.1, "looking at branches");
    match branches::find(input, control) {
        Ok(found) => {
            report.branches = found.branches.into();
            report.base_branch = found.base;
        }
        Err(error) => {
            control.check()?;
            report
                .incomplete
                .push(Incomplete::new("stale branches", error.to_string()));
        }
    }
    if depth != Depth::Shallow {
        search_files(&mut report, input, depth, control)?;
    }
    control.check()?;
    control.report(1.0, "done");
    Ok(report)
}

/// Does what needs the files of the repository.
fn search_files(
    report: &mut IssueReport,
    input: &IssuesInput,
    depth: Depth,
    control: &Control,
) -> Result<(), AnalysisError> {
    control.report(0.2, "reading files");
    let listing = FileList::of(&input.root, Reading::Markers, control)?;
    report.incomplete.extend(listing.gap());
    control.report(0.5, "searching remarks in the code");
    let todos = todos::find(&listing, input, control)?;
    report.todos = todos.uncovered.into();
    report.covered_todos = todos.covered;
    if !todos.complete {
        report.incomplete.push(Incomplete::new(
            "TODOs",
            "there are too many, or the time limit struck",
        ));
    }
    if depth == Depth::Deep {
        control.report(0.6, "comparing issues");
        let duplicates = duplicates::find(input, control)?;
        report.duplicates = duplicates.duplicates.into();
        if !duplicates.complete {
            report.incomplete.push(Incomplete::new(
                "likely duplicates",
                "there are too many issues, or the time limit struck",
            ));
        }
        control.report(0.8, "searching files that issues name");
        let pointers = pointers::find(&listing, input, control)?;
        report.pointers = pointers.pointers.into();
        if !pointers.complete {
            report.incomplete.push(Incomplete::new(
                "files that issues name",
                "there are too many issues, or the time limit struck",
            ));
        }
    }
    Ok(())
}

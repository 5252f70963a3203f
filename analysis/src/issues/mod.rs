//! The scope `issues`: issues, pull requests, tasks, stale branches and TODOs.
//!
//! The caller supplies issues, pull requests and tasks; only the local repository is read from here.

mod activity;
mod branches;
mod duplicates;
mod groups;
pub(super) mod input;
mod pointers;
mod tasks;
mod terms;
#[cfg(test)]
mod tests;
mod todos;

use std::collections::HashSet;

use crate::git::GitFailure;
use crate::tree::file_list::FileList;
use crate::tree::scan::Reading;
use crate::{AnalysisError, Budget, Depth, Incomplete};

use super::report::issues::{IssueReport, SourceKind};
use branches::Branches;
use input::IssuesInput;
use model::OpenWorkSource;

/// Share of the time that the commits of the last weeks may take.
const ACTIVITY_SHARE: f64 = 0.3;

/// Analyses the open work on a repository.
///
/// Shallow groups issues, tasks and branches; medium adds remarks in the code; deep adds likely
/// duplicates and the files that issues speak of.
pub fn issues(
    input: &IssuesInput,
    depth: Depth,
    budget: &Budget,
) -> Result<IssueReport, AnalysisError> {
    budget.check()?;
    budget.report(0.0, "grouping issues");
    let (source, missing) = match &input.work.source {
        OpenWorkSource::Github => (SourceKind::Github, None),
        OpenWorkSource::Local => (SourceKind::Local, None),
        OpenWorkSource::Unavailable { why } => (SourceKind::Unavailable, Some(why)),
    };
    let mut report = IssueReport::empty(depth, source);
    report
        .incomplete
        .extend(missing.map(|why| Incomplete::new("issues and pull requests", why)));
    let missing = input.work.missing.iter();
    report
        .incomplete
        .extend(missing.map(|missing| Incomplete::new(missing.what, &missing.why)));
    groups::fill(&mut report, input);
    let all_tasks = input
        .work
        .missing
        .iter()
        .all(|missing| missing.what != "tasks");
    tasks::fill(&mut report, &input.work.tasks, all_tasks);
    budget.report(0.1, "looking at branches");
    if let Err(error) = look_at_branches(&mut report, input, depth, budget) {
        budget.check()?;
        report
            .incomplete
            .push(Incomplete::new("stale branches", error.to_string()));
    }
    if depth != Depth::Shallow {
        search_files(&mut report, input, depth, budget)?;
    }
    budget.check()?;
    budget.report(1.0, "done");
    Ok(report)
}

/// Does what needs the branches and commits of the repository.
fn look_at_branches(
    report: &mut IssueReport,
    input: &IssuesInput,
    depth: Depth,
    budget: &Budget,
) -> Result<(), GitFailure> {
    let branches = Branches::of(input, budget)?;
    let newest = activity::newest(input, budget)?;
    report.newest_commit_days = newest.map(|newest| groups::days_between(newest, input.now));
    let mut active = HashSet::new();
    if let Some(newest) = newest
        && depth != Depth::Shallow
    {
        let limited = budget.with_share(ACTIVITY_SHARE);
        match activity::find(input, &branches, newest, &limited) {
            Ok((recent, names)) => {
                report.recent = Some(recent);
                active = names;
            }
            Err(error) => report
                .incomplete
                .push(Incomplete::new("recent", error.to_string())),
        }
    }
    let found = branches::find(input, &branches, newest, &active, budget)?;
    report.branches = found.branches.into();
    report.base_branch = found.base;
    Ok(())
}

/// Does what needs the files of the repository.
fn search_files(
    report: &mut IssueReport,
    input: &IssuesInput,
    depth: Depth,
    budget: &Budget,
) -> Result<(), AnalysisError> {
    budget.report(0.2, "reading files");
    let listing = FileList::of(&input.root, Reading::Markers, budget)?;
    report.incomplete.extend(listing.gap());
    budget.report(0.5, "searching remarks in the code");
    let todos = todos::find(&listing, input, budget)?;
    report.todos = todos.uncovered.into();
    report.covered_todos = todos.covered;
    if !todos.complete {
        report.incomplete.push(Incomplete::new(
            "TODOs",
            "there are too many, or the time limit was reached",
        ));
    }
    if depth == Depth::Deep {
        budget.report(0.6, "comparing issues");
        let duplicates = duplicates::find(input, budget)?;
        report.duplicates = duplicates.duplicates.into();
        if !duplicates.complete {
            report.incomplete.push(Incomplete::new(
                "likely duplicates",
                "there are too many issues, or the time limit was reached",
            ));
        }
        budget.report(0.8, "searching files that issues name");
        let pointers = pointers::find(&listing, input, budget)?;
        report.pointers = pointers.pointers.into();
        if !pointers.complete {
            report.incomplete.push(Incomplete::new(
                "files that issues name",
                "there are too many issues, or the time limit was reached",
            ));
        }
    }
    Ok(())
}

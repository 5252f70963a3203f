//! Ages of single lines from `git blame`, for a bounded number of files.

use std::collections::HashMap;
use std::path::Path;

use rayon::prelude::*;

use super::date::{days_between, now};
use crate::Budget;
use crate::git::{self, GitFailure, OwnFilters};
use crate::report::codebase::{Age, AgeBasis};

/// Lines of a file whose age is wanted.
#[derive(Debug)]
pub(crate) struct BlameRequest<'a> {
    pub(crate) path: &'a str,
    pub(crate) lines: Vec<u64>,
}

/// Runs `git blame` on lines; files that the deadline cut off are missing in the result.
pub(crate) fn ages<'a>(
    root: &Path,
    questions: &[BlameRequest<'a>],
    is_shallow: bool,
    budget: &Budget,
) -> Result<HashMap<(&'a str, u64), Age>, GitFailure> {
    let now = now();
    let filters = OwnFilters::of(root, budget)?;
    let ages = questions
        .par_iter()
        .filter_map(|question| {
            let answer = blame(root, question, &filters, budget).ok()?;
            Some(
                answer
                    .into_iter()
                    .map(|origin| {
                        let basis = match origin.time {
                            None => AgeBasis::Uncommitted,
                            // Where the history was cut off, the line may be older than the commit.
                            Some(_) if origin.is_boundary && is_shallow => AgeBasis::AtLeast,
                            Some(_) => AgeBasis::Exact,
                        };
                        let days = origin.time.map_or(0, |time| days_between(time, now));
                        ((question.path, origin.line), Age { days, basis })
                    })
                    .collect::<Vec<_>>(),
            )
        })
        .flatten()
        .collect();
    Ok(ages)
}

/// Where a line comes from.
#[derive(Debug)]
struct Origin {
    line: u64,
    /// Author time of its commit; none when it is not committed.
    time: Option<i64>,
    /// Whether the commit has no parent here.
    is_boundary: bool,
}

fn blame(
    root: &Path,
    question: &BlameRequest<'_>,
    filters: &OwnFilters,
    budget: &Budget,
) -> Result<Vec<Origin>, GitFailure> {
    let ranges: Vec<String> = question
        .lines
        .iter()
        .map(|line| format!("-L{line},{line}"))
        .collect();
    let mut args = vec![
        "blame",
        "--line-porcelain",
        "--no-progress",
        "--no-textconv",
    ];
    args.extend(ranges.iter().map(String::as_str));
    args.extend(["--", question.path]);
    let text = git::collect(filters.command(root, &args), budget)?;
    let mut answers: Vec<Origin> = Vec::new();
    let mut current: Option<(u64, bool)> = None;
    for line in text.split(|&byte| byte == b'\n') {
        if line.starts_with(b"\t") {
            current = None;
        } else if let Some((number, committed)) = current {
            if let Some(time) = line.strip_prefix(b"author-time ") {
                let time = std::str::from_utf8(time)
                    .ok()
                    .and_then(|text| text.parse().ok());
                answers.push(Origin {
                    line: number,
                    time: time.filter(|_| committed),
                    is_boundary: false,
                });
            } else if line == b"boundary"
                && let Some(last) = answers.last_mut()
            {
                last.is_boundary = true;
            }
        } else {
            // A record starts with `<commit> <line then> <line now> …`.
            let mut words = line.split(|&byte| byte == b' ');
            let committed = words
                .next()
                .is_some_and(|id| id.iter().any(|&byte| byte != b'0'));
            let number = words
                .nth(1)
                .and_then(|word| std::str::from_utf8(word).ok()?.parse().ok());
            current = number.map(|number| (number, committed));
        }
    }
    Ok(answers)
}

//! Ages of single lines from `git blame`, for a bounded number of files.

use std::collections::HashMap;
use std::path::Path;

use rayon::prelude::*;

use super::date::{days_between, now};
use crate::Budget;
use crate::git::{self, GitFailure};
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
    budget: &Budget,
) -> HashMap<(&'a str, u64), Age> {
    let now = now();
    questions
        .par_iter()
        .filter_map(|question| {
            let answer = blame(root, question, budget).ok()?;
            Some(
                answer
                    .into_iter()
                    .map(|(line, time)| {
                        let age = match time {
                            Some(time) => Age {
                                days: days_between(time, now),
                                basis: AgeBasis::Exact,
                            },
                            None => Age {
                                days: 0,
                                basis: AgeBasis::Uncommitted,
                            },
                        };
                        ((question.path, line), age)
                    })
                    .collect::<Vec<_>>(),
            )
        })
        .flatten()
        .collect()
}

/// Returns each line with the author time of its commit, `None` when it is not committed.
fn blame(
    root: &Path,
    question: &BlameRequest<'_>,
    budget: &Budget,
) -> Result<Vec<(u64, Option<i64>)>, GitFailure> {
    let ranges: Vec<String> = question
        .lines
        .iter()
        .map(|line| format!("-L{line},{line}"))
        .collect();
    let mut args = vec!["blame", "--line-porcelain", "--no-progress"];
    args.extend(ranges.iter().map(String::as_str));
    args.extend(["--", question.path]);
    let text = git::output(root, &args, budget)?;
    let mut answers = Vec::new();
    let mut current: Option<(u64, bool)> = None;
    for line in text.split(|&byte| byte == b'\n') {
        if line.starts_with(b"\t") {
            current = None;
        } else if let Some((number, committed)) = current {
            if let Some(time) = line.strip_prefix(b"author-time ") {
                let time = std::str::from_utf8(time)
                    .ok()
                    .and_then(|text| text.parse().ok());
                answers.push((number, time.filter(|_| committed)));
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

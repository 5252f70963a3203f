//! TODO, FIXME, HACK and XXX markers that no open issue or task covers.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use regex::Regex;

use super::groups::Known;
use super::input::IssuesInput;
use super::terms::{Rarity, words};
use crate::report::issues::UncoveredTodo;
use crate::text::harmless;
use crate::tree::file_list::FileList;
use crate::tree::markers::FoundMarker;
use crate::{AnalysisError, Budget};

/// Remarks kept; a repository with more has no use for a list.
const MAX_REMARKS: usize = 20_000;

/// Share of a remark's weight that an issue must have to cover it.
const COVERING_SHARE: f32 = 0.5;

/// Numbers of this repository's issues: `other/repo#5` and addresses may be those of another one.
static NUMBER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?:(?:^|[\s(\[:,])#|\bGH-|\bissue #?)(\d{1,9})\b").ok());

/// The findings, and whether all of the input was searched.
pub(super) struct TodoSearch {
    pub(super) uncovered: Vec<UncoveredTodo>,
    pub(super) covered: u32,
    pub(super) complete: bool,
}

/// Finds the markers and checks whether an open issue or task covers them.
pub(super) fn find(
    listing: &FileList,
    input: &IssuesInput,
    budget: &Budget,
) -> Result<TodoSearch, AnalysisError> {
    let known = OpenWorkTerms::of(input);
    let all_issues = Known::of(&input.work).all_issues();
    let mut places: HashMap<(&str, String), usize> = HashMap::new();
    let mut found = TodoSearch {
        uncovered: Vec::new(),
        covered: 0,
        complete: true,
    };
    let remarks = listing
        .entries()
        .iter()
        .flat_map(|file| file.markers.iter().map(move |marker| (file, marker)));
    for (seen, (file, marker)) in remarks.enumerate() {
        budget.check()?;
        if seen == MAX_REMARKS || budget.is_late() {
            found.complete = false;
            break;
        }
        let text = remark(marker);
        match known.judge(&text) {
            Coverage::Covered => found.covered += 1,
            Coverage::Open { names_issue } => {
                let word = marker.kind.word();
                // A bare word says nothing that could be the same.
                let same = places
                    .get(&(word, text.clone()))
                    .filter(|_| text.contains(char::is_alphabetic));
                if let Some(first) = same.and_then(|&at: &usize| found.uncovered.get_mut(at)) {
                    first.more_places += 1;
                    continue;
                }
                places.insert((word, text.clone()), found.uncovered.len());
                found.uncovered.push(UncoveredTodo {
                    path: file.path.clone(),
                    line: u32::try_from(marker.line).unwrap_or(u32::MAX),
                    word: word.to_owned(),
                    text,
                    names_issue: names_issue.filter(|_| all_issues),
                    more_places: 0,
                });
            }
        }
    }
    let urgency = |word: &str| match word {
        "FIXME" => 0,
        "XXX" => 1,
        "HACK" => 2,
        _ => 3,
    };
    found.uncovered.sort_by(|a, b| {
        let rank = |todo: &UncoveredTodo| {
            let is_bare = !todo.text.contains(char::is_alphabetic);
            (is_bare, todo.names_issue.is_none(), urgency(&todo.word))
        };
        (rank(a), &a.path, a.line).cmp(&(rank(b), &b.path, b.line))
    });
    Ok(found)
}

/// Returns what a marker's line says after the word.
fn remark(marker: &FoundMarker) -> String {
    let after = marker
        .text
        .split_once(marker.kind.word())
        .map_or("", |(_, after)| after)
        .trim_start_matches([':', ' ', '-'])
        .trim_end_matches("*/")
        .trim_end_matches("-->");
    harmless(after, 200)
}

enum Coverage {
    Covered,
    Open { names_issue: Option<u64> },
}

/// The words of all open issues and tasks.
struct OpenWorkTerms {
    numbers: HashSet<u64>,
    holders: HashMap<String, Vec<usize>>,
    rarity: Rarity,
}

impl OpenWorkTerms {
    fn of(input: &IssuesInput) -> Self {
        let issues = input
            .work
            .issues
            .iter()
            .map(|issue| format!("{} {}", issue.title, issue.body));
        let pulls = input
            .work
            .pulls
            .iter()
            .map(|pull| format!("{} {}", pull.title, pull.body));
        let tasks = input
            .work
            .tasks
            .iter()
            .map(|task| format!("{} {}", task.title, task.description));
        let texts: Vec<HashSet<String>> = issues
            .chain(pulls)
            .chain(tasks)
            .map(|text| words(&text).into_iter().collect())
            .collect();
        let mut holders: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, words) in texts.iter().enumerate() {
            for word in words {
                holders.entry(word.clone()).or_default().push(index);
            }
        }
        let numbers = input
            .work
            .issues
            .iter()
            .map(|issue| issue.number)
            .chain(input.work.pulls.iter().map(|pull| pull.number));
        Self {
            numbers: numbers.collect(),
            holders,
            rarity: Rarity::of(&texts),
        }
    }

    /// Covered is what names an open issue, or shares at least two words and half its weight with one.
    fn judge(&self, text: &str) -> Coverage {
        let named: Vec<u64> = NUMBER
            .iter()
            .flat_map(|regex| regex.captures_iter(text))
            .filter_map(|found| found[1].parse().ok())
            .collect();
        if named.iter().any(|number| self.numbers.contains(number)) {
            return Coverage::Covered;
        }
        let words: HashSet<String> = words(text).into_iter().collect();
        let total: f32 = words.iter().map(|word| self.rarity.weight(word)).sum();
        let mut shared: HashMap<usize, (f32, u32)> = HashMap::new();
        for word in &words {
            let weight = self.rarity.weight(word);
            for &holder in self.holders.get(word).into_iter().flatten() {
                let entry = shared.entry(holder).or_default();
                entry.0 += weight;
                entry.1 += 1;
            }
        }
        let covered = shared
            .values()
            .any(|(weight, count)| *count >= 2 && *weight >= total * COVERING_SHARE);
        if covered {
            Coverage::Covered
        } else {
            Coverage::Open {
                names_issue: named.first().copied(),
            }
        }
    }
}

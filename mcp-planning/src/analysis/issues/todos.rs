//! Remarks in the code (TODO, FIXME, HACK, XXX) that no open issue or task covers.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::input::IssuesInput;
use super::words::{Rarity, words};
use crate::analysis::paths::name_of;
use crate::analysis::report::issues::UncoveredTodo;
use crate::analysis::text::harmless;
use crate::analysis::tree::file_list::FileList;
use crate::analysis::workers::in_parallel;
use crate::analysis::{AnalysisError, Control};

/// Larger files are generated or data.
const FILE_LIMIT: u64 = 1 << 20;

/// Remarks kept; a repository with more has no use for a list.
const MOST: usize = 20_000;

/// Remarks taken from one file.
const MOST_IN_FILE: usize = 200;

/// Share of a remark's weight that an issue must have to cover it.
const COVERING_SHARE: f32 = 0.5;

/// A remark in a comment: a marker of a comment somewhere before it on the line.
static REMARK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?m)(?://|#|/\*|^[ \t]*\*|--|<!--|;|%)[^\n]{0,200}?\b(TODO|FIXME|HACK|XXX)\b([^\n]{0,400})").ok()
});

static NUMBER: LazyLock<Option<regex::Regex>> =
    LazyLock::new(|| regex::Regex::new(r"(?:#|issues/|\bGH-|\bissue )(\d{1,9})\b").ok());

/// Endings of files that hold prose or data, not code.
const NOT_CODE: [&str; 16] = [
    "csv", "diff", "json", "lock", "log", "map", "md", "patch", "po", "rst", "snap", "sum", "svg",
    "tsv", "txt", "xml",
];

struct Todo {
    path: String,
    line: u32,
    word: String,
    text: String,
}

/// What was found, and whether everything was looked at.
pub(super) struct Found {
    pub(super) uncovered: Vec<UncoveredTodo>,
    pub(super) covered: u32,
    pub(super) complete: bool,
}

/// Finds the remarks and asks of each whether somebody knows of it.
pub(super) fn find(
    listing: &FileList,
    input: &IssuesInput,
    control: &Control,
) -> Result<Found, AnalysisError> {
    let (todos, mut complete) = scan(listing, control)?;
    let known = Known::of(input);
    let mut found = Found {
        uncovered: Vec::new(),
        covered: 0,
        complete: true,
    };
    for todo in todos {
        control.check()?;
        if control.is_late() {
            complete = false;
            break;
        }
        match known.judge(&todo.text) {
            Coverage::Covered => found.covered += 1,
            Coverage::Open { names_issue } => found.uncovered.push(UncoveredTodo {
                path: todo.path,
                line: todo.line,
                word: todo.word,
                text: todo.text,
                names_issue,
            }),
        }
    }
    let urgency = |word: &str| match word {
        "FIXME" => 0,
        "XXX" => 1,
        "HACK" => 2,
        _ => 3,
    };
    found.uncovered.sort_by(|a, b| {
        (a.names_issue.is_none(), urgency(&a.word), &a.path, a.line).cmp(&(
            b.names_issue.is_none(),
            urgency(&b.word),
            &b.path,
            b.line,
        ))
    });
    found.complete = complete;
    Ok(found)
}

fn scan(listing: &FileList, control: &Control) -> Result<(Vec<Todo>, bool), AnalysisError> {
    let files: Vec<&String> = listing.files.iter().filter(|path| is_code(path)).collect();
    let (found, mut complete) = in_parallel(&files, control, |path| {
        let bytes = listing.bytes(path, FILE_LIMIT).unwrap_or_default();
        todos_in(path, &bytes)
    });
    control.check()?;
    let mut todos: Vec<Todo> = found.into_iter().flatten().collect();
    if todos.len() > MOST {
        todos.truncate(MOST);
        complete = false;
    }
    Ok((todos, complete))
}

fn is_code(path: &str) -> bool {
    let ending = name_of(path)
        .rsplit_once('.')
        .map_or("", |(_, ending)| ending);
    let minified = path.ends_with(".min.js") || path.ends_with(".min.css");
    NOT_CODE.binary_search(&ending).is_err()
        && !minified
        && !path.split('/').any(|part| part == "vendor")
}

fn todos_in(path: &str, bytes: &[u8]) -> Vec<Todo> {
    let head = &bytes[..bytes.len().min(1024)];
    let any = ["TODO", "FIXME", "HACK", "XXX"]
        .iter()
        .any(|word| memchr::memmem::find(bytes, word.as_bytes()).is_some());
    if !any || memchr::memchr(0, head).is_some() {
        return Vec::new();
    }
    let mut todos = Vec::new();
    let (mut line, mut counted) = (1, 0);
    for found in REMARK
        .iter()
        .flat_map(|regex| regex.captures_iter(bytes))
        .take(MOST_IN_FILE)
    {
        let (Some(word), Some(rest)) = (found.get(1), found.get(2)) else {
            continue;
        };
        line += memchr::memchr_iter(b'\n', &bytes[counted..word.start()]).count();
        counted = word.start();
        let text = String::from_utf8_lossy(rest.as_bytes());
        let text = text
            .trim_start_matches([':', ' ', '-'])
            .trim_end_matches("*/")
            .trim_end_matches("-->");
        todos.push(Todo {
            path: path.to_owned(),
            line: u32::try_from(line).unwrap_or(u32::MAX),
            word: String::from_utf8_lossy(word.as_bytes()).into_owned(),
            text: harmless(text, 200),
        });
    }
    todos
}

enum Coverage {
    Covered,
    Open { names_issue: Option<u64> },
}

/// The words of all open issues and tasks.
struct Known {
    numbers: HashSet<u64>,
    holders: HashMap<String, Vec<usize>>,
    rarity: Rarity,
}

impl Known {
    fn of(input: &IssuesInput) -> Self {
        let issues = input
            .open_issues
            .iter()
            .map(|issue| format!("{} {}", issue.title, issue.body));
        let pulls = input
            .pulls
            .iter()
            .map(|pull| format!("{} {}", pull.title, pull.body));
        let tasks = input
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
            .open_issues
            .iter()
            .map(|issue| issue.number)
            .chain(input.pulls.iter().map(|pull| pull.number));
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

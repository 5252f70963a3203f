//! Conventions: how commits are worded, where tests are and how they are named, how errors are handled.
//!
//! Only what was counted, with the counts, and only where a clear majority does it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use rayon::prelude::*;
use regex::Regex;

use super::packages::Sources;
use crate::Budget;
use crate::git;
use crate::paths::{folder_of, name_of};
use crate::report::Listing;
use crate::report::activity::Convention;
use crate::text::{harmless, shortened};
use crate::tree::classify::Origin;
use crate::tree::language::LanguageId;
use crate::tree::syntax::Nature;
use crate::tree::working_tree::TreeFile;

/// Commits looked at, the newest first.
const MAX_COMMITS: usize = 500;

/// Files of one language that are read, spread evenly over all.
const MAX_FILES: usize = 300;

/// Fewer cases show no habit.
const MIN_CASES: u64 = 10;

/// Share from which on a habit is one.
const MIN_SHARE: f64 = 0.7;

static CONVENTIONAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(?:feat|fix|chore|docs|refactor|test|tests|perf|build|ci|style|revert)(?:\([^()]{1,60}\))?!?: \S").ok()
});
static AREA: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^[A-Za-z0-9_./*{},\- ]{1,40}: \S").ok());
static BRACKET: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^\[[^\[\]]{1,40}\] ?\S").ok());
static NUMBER_AT_END: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\(#\d{1,7}\)$").ok());
static TICKET: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^\[?[A-Z][A-Z0-9]{1,9}-\d{1,7}\b").ok());

/// Counts the habits of a repository; a folder without git has none in its commits.
pub(crate) fn find(sources: Sources<'_>, budget: &Budget) -> Listing<Convention> {
    let mut found = Vec::new();
    found.extend(commits(sources.root, budget));
    found.extend(test_files(sources));
    if !budget.must_stop() {
        found.extend(code(sources, budget));
    }
    found.into()
}

/// Makes the statement if the share is high enough.
fn habit(what: String, seen: u64, of: u64, examples: Vec<String>) -> Option<Convention> {
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    let share = seen as f64 / of.max(1) as f64;
    (of >= MIN_CASES && share >= MIN_SHARE).then_some(Convention {
        what,
        seen,
        of,
        examples,
    })
}

fn commits(root: &Path, budget: &Budget) -> Vec<Convention> {
    let args = [
        "log",
        "HEAD",
        "--no-merges",
        &format!("--max-count={MAX_COMMITS}"),
        "--format=%x01%aN%x02%s%x02%(trailers:key=Signed-off-by,valueonly,separator=%x20)",
    ];
    let Ok(log) = git::output(root, &args, budget) else {
        return Vec::new();
    };
    let log = String::from_utf8_lossy(&log);
    let commits: Vec<(&str, bool)> = log
        .split('\x01')
        .filter_map(|commit| {
            let mut fields = commit.split('\x02');
            let author = fields.next()?;
            let subject = fields.next()?;
            let is_signed = !fields.next()?.trim().is_empty();
            (!author.ends_with("[bot]")).then_some((subject, is_signed))
        })
        .collect();
    let of = commits.len() as u64;
    let matching = |pattern: &LazyLock<Option<Regex>>| {
        let pattern = pattern.as_ref();
        commits
            .iter()
            .map(|(subject, _)| *subject)
            .filter(|subject| pattern.is_some_and(|pattern| pattern.is_match(subject)))
            .collect::<Vec<&str>>()
    };
    let said = |what: &str, subjects: &[&str]| {
        let examples = subjects
            .iter()
            .take(2)
            .map(|subject| harmless(subject, 100));
        habit(
            what.to_owned(),
            subjects.len() as u64,
            of,
            examples.collect(),
        )
    };
    let mut found = Vec::new();
    // The first that fits: a conventional commit has an area as well.
    let starts = [
        (
            "commit subjects are conventional commits: `type(scope): what`",
            &CONVENTIONAL,
        ),
        ("commit subjects start with a ticket", &TICKET),
        ("commit subjects start with `[area]`", &BRACKET),
        ("commit subjects start with `area: `", &AREA),
    ];
    found.extend(
        starts
            .iter()
            .find_map(|(what, pattern)| said(what, &matching(pattern))),
    );
    found.extend(said(
        "commit subjects end with the number of a pull request or issue: `(#1)`",
        &matching(&NUMBER_AT_END),
    ));
    let signed = commits.iter().filter(|(_, is_signed)| *is_signed).count() as u64;
    found.extend(habit(
        "commits are signed off: `Signed-off-by:`".to_owned(),
        signed,
        of,
        Vec::new(),
    ));
    found
}

/// Returns how the name of a test file is built.
fn naming(name: &str) -> Option<String> {
    let (stem, ending) = name.split_once('.')?;
    for word in ["test", "spec"] {
        if let Some(rest) = ending
            .strip_prefix(word)
            .and_then(|rest| rest.strip_prefix('.'))
        {
            return Some(format!("*.{word}.{rest}"));
        }
        if stem
            .strip_suffix(word)
            .is_some_and(|rest| rest.ends_with('_'))
        {
            return Some(format!("*_{word}.{ending}"));
        }
    }
    if stem.starts_with("test_") {
        return Some(format!("test_*.{ending}"));
    }
    ["Tests", "Test", "Spec", "IT"]
        .iter()
        .find(|word| stem.ends_with(**word))
        .map(|word| format!("*{word}.{ending}"))
}

/// Returns where a test file is: in a folder of tests, or beside the code.
fn place(path: &str) -> String {
    const FOLDERS: &[&str] = &[
        "tests",
        "test",
        "__tests__",
        "spec",
        "specs",
        "e2e",
        "testing",
        "t",
    ];
    let folder = folder_of(path);
    if folder.contains("src/test/java") {
        return "below `src/test/java`".to_owned();
    }
    folder
        .split('/')
        .find(|part| FOLDERS.contains(part))
        .map_or_else(
            || "beside the code".to_owned(),
            |part| format!("in folders `{part}`"),
        )
}

fn test_files(sources: Sources<'_>) -> Vec<Convention> {
    let is_program = |file: &&TreeFile| {
        file.origin == Origin::Own
            && file
                .language()
                .is_some_and(|language| language.get().nature == Nature::Program)
    };
    let tests: Vec<&str> = sources
        .tree
        .files
        .iter()
        .filter(|file| file.is_test)
        .filter(is_program)
        .map(|file| file.path.as_str())
        .collect();
    // Helpers and data among the tests have no such names.
    let named: Vec<&str> = tests
        .iter()
        .copied()
        .filter(|path| naming(name_of(path)).is_some())
        .collect();
    let mut found = Vec::new();
    for (what, sample, key) in [
        (
            "test files are named",
            &tests,
            Box::new(|path: &str| naming(name_of(path)).map(|name| format!("`{name}`")))
                as Box<dyn Fn(&str) -> Option<String>>,
        ),
        (
            "test files are",
            &named,
            Box::new(|path: &str| Some(place(path))),
        ),
    ] {
        let keys: Vec<(String, &str)> = sample
            .iter()
            .filter_map(|path| Some((key(path)?, *path)))
            .collect();
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for (key, _) in &keys {
            *counts.entry(key).or_default() += 1;
        }
        let Some((most, seen)) = counts.into_iter().max_by_key(|(_, count)| *count) else {
            continue;
        };
        let examples = keys.iter().filter(|(key, _)| key == most).take(2);
        let examples = examples.map(|(_, path)| shortened(path, 160)).collect();
        found.extend(habit(
            format!("{what} {most}"),
            seen,
            sample.len() as u64,
            examples,
        ));
    }
    found
}

/// One thing to count in the code of a language.
struct Count {
    language: &'static str,
    /// In tests, or in production code.
    tests: bool,
    what: &'static str,
    /// What was done this way.
    this: &'static str,
    /// What was done another way.
    other: &'static str,
}

const COUNTS: &[Count] = &[
    Count {
        language: "Go",
        tests: false,
        what: "errors are wrapped with `%w` where `fmt.Errorf` formats an error",
        this: r#"fmt\.Errorf\("[^"\n]*%w"#,
        other: r#"fmt\.Errorf\("[^"\n%]*%[vs]"?[^\n]*, err\)"#,
    },
    Count {
        language: "Rust",
        tests: true,
        what: "Rust test functions have no prefix `test_`",
        this: r"#\[(?:tokio::)?test\][ \t]*\n[ \t]*(?:async )?fn (?:[a-su-z]|t[a-df-z]|te[a-rt-z]|tes[a-su-z]|test[a-z])",
        other: r"#\[(?:tokio::)?test\][ \t]*\n[ \t]*(?:async )?fn test_",
    },
    Count {
        language: "Rust",
        tests: true,
        what: "Rust test functions are named `test_…`",
        this: r"#\[(?:tokio::)?test\][ \t]*\n[ \t]*(?:async )?fn test_",
        other: r"#\[(?:tokio::)?test\][ \t]*\n[ \t]*(?:async )?fn (?:[a-su-z]|t[a-df-z]|te[a-rt-z]|tes[a-su-z]|test[a-z])",
    },
    Count {
        language: "Python",
        tests: true,
        what: "Python tests are functions of modules, not methods",
        this: r"(?m)^(?:async )?def test_",
        other: r"(?m)^[ \t]+(?:async )?def test_\w+\(self",
    },
    Count {
        language: "Python",
        tests: true,
        what: "Python tests are methods of classes",
        this: r"(?m)^[ \t]+(?:async )?def test_\w+\(self",
        other: r"(?m)^(?:async )?def test_",
    },
    Count {
        language: "TypeScript",
        tests: true,
        what: "TypeScript tests are written with `test(`",
        this: r"(?m)^[ \t]*test(?:\.\w+)?\(",
        other: r"(?m)^[ \t]*it(?:\.\w+)?\(",
    },
    Count {
        language: "TypeScript",
        tests: true,
        what: "TypeScript tests are written with `it(`",
        this: r"(?m)^[ \t]*it(?:\.\w+)?\(",
        other: r"(?m)^[ \t]*test(?:\.\w+)?\(",
    },
    Count {
        language: "JavaScript",
        tests: true,
        what: "JavaScript tests are written with `test(`",
        this: r"(?m)^[ \t]*test(?:\.\w+)?\(",
        other: r"(?m)^[ \t]*it(?:\.\w+)?\(",
    },
    Count {
        language: "JavaScript",
        tests: true,
        what: "JavaScript tests are written with `it(`",
        this: r"(?m)^[ \t]*it(?:\.\w+)?\(",
        other: r"(?m)^[ \t]*test(?:\.\w+)?\(",
    },
];

fn code(sources: Sources<'_>, budget: &Budget) -> Vec<Convention> {
    let mut found = Vec::new();
    for tests in [false, true] {
        let mut languages: Vec<&str> = COUNTS
            .iter()
            .filter(|count| count.tests == tests)
            .map(|count| count.language)
            .collect();
        languages.dedup();
        for language in languages {
            found.extend(of_language(sources, language, tests, budget));
        }
    }
    found
}

fn of_language(
    sources: Sources<'_>,
    language: &str,
    tests: bool,
    budget: &Budget,
) -> Vec<Convention> {
    let files: Vec<&TreeFile> = sources
        .tree
        .files
        .iter()
        .filter(|file| {
            file.origin == Origin::Own && file.language().map(LanguageId::name) == Some(language)
        })
        // Tests of Rust stand in the files that they test.
        .filter(|file| file.is_test == tests || language == "Rust")
        .collect();
    let step = files.len().div_ceil(MAX_FILES).max(1);
    let counts: Vec<(&Count, Regex, Regex)> = COUNTS
        .iter()
        .filter(|count| count.language == language && count.tests == tests)
        .filter_map(|count| {
            Some((
                count,
                Regex::new(count.this).ok()?,
                Regex::new(count.other).ok()?,
            ))
        })
        .collect();
    let sample: Vec<&TreeFile> = files.into_iter().step_by(step).collect();
    let seen: Vec<Vec<(u64, u64)>> = sample
        .par_iter()
        .filter(|_| !budget.must_stop())
        .filter_map(|file| sources.text(&file.path))
        .map(|text| {
            let number = |pattern: &Regex| pattern.find_iter(&text).count() as u64;
            counts
                .iter()
                .map(|(_, this, other)| (number(this), number(other)))
                .collect()
        })
        .collect();
    counts
        .iter()
        .enumerate()
        .filter_map(|(at, (count, ..))| {
            let this: u64 = seen.iter().map(|file| file[at].0).sum();
            let other: u64 = seen.iter().map(|file| file[at].1).sum();
            habit(count.what.to_owned(), this, this + other, Vec::new())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_test_files_have_a_form() {
        for (name, form) in [
            ("a.test.ts", Some("*.test.ts")),
            ("a_test.go", Some("*_test.go")),
            ("test_a.py", Some("test_*.py")),
            ("ATests.java", Some("*Tests.java")),
            ("support.rs", None),
        ] {
            assert_eq!(naming(name).as_deref(), form, "{name}");
        }
    }

    #[test]
    fn every_pattern_is_valid() {
        for count in COUNTS {
            assert!(Regex::new(count.this).is_ok() && Regex::new(count.other).is_ok());
        }
    }
}

//! Scripts of the repository, judged by what they run: a name alone (`install-for-tests`, `check-start`) says little.

use std::collections::BTreeSet;

use super::place::Place;
use super::purpose::{by_name, words};
use super::shell;
use super::words::{LINTERS, TEST_RUNNERS};
use crate::architecture::packages::join;
use crate::paths::{folder_of, name_of};
use crate::report::architecture::CommandPurpose;

/// How far scripts that call scripts are followed.
const MAX_LEVEL: usize = 3;

/// First words of names that say what is done; further words only say with what.
const VERBS: &[&str] = &[
    "test", "tests", "build", "compile", "release", "publish", "demo", "serve", "start", "dev",
];

/// Judges the words of a command.
pub(super) type Judge = fn(&[String], Place<'_>) -> Option<CommandPurpose>;

/// Returns the purpose of a script of the repository, if what it runs agrees with its name.
pub(super) fn by_script(path: &str, place: Place<'_>, judge: Judge) -> Option<CommandPurpose> {
    if path.is_empty() || place.level >= MAX_LEVEL {
        return None;
    }
    let path = join(place.folder, path)?;
    let text = place.sources.text(&path)?;
    let stem = name_of(&path).split('.').next().unwrap_or(&path);
    let runs = purposes(&text, &path, place, judge);
    let in_pipeline = matches!(name_of(folder_of(&path)), ".ci" | "ci");
    if stem == "ci" || (in_pipeline && matches!(stem, "run" | "all" | "main")) {
        return Some(CommandPurpose::ContinuousIntegration);
    }
    let named = by_name(stem)?;
    let first = words(stem).into_iter().next().unwrap_or_default();
    let is_said = VERBS.contains(&first.as_str());
    // What starts something does other things before.
    let agrees = runs.contains(&named) || runs.is_empty() || named == CommandPurpose::Run;
    (runs.contains(&named) || (agrees && is_said)).then_some(named)
}

/// Collects what a script does, also in its functions and under conditions.
fn purposes(text: &str, path: &str, place: Place<'_>, judge: Judge) -> BTreeSet<CommandPurpose> {
    let first = text.lines().next().unwrap_or_default();
    let is_shell = if first.starts_with("#!") {
        ["sh", "bash", "zsh", "dash"]
            .iter()
            .any(|shell| first.split(['/', ' ']).any(|word| word == *shell))
    } else {
        matches!(name_of(path).split_once('.'), None | Some((_, "sh")))
    };
    if !is_shell {
        return named_programs(text);
    }
    let inside = Place {
        level: place.level + 1,
        ..place
    };
    let top = Place {
        folder: "",
        ..inside
    };
    let mut found = BTreeSet::new();
    for line in text
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'))
    {
        for command in shell::commands(line) {
            // `if cargo test`, `phase "unit tests" cargo test`, `time make`.
            for at in 0..command.words.len().min(5) {
                let words = &command.words[at..];
                found.extend(
                    [inside, top]
                        .into_iter()
                        .find_map(|place| judge(words, place)),
                );
            }
        }
    }
    found
}

/// Looks for programs in the words of a script that is not shell: `run(["pytest"])`.
fn named_programs(text: &str) -> BTreeSet<CommandPurpose> {
    let mut found = BTreeSet::new();
    let quoted = text
        .lines()
        .flat_map(|line| line.split(['"', '\'', '`']).skip(1).step_by(2));
    for word in quoted.flat_map(str::split_whitespace) {
        if TEST_RUNNERS.contains(&word) {
            found.insert(CommandPurpose::Test);
        } else if LINTERS.contains(&word) {
            found.insert(CommandPurpose::Lint);
        }
    }
    found
}

//! The entry of a task of a task runner: its purpose, by its name and by what it runs, and how it runs one test.

use super::one_test::one_test;
use super::place::Place;
use super::programs::judge;
use super::purpose::{by_name, words};
use super::shell;
use crate::report::architecture::{CommandPurpose, FoundCommand};
use crate::text::harmless;

/// Longest text of `runs`.
const MAX_RUNS_LENGTH: usize = 160;

/// Returns the purpose of a script: what its name says, else what it runs.
pub(super) fn of_script(name: &str, runs: &str, place: Place<'_>) -> CommandPurpose {
    let named = by_name(name);
    // `check` may mean anything.
    if let Some(purpose) = named.filter(|_| name != "check") {
        return purpose;
    }
    let says_other = words(name)
        .iter()
        .any(|word| ["bench", "benchmark", "benchmarks", "clean", "docs"].contains(&word.as_str()));
    // Of several commands none is the purpose.
    let known = match shell::commands(runs).as_slice() {
        [only] if !says_other => judge(&only.words, place).map(|known| known.purpose),
        _ => None,
    };
    known.or(named).unwrap_or(CommandPurpose::Other)
}

/// Makes the entry of a task from the lines that it runs.
pub(super) fn task(
    place: Place<'_>,
    command: String,
    source: &str,
    purpose: CommandPurpose,
    runs: &str,
) -> FoundCommand {
    let one_test = shell::commands(runs)
        .iter()
        .find_map(|runs| one_test(runs, judge(&runs.words, place)?, place));
    FoundCommand {
        purpose,
        command,
        source: source.to_owned(),
        directory: (!place.folder.is_empty()).then(|| place.folder.to_owned()),
        environment: Vec::new(),
        runs: (!runs.trim().is_empty())
            .then(|| harmless(&runs.trim().replace('\n', "; "), MAX_RUNS_LENGTH)),
        one_test,
        also_in: 0,
    }
}

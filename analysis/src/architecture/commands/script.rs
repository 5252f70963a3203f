//! Follows a script: `cd`, `export`, blocks of `if` and `for`, and the commands that can be offered from it.

use std::collections::{BTreeMap, HashSet};

use model::hidden::first_control;

use super::one_test::one_test;
use super::place::{Place, is_folder};
use super::programs::judge;
use super::shell::{self, Simple};
use super::words::is_assignment;
use crate::architecture::packages::{Sources, join};
use crate::paths::name_of;
use crate::report::architecture::FoundCommand;

/// Longer commands are programs.
const MAX_COMMAND_LENGTH: usize = 300;

/// Variables that every shell has.
const USUAL: &[&str] = &["HOME", "PWD", "USER", "TMPDIR"];

/// Where a script starts.
pub(super) struct Start<'a> {
    pub(super) sources: Sources<'a>,
    pub(super) source: &'a str,
    pub(super) is_document: bool,
    /// Relative to the top; nothing is known of a script whose folder is not in the tree.
    pub(super) folder: String,
    /// Literal values of variables that the step sets.
    pub(super) environment: BTreeMap<String, String>,
    /// Variables set further out, shown only with commands that use them.
    pub(super) outer: BTreeMap<String, String>,
}

/// Returns the commands of a script whose purpose is known, each with its folder and variables.
pub(super) fn follow(start: &Start<'_>, script: &str) -> Vec<FoundCommand> {
    let mut folder = Some(start.folder.clone());
    let mut environment = start.environment.clone();
    let mut outer = start.outer.clone();
    let mut made: HashSet<String> = HashSet::new();
    let mut cloned: Option<String> = None;
    let mut depth = 0_usize;
    let mut found = Vec::new();
    for command in shell::commands(script) {
        let first = command.words.first().map_or("", String::as_str);
        // What stands in a block runs only under its condition.
        match first {
            "if" | "case" | "for" | "while" | "until" | "select" | "{" | "function" => depth += 1,
            _ if command.text.ends_with('{') => depth += 1,
            "fi" | "esac" | "done" | "}" => {
                depth = depth.saturating_sub(1);
                continue;
            }
            _ => {}
        }
        if depth > 0 {
            continue;
        }
        let argument = command.words[1..]
            .iter()
            .find(|word| !word.starts_with('-'));
        match first {
            "cd" | "pushd" => {
                let target = argument.filter(|_| !command.unusable && command.variables.is_empty());
                folder = folder.and_then(|from| {
                    let target = target?;
                    if cloned.as_deref() == Some(target.trim_end_matches('/')) {
                        // A document clones the project itself, a pipeline another one.
                        return start.is_document.then(String::new);
                    }
                    let to = join(&from, target).filter(|_| !target.starts_with('/'))?;
                    (made.contains(&to) || is_folder(start.sources, &to)).then_some(to)
                });
            }
            "popd" => folder = None,
            "mkdir" => {
                let made_here = folder
                    .as_ref()
                    .zip(argument)
                    .and_then(|(from, name)| join(from, name));
                made.extend(made_here);
            }
            "git" if argument.is_some_and(|word| word == "clone") => {
                let last = command.words.iter().rfind(|word| !word.starts_with('-'));
                cloned = last.map(|url| {
                    name_of(url.trim_end_matches('/'))
                        .trim_end_matches(".git")
                        .to_owned()
                });
            }
            "export" => {
                for word in command.words[1..].iter().filter(|word| is_assignment(word)) {
                    set(&mut environment, &mut outer, word, &command);
                }
            }
            _ if command.words.iter().all(|word| is_assignment(word)) => {
                for word in &command.words {
                    set(&mut BTreeMap::new(), &mut outer, word, &command);
                }
            }
            _ => {
                let entry = folder
                    .as_ref()
                    // In a folder that the script makes, only what reaches out of it is of the repository.
                    .filter(|folder| !made.contains(*folder) || command.text.contains(".."))
                    .and_then(|folder| offer(start, folder, &environment, &outer, &command));
                found.extend(entry);
            }
        }
    }
    found
}

/// Sets a variable to a literal value, or forgets it.
fn set(
    environment: &mut BTreeMap<String, String>,
    outer: &mut BTreeMap<String, String>,
    assignment: &str,
    command: &Simple,
) {
    let Some((name, value)) = assignment.split_once('=') else {
        return;
    };
    environment.remove(name);
    outer.remove(name);
    if command.variables.is_empty()
        && !command.unusable
        && !value.contains("$(")
        && !value.contains('`')
    {
        let exported = command.words.first().is_some_and(|word| word == "export");
        let variables = if exported { environment } else { outer };
        variables.insert(name.to_owned(), value.to_owned());
    }
}

fn offer(
    start: &Start<'_>,
    folder: &str,
    environment: &BTreeMap<String, String>,
    outer: &BTreeMap<String, String>,
    command: &Simple,
) -> Option<FoundCommand> {
    let is_placeholder = |word: &String| {
        word == "..."
            || word.contains('…')
            || word.starts_with('[')
            || word.contains("path/to")
            || (word.len() > 3
                && word.contains(|c: char| c.is_ascii_uppercase())
                && word.bytes().all(|b| b.is_ascii_uppercase() || b == b'_'))
    };
    if command.unusable
        || command.text.len() > MAX_COMMAND_LENGTH
        || first_control(&command.text, &[]).is_some()
        || command.words.iter().any(is_placeholder)
    {
        return None;
    }
    let place = Place {
        sources: start.sources,
        folder,
        level: 0,
    };
    let known = judge(&command.words, place)?;
    let mut shown = environment.clone();
    for name in command
        .variables
        .iter()
        .filter(|name| !USUAL.contains(&name.as_str()))
    {
        if !shown.contains_key(name) {
            shown.insert(name.clone(), outer.get(name)?.clone());
        }
    }
    Some(FoundCommand {
        purpose: known.purpose,
        command: command.text.clone(),
        source: start.source.to_owned(),
        directory: (!folder.is_empty()).then(|| folder.to_owned()),
        environment: shown
            .into_iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect(),
        runs: None,
        one_test: one_test(command, known, place),
        also_in: 0,
    })
}

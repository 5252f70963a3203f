//! tox: the environments of `tox.ini` or `[tool.tox]` in `pyproject.toml`, and the one that runs the tests.

use super::place::{Place, text_in};
use super::recipes::{MAX_TASKS, is_task_name};
use super::task_entry::{of_script, task};
use crate::architecture::packages::join;
use crate::report::architecture::{CommandPurpose, FoundCommand};

/// Most environments that a list with braces stands for.
const MAX_LISTED: usize = 200;

/// Reads the environments of tox: `[testenv:lint]`, or `[tool.tox.env.lint]` in `pyproject.toml`.
pub(super) fn find(place: Place<'_>) -> Vec<FoundCommand> {
    let mut environments: Vec<(Option<String>, String)> = Vec::new();
    let mut listed: Vec<String> = Vec::new();
    let mut path = join(place.folder, "tox.ini").unwrap_or_default();
    if let Some(text) = place.sources.text(&path) {
        listed = without_braces(&listed_in(&text));
        let mut inside = None;
        for line in text.lines() {
            if let Some(section) = line.strip_prefix('[') {
                let section = section.trim_end().trim_end_matches(']');
                inside = match section.strip_prefix("testenv") {
                    Some("") => Some(None),
                    Some(name) => name
                        .strip_prefix(':')
                        .filter(|name| is_task_name(name))
                        .map(|name| Some(name.to_owned())),
                    None => None,
                };
                environments.extend(inside.clone().map(|name| (name, String::new())));
            } else if inside.is_some()
                && let Some((_, text)) = environments.last_mut()
            {
                let line = line.trim();
                let (key, value) = line
                    .split_once('=')
                    .map_or(("", line), |(key, value)| (key.trim(), value));
                if key == "commands" || (key.is_empty() || key.contains(' ')) && !text.is_empty() {
                    text.push_str(if key == "commands" {
                        value.trim()
                    } else {
                        line
                    });
                    text.push('\n');
                }
            }
        }
    } else if let Some(text) = text_in(place, "pyproject.toml") {
        path = join(place.folder, "pyproject.toml").unwrap_or_default();
        let manifest: Option<toml::Table> = text.parse().ok();
        let tox = manifest
            .as_ref()
            .and_then(|manifest| manifest.get("tool")?.get("tox"));
        let run_base = tox.and_then(|tox| tox.get("env_run_base"));
        let names = tox.and_then(|tox| tox.get("env_list")?.as_array());
        let names = names.into_iter().flatten().filter_map(toml::Value::as_str);
        listed.extend(names.map(str::to_owned));
        environments.extend(run_base.map(|base| (None, command_of(base))));
        let env = tox.and_then(|tox| tox.get("env")?.as_table());
        for (name, environment) in env
            .into_iter()
            .flatten()
            .filter(|(name, _)| is_task_name(name))
        {
            environments.push((Some(name.clone()), command_of(environment)));
        }
    }
    let named: Vec<String> = environments
        .iter()
        .filter_map(|(name, _)| name.clone())
        .collect();
    let default = environment_of_tests(&listed, &named);
    let entry = |(name, runs): (Option<String>, String)| {
        let command = name
            .as_ref()
            .map_or("tox".to_owned(), |name| format!("tox -e {name}"));
        let purpose = name
            .as_ref()
            .map_or(CommandPurpose::Test, |name| of_script(name, &runs, place));
        let mut found = task(place, command, &path, purpose, &runs);
        // tox hands arguments on only where its configuration says so.
        found.one_test = found
            .one_test
            .filter(|_| runs.contains("posargs"))
            .and_then(|one| {
                let at = one.find("PATH")?;
                // Without a name it would run them all, those without tests too.
                let environment = name.as_deref().or(default.as_deref())?;
                Some(format!("tox -e {environment} -- {}", &one[at..]))
            });
        found
    };
    environments
        .into_iter()
        .take(MAX_TASKS)
        .map(entry)
        .collect()
}

/// Returns the commands of an environment in `pyproject.toml`: lists of words.
fn command_of(environment: &toml::Value) -> String {
    let commands = environment.get("commands").and_then(toml::Value::as_array);
    let mut text = String::new();
    for words in commands
        .into_iter()
        .flatten()
        .filter_map(toml::Value::as_array)
    {
        let words: Vec<&str> = words
            .iter()
            .filter_map(|word| {
                if word.is_table() {
                    Some("{posargs}")
                } else {
                    word.as_str()
                }
            })
            .collect();
        text.push_str(&words.join(" "));
        text.push('\n');
    }
    text
}

/// Returns the text of `envlist` in `[tox]`, which may go on over indented lines.
fn listed_in(text: &str) -> String {
    let mut section = "";
    let mut found = String::new();
    let mut inside = false;
    for line in text.lines() {
        if line.starts_with('[') {
            section = line.trim_end();
        }
        let is_more = line.starts_with([' ', '\t']);
        if let Some((key, value)) = line.split_once('=')
            && !is_more
        {
            inside = section == "[tox]" && matches!(key.trim(), "envlist" | "env_list");
            if inside {
                found.push_str(value);
            }
        } else if inside && is_more {
            found.push(',');
            found.push_str(line.split('#').next().unwrap_or_default());
        }
    }
    found
}

/// Takes braces apart: `py{310,311}-{a,b}` stands for four environments.
fn without_braces(list: &str) -> Vec<String> {
    let mut open: Vec<String> = vec![String::new()];
    let mut depth = 0_usize;
    for character in list.chars() {
        depth += usize::from(character == '{');
        depth = depth.saturating_sub(usize::from(character == '}'));
        match (character, open.last_mut()) {
            (',' | ' ' | '\t', _) if depth == 0 => open.push(String::new()),
            (_, Some(name)) if !character.is_whitespace() => name.push(character),
            _ => {}
        }
    }
    open.reverse();
    let mut found = Vec::new();
    while let Some(name) = open.pop() {
        if found.len() + open.len() > MAX_LISTED {
            break;
        }
        let braces = name.split_once('{').and_then(|(before, rest)| {
            let (inside, after) = rest.split_once('}')?;
            Some((before, inside, after))
        });
        match braces {
            Some((before, inside, after)) => open.extend(
                inside
                    .rsplit(',')
                    .map(|factor| format!("{before}{factor}{after}")),
            ),
            None if is_task_name(&name) => found.push(name),
            None => {}
        }
    }
    found
}

/// Returns an environment with the commands of `[testenv]`: one that has no section of its own.
fn environment_of_tests(listed: &[String], named: &[String]) -> Option<String> {
    let is_python = |name: &str| {
        name.strip_prefix("py")
            .is_some_and(|version| version.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let mut shared = listed.iter().filter(|name| !named.contains(name));
    let is_plain = listed.is_empty() || shared.clone().any(|name| is_python(name));
    if is_plain && !named.iter().any(|name| name == "py") {
        // That of the Python which runs tox: the others may not be installed.
        return Some("py".to_owned());
    }
    shared
        .clone()
        .find(|name| name.starts_with("py") || name.contains("-py"))
        .or_else(|| {
            shared.find(|name| {
                super::purpose::by_name(name).is_none_or(|known| known == CommandPurpose::Test)
                    && name.as_str() != "docs"
            })
        })
        .cloned()
}

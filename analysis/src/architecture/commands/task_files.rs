//! Task runners: Makefile, justfile, Taskfile, tox, nox, scripts of `pyproject.toml`, `package.json` and `composer.json`.

use serde_json::Value;

use super::one_test::one_test;
use super::place::{Place, first_of, text_in};
use super::programs::judge;
use super::purpose::{by_name, by_target, words};
use super::recipes::{self, MAX_TASKS, Recipe, is_task_name};
use super::shell;
use crate::architecture::packages::join;
use crate::report::architecture::{CommandPurpose, FoundCommand};
use crate::text::harmless;

/// Longest text of `runs`.
const MAX_RUNS_LENGTH: usize = 160;

/// Collects the tasks of all task runners of a folder.
pub(super) fn find(place: Place<'_>) -> Vec<FoundCommand> {
    [
        make,
        just,
        taskfile,
        tox,
        nox,
        pyproject,
        composer,
        cargo_aliases,
    ]
    .into_iter()
    .flat_map(|read| read(place))
    .collect()
}

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
        .find_map(|runs| one_test(runs, judge(&runs.words, place)?));
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

fn make(place: Place<'_>) -> Vec<FoundCommand> {
    recipes::make(place).map_or_else(Vec::new, |(path, recipes)| {
        of_recipes(place, &path, recipes, "make")
    })
}

fn just(place: Place<'_>) -> Vec<FoundCommand> {
    recipes::just(place).map_or_else(Vec::new, |(path, recipes)| {
        of_recipes(place, &path, recipes, "just")
    })
}

fn of_recipes(
    place: Place<'_>,
    path: &str,
    recipes: Vec<Recipe>,
    program: &str,
) -> Vec<FoundCommand> {
    let entry = |Recipe { name, runs }: Recipe| {
        let purpose = by_target(&name).filter(|_| name != "check");
        let purpose = purpose.unwrap_or_else(|| of_script(&name, &runs, place));
        task(place, format!("{program} {name}"), path, purpose, &runs)
    };
    recipes.into_iter().map(entry).collect()
}

fn taskfile(place: Place<'_>) -> Vec<FoundCommand> {
    let (path, tasks) = recipes::taskfile(place).unwrap_or_default();
    let entry = |name: String| {
        let purpose = of_script(&name, "", place);
        task(place, format!("task {name}"), &path, purpose, "")
    };
    tasks.into_iter().map(entry).collect()
}

/// Reads the environments of tox: `[testenv:lint]`, or `[tool.tox.env.lint]` in `pyproject.toml`.
fn tox(place: Place<'_>) -> Vec<FoundCommand> {
    let mut environments: Vec<(Option<String>, String)> = Vec::new();
    let mut path = join(place.folder, "tox.ini").unwrap_or_default();
    if let Some(text) = place.sources.text(&path) {
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
                Some(format!("{} -- {}", found.command, &one[at..]))
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

/// Reads the sessions of a `noxfile.py`.
fn nox(place: Place<'_>) -> Vec<FoundCommand> {
    let Some((path, text)) = first_of(place, &["noxfile.py"]) else {
        return Vec::new();
    };
    let mut commands = Vec::new();
    let mut decorated: Option<String> = None;
    for line in text.lines() {
        if line.starts_with("@nox.session") || line.starts_with("@session") {
            decorated = Some(line.to_owned());
        } else if let Some(name) = line.strip_prefix("def ")
            && let Some(decorator) = decorated.take()
        {
            let name = decorator
                .split_once("name=")
                .and_then(|(_, rest)| rest.split(['"', '\'']).nth(1))
                .or_else(|| name.split('(').next())
                .unwrap_or_default();
            if is_task_name(name) && commands.len() < MAX_TASKS {
                let purpose = of_script(name, "", place);
                commands.push(task(place, format!("nox -s {name}"), &path, purpose, ""));
            }
        } else if let Some(decorator) = &mut decorated {
            decorator.push_str(line);
        }
    }
    commands
}

/// Reads the tables of scripts of poe, PDM, Hatch, taskipy and Rye.
fn pyproject(place: Place<'_>) -> Vec<FoundCommand> {
    let Some((path, text)) = first_of(place, &["pyproject.toml"]) else {
        return Vec::new();
    };
    let Ok(manifest) = text.parse::<toml::Table>() else {
        return Vec::new();
    };
    let tool = |keys: &[&str]| {
        keys.iter()
            .try_fold(manifest.get("tool")?, |table, key| table.get(key))?
            .as_table()
    };
    let mut tables: Vec<(String, &toml::Table)> = [
        ("poe ", tool(&["poe", "tasks"])),
        ("pdm run ", tool(&["pdm", "scripts"])),
        ("task ", tool(&["taskipy", "tasks"])),
        ("rye run ", tool(&["rye", "scripts"])),
    ]
    .into_iter()
    .filter_map(|(program, table)| Some((program.to_owned(), table?)))
    .collect();
    for (name, environment) in tool(&["hatch", "envs"]).into_iter().flatten() {
        if let Some(scripts) = environment.get("scripts").and_then(toml::Value::as_table) {
            let program = if name == "default" {
                "hatch run ".to_owned()
            } else {
                format!("hatch run {name}:")
            };
            tables.push((program, scripts));
        }
    }
    let mut commands = Vec::new();
    for (program, table) in tables {
        for (name, runs) in table
            .iter()
            .filter(|(name, _)| is_task_name(name))
            .take(MAX_TASKS)
        {
            let runs = match runs {
                toml::Value::String(runs) => runs.clone(),
                toml::Value::Array(lines) => lines
                    .iter()
                    .filter_map(toml::Value::as_str)
                    .collect::<Vec<_>>()
                    .join("\n"),
                other => ["cmd", "shell"]
                    .iter()
                    .find_map(|key| other.get(key)?.as_str())
                    .unwrap_or_default()
                    .to_owned(),
            };
            let purpose = of_script(name, &runs, place);
            commands.push(task(
                place,
                format!("{program}{name}"),
                &path,
                purpose,
                &runs,
            ));
        }
    }
    commands
}

fn composer(place: Place<'_>) -> Vec<FoundCommand> {
    let Some((path, text)) = first_of(place, &["composer.json"]) else {
        return Vec::new();
    };
    let manifest: Value = serde_json::from_str(&text).unwrap_or_default();
    let scripts = manifest.get("scripts").and_then(Value::as_object);
    scripts
        .into_iter()
        .flatten()
        // Events of composer itself: `post-install-cmd`.
        .filter(|(name, _)| {
            is_task_name(name) && !name.starts_with("post-") && !name.starts_with("pre-")
        })
        .take(MAX_TASKS)
        .map(|(name, runs)| {
            let runs = runs.as_str().unwrap_or_default();
            task(
                place,
                format!("composer run {name}"),
                &path,
                of_script(name, runs, place),
                runs,
            )
        })
        .collect()
}

fn cargo_aliases(place: Place<'_>) -> Vec<FoundCommand> {
    let Some((path, text)) = first_of(place, &[".cargo/config.toml", ".cargo/config"]) else {
        return Vec::new();
    };
    let manifest: toml::Table = text.parse().unwrap_or_default();
    let aliases = manifest.get("alias").and_then(toml::Value::as_table);
    aliases
        .into_iter()
        .flatten()
        .filter(|(name, _)| is_task_name(name))
        .take(MAX_TASKS)
        .map(|(name, runs)| {
            let runs = match runs {
                toml::Value::Array(words) => words
                    .iter()
                    .filter_map(toml::Value::as_str)
                    .collect::<Vec<_>>()
                    .join(" "),
                other => other.as_str().unwrap_or_default().to_owned(),
            };
            let runs = format!("cargo {runs}");
            task(
                place,
                format!("cargo {name}"),
                &path,
                of_script(name, &runs, place),
                &runs,
            )
        })
        .collect()
}

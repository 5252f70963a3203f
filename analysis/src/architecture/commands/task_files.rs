//! Task runners: Makefile, justfile, Taskfile, tox, nox, scripts of `pyproject.toml`, `package.json` and `composer.json`.

use serde_json::Value;

use super::place::{Place, first_of};
use super::purpose::by_target;
use super::recipes::{self, MAX_TASKS, Recipe, is_task_name};
use super::task_entry::{of_script, task};
use super::tox;
use crate::report::architecture::FoundCommand;

/// Collects the tasks of all task runners of a folder.
pub(super) fn find(place: Place<'_>) -> Vec<FoundCommand> {
    [
        make,
        just,
        taskfile,
        tox::find,
        nox,
        pyproject,
        composer,
        cargo_aliases,
    ]
    .into_iter()
    .flat_map(|read| read(place))
    .collect()
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

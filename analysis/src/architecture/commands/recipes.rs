//! What a folder's makefile, justfile, Taskfile and `package.json` define, before it is judged what it is for.

use model::toolchain::{JUSTFILES, MAKEFILES, target_line};
use serde_json::{Map, Value};

use super::place::{Place, first_of, text_in};

/// Most tasks read from one file.
pub(super) const MAX_TASKS: usize = 100;

/// A target of a makefile or justfile.
pub(super) struct Recipe {
    pub(super) name: String,
    /// Its lines.
    pub(super) runs: String,
}

/// Returns whether `make target` finds something to do; an empty target is the default one.
pub(super) fn makefile_has(place: Place<'_>, target: &str) -> bool {
    let Some((_, text)) = first_of(place, &MAKEFILES) else {
        return false;
    };
    if target.is_empty() {
        return true;
    }
    // What other files define, and what patterns and `.DEFAULT` pass on, is not known.
    text.lines().any(|line| {
        line.starts_with(".DEFAULT:")
            || line.starts_with("include ")
            || line.starts_with("-include ")
            || target_line(line).is_some_and(|names| {
                names
                    .split_whitespace()
                    .any(|name| name == target || name == "%")
            })
    })
}

/// Returns whether a justfile or Taskfile has a task.
pub(super) fn task_exists(place: Place<'_>, program: &str, task: &str) -> bool {
    match program {
        "just" => {
            just(place).is_some_and(|(_, recipes)| recipes.iter().any(|recipe| recipe.name == task))
        }
        _ => taskfile(place).is_some_and(|(_, tasks)| tasks.iter().any(|name| name == task)),
    }
}

/// Returns the scripts of a folder's `package.json`.
pub(super) fn scripts_of(place: Place<'_>) -> Option<Map<String, Value>> {
    let mut manifest: Map<String, Value> =
        serde_json::from_str(&text_in(place, "package.json")?).ok()?;
    match manifest.remove("scripts") {
        Some(Value::Object(scripts)) => Some(scripts),
        _ => Some(Map::new()),
    }
}

/// Returns whether a name can be that of a task.
pub(super) fn is_task_name(name: &str) -> bool {
    name.len() <= 60
        && name.starts_with(|character: char| character.is_ascii_alphabetic())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':' | b'.'))
}

/// Reads the targets of a folder's makefile, and its path.
pub(super) fn make(place: Place<'_>) -> Option<(String, Vec<Recipe>)> {
    first_of(place, &MAKEFILES).map(|(path, text)| (path, targets(&text, "make")))
}

/// Reads the recipes of a folder's justfile, and its path.
pub(super) fn just(place: Place<'_>) -> Option<(String, Vec<Recipe>)> {
    first_of(place, &JUSTFILES).map(|(path, text)| (path, targets(&text, "just")))
}

/// Reads the targets of a makefile or a justfile with their recipes.
fn targets(text: &str, program: &str) -> Vec<Recipe> {
    let mut recipes: Vec<Recipe> = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(names) = target_line(line) else {
            continue;
        };
        let mut names = names.split_whitespace();
        let Some(target) = names
            .next()
            .filter(|name| is_task_name(name) && !name.contains(['.', ':']))
        else {
            continue;
        };
        // A recipe of just with a parameter that has no default does not run without it.
        let needs_value = program == "just"
            && names.any(|parameter| !parameter.contains('=') && !parameter.starts_with('*'));
        let is_variable = line.split_once(':').is_some_and(|(_, rest)| {
            rest.trim_start()
                .starts_with(|c: char| c.is_ascii_uppercase())
                && rest.contains('=')
        });
        let mut recipe = String::new();
        while let Some(line) = lines.next_if(|line| line.starts_with([' ', '\t'])) {
            let line = line.trim().trim_start_matches(['@', '-', '+']);
            if recipe.len() < 2_000 && !line.starts_with('#') {
                recipe.push_str(line);
                recipe.push('\n');
            }
        }
        let known = recipes.iter().any(|found| found.name == target);
        if needs_value || is_variable || known {
            continue;
        }
        recipes.push(Recipe {
            name: target.to_owned(),
            runs: recipe,
        });
        if recipes.len() == MAX_TASKS {
            break;
        }
    }
    recipes
}

/// Reads the names of the tasks of a Taskfile, the keys below `tasks:`, and its path.
pub(super) fn taskfile(place: Place<'_>) -> Option<(String, Vec<String>)> {
    let names = [
        "Taskfile.yml",
        "Taskfile.yaml",
        "taskfile.yml",
        "Taskfile.dist.yml",
    ];
    let (path, text) = first_of(place, &names)?;
    let mut tasks = Vec::new();
    let lines = text
        .lines()
        .skip_while(|line| line.trim_end() != "tasks:")
        .skip(1);
    let mut indent = None;
    for line in lines.take_while(|line| line.is_empty() || line.starts_with([' ', '#'])) {
        let own = line.len() - line.trim_start().len();
        let Some((name, _)) = line.trim().split_once(':') else {
            continue;
        };
        let name = line
            .trim()
            .strip_suffix(':')
            .unwrap_or(name)
            .trim_matches(['"', '\'']);
        if own == *indent.get_or_insert(own) && is_task_name(name) && tasks.len() < MAX_TASKS {
            tasks.push(name.to_owned());
        }
    }
    Some((path, tasks))
}

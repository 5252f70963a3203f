//! Python packages: `pyproject.toml`, and `setup.py` or `setup.cfg` where there is none.

use toml::{Table, Value};

use super::{FoundPackage, Sources, join};
use crate::paths::{folder_of, name_of};
use crate::report::architecture::{Ecosystem, EntryKind};

/// Reads a Python manifest.
pub(super) fn read(sources: Sources<'_>, path: &str) -> Option<FoundPackage> {
    let folder = folder_of(path).to_owned();
    if name_of(path) != "pyproject.toml" {
        let better = ["pyproject.toml", "setup.py"].iter().any(|name| {
            *name != name_of(path) && join(&folder, name).is_some_and(|better| sources.has(&better))
        });
        if better {
            return None;
        }
        let name =
            assigned(&sources.text(path)?, "name").unwrap_or_else(|| name_of(&folder).to_owned());
        return Some(FoundPackage::new(Ecosystem::Python, path, name));
    }
    let manifest: Table = sources.text(path)?.parse().ok()?;
    let poetry = manifest
        .get("tool")
        .and_then(|tool| tool.get("poetry")?.as_table());
    let project = manifest
        .get("project")
        .and_then(Value::as_table)
        .or(poetry)?;
    let name = project.get("name").and_then(Value::as_str)?.to_owned();
    let mut found = FoundPackage::new(Ecosystem::Python, path, name);
    let text = |key: &str| project.get(key).and_then(Value::as_str);
    found.describe(text("version"), text("description"));
    found.license = text("license").map(str::to_owned);
    found.members = manifest
        .get("tool")
        .and_then(|tool| tool.get("uv")?.get("workspace")?.get("members")?.as_array())
        .map(|members| {
            members
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect()
        })
        .unwrap_or_default();
    if let Some(dependencies) = project.get("dependencies").and_then(Value::as_array) {
        found.dependencies.extend(
            dependencies
                .iter()
                .filter_map(Value::as_str)
                .map(requirement),
        );
    }
    if let Some(dependencies) = poetry.and_then(|poetry| poetry.get("dependencies")?.as_table()) {
        found.dependencies.extend(
            dependencies
                .keys()
                .filter(|name| *name != "python")
                .cloned(),
        );
    }
    for table in ["scripts", "gui-scripts"] {
        for (script, target) in project
            .get(table)
            .and_then(Value::as_table)
            .into_iter()
            .flatten()
        {
            let Some(target) = target.as_str() else {
                continue;
            };
            let module = target.split(':').next().unwrap_or(target).replace('.', "/");
            let file = ["", "src/"].iter().find_map(|source| {
                ["", "/__init__", "/__main__"].iter().find_map(|end| {
                    join(&folder, &format!("{source}{module}{end}.py"))
                        .filter(|path| sources.has(path))
                })
            });
            if let Some(file) = file {
                found.entry(EntryKind::Binary, script, file, "pyproject.toml");
            }
        }
    }
    Some(found)
}

/// Takes the name from a requirement such as `requests[socks]>=2`.
fn requirement(text: &str) -> String {
    text.chars()
        .take_while(|character| {
            character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.')
        })
        .collect()
}

/// Finds `key = "value"` in a script or an INI file.
fn assigned(text: &str, key: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let value = line
            .trim()
            .strip_prefix(key)?
            .trim_start()
            .strip_prefix('=')?;
        let value = value.trim().trim_end_matches(',').trim_matches(['"', '\'']);
        (!value.is_empty() && value.len() < 100 && !value.contains(['(', '{']))
            .then(|| value.to_owned())
    })
}

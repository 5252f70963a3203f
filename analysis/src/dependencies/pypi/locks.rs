//! `poetry.lock`, `uv.lock`, `pdm.lock` and `Pipfile.lock`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::super::facts::{LockFacts, LockedFacts, ParseError};
use super::super::names::normalised;
use crate::report::dependencies::{Ecosystem, Origin};

#[derive(Deserialize)]
struct Lockfile {
    #[serde(default)]
    package: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: Option<String>,
    source: Option<toml::Table>,
    dependencies: Option<toml::Value>,
}

/// Parses a lock file made of `[[package]]` tables.
pub(in super::super) fn lock(path: &str, text: &str) -> Result<LockFacts, ParseError> {
    let file: Lockfile = toml::from_str(text)?;
    let mut facts = LockFacts::new(path, Ecosystem::Pypi);
    for package in file.package {
        let origin = package.source.as_ref().map_or(Origin::Registry, origin_of);
        let version = package.version.as_deref().unwrap_or("dynamic");
        let member = package.source.as_ref().and_then(|source| {
            let folder = source.get("editable").or_else(|| source.get("virtual"))?;
            folder.as_str()
        });
        facts
            .members
            .extend(member.map(|folder| folder.trim_start_matches("./").to_owned()));
        let mut locked = LockedFacts::new(&normalised(&package.name), version, origin);
        locked.needs = needs(package.dependencies.as_ref());
        facts.packages.push(locked);
    }
    Ok(facts)
}

/// Parses the source of a package: uv names the kind by the key, poetry by `type`.
fn origin_of(source: &toml::Table) -> Origin {
    let kind = source.get("type").and_then(toml::Value::as_str);
    let has = |key: &str| source.contains_key(key) || kind == Some(key);
    if has("git") {
        Origin::Git
    } else if has("editable") || has("virtual") {
        Origin::Workspace
    } else if has("path") || has("directory") || has("file") {
        Origin::Path
    } else if has("url") && !has("legacy") && kind.is_none_or(|kind| kind == "url") {
        Origin::Url
    } else {
        Origin::Registry
    }
}

fn needs(dependencies: Option<&toml::Value>) -> Vec<(String, Option<String>)> {
    match dependencies {
        // poetry: a table of names to ranges.
        Some(toml::Value::Table(table)) => {
            table.keys().map(|name| (normalised(name), None)).collect()
        }
        // uv: a list of tables; pdm: a list of texts.
        Some(toml::Value::Array(list)) => list
            .iter()
            .filter_map(|item| {
                let name = item.get("name").and_then(toml::Value::as_str).or_else(|| {
                    let text = item.as_str()?;
                    text.split(|character: char| {
                        !(character.is_alphanumeric() || "-_.".contains(character))
                    })
                    .next()
                })?;
                let version = item.get("version").and_then(toml::Value::as_str);
                Some((normalised(name), version.map(str::to_owned)))
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// Parses `Pipfile.lock`.
pub(in super::super) fn pipfile_lock(path: &str, text: &str) -> Result<LockFacts, ParseError> {
    let file: BTreeMap<String, Value> = serde_json::from_str(text)?;
    let mut facts = LockFacts::new(path, Ecosystem::Pypi);
    for section in ["default", "develop"] {
        for (name, entry) in file
            .get(section)
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let origin = if entry.get("git").is_some() {
                Origin::Git
            } else {
                Origin::Registry
            };
            let version = entry
                .get("version")
                .or_else(|| entry.get("ref"))
                .and_then(Value::as_str);
            let version = version.unwrap_or("unknown").trim_start_matches("==");
            facts
                .packages
                .push(LockedFacts::new(&normalised(name), version, origin));
        }
    }
    facts
        .packages
        .sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    facts.packages.dedup();
    Ok(facts)
}

//! Unused dependencies: every crate that a manifest names is used by that package's code.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use tests::project_root;
use toml::{Table, Value};

fn manifest(folder: &Path) -> Table {
    let text = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    text.parse().unwrap()
}

/// Returns the names in a table of a manifest.
fn keys(manifest: &Table, path: &[&str]) -> Vec<String> {
    let mut table = Some(manifest);
    for name in path {
        table = table.and_then(|table| table.get(*name)?.as_table());
    }
    table.map_or_else(Vec::new, |table| table.keys().cloned().collect())
}

/// Returns all Rust code of a package in these of its folders and files.
fn code(package: &Path, folders: &[&str]) -> String {
    fn add(folder: &Path, text: &mut String) {
        if folder.is_file() {
            text.push_str(&fs::read_to_string(folder).unwrap());
            return;
        }
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                add(&path, text);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                text.push_str(&fs::read_to_string(&path).unwrap());
            }
        }
    }
    let mut text = String::new();
    for folder in folders {
        add(&package.join(folder), &mut text);
    }
    if text.contains("closed_enum!(") {
        // The macro's derives name these crates where it is used.
        text.push_str("serde::\nschemars::\n");
    }
    text
}

/// Tells whether code names a crate: as the root of a path, or in a `use` of the crate itself.
fn uses(code: &str, dependency: &str) -> bool {
    let name = dependency.replace('-', "_");
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    code.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .any(|line| {
            line.match_indices(&name).any(|(at, _)| {
                let after = &line[at + name.len()..];
                !line[..at].ends_with(is_word)
                    && (after.starts_with("::")
                        || line.trim_start() == format!("use {name};")
                        || line.trim_start().starts_with(&format!("use {name} as")))
            })
        })
}

#[test]
fn every_dependency_is_used() {
    let root = project_root();
    let workspace = manifest(&root);
    let members = workspace["workspace"]["members"].as_array().unwrap();
    let mut unused = Vec::new();
    let mut named = BTreeSet::new();
    for package in members.iter().map(|member| member.as_str().unwrap()) {
        let folder = root.join(package);
        let manifest = manifest(&folder);
        // Programs whose source is in another folder.
        let programs = manifest.get("bin").and_then(Value::as_array);
        let programs: Vec<&str> = programs
            .into_iter()
            .flatten()
            .filter_map(|program| program["path"].as_str())
            .collect();
        let sources = [&["src"][..], &programs].concat();
        for (table, folders) in [
            ("dependencies", &sources[..]),
            ("dev-dependencies", &["src", "tests", "benches"][..]),
            ("build-dependencies", &["build.rs"][..]),
        ] {
            let code = code(&folder, folders);
            for dependency in keys(&manifest, &[table]) {
                if !uses(&code, &dependency) {
                    unused.push(format!("{package}: {dependency} in [{table}]"));
                }
                named.insert(dependency);
            }
        }
    }
    for dependency in keys(&workspace, &["workspace", "dependencies"]) {
        if !named.contains(&dependency) {
            unused.push(format!("no package uses {dependency}"));
        }
    }
    assert!(unused.is_empty(), "\n{}", unused.join("\n"));
}

/// Versions stand in one place, so that two packages never ask for different ones.
#[test]
fn versions_are_stated_once() {
    let root = project_root();
    let workspace = manifest(&root);
    let mut stated = Vec::new();
    for package in workspace["workspace"]["members"].as_array().unwrap() {
        let package = package.as_str().unwrap();
        let manifest = manifest(&root.join(package));
        for table in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let Some(table) = manifest.get(table).and_then(Value::as_table) else {
                continue;
            };
            for (name, value) in table {
                if value.get("workspace").is_none() {
                    stated.push(format!("{package}: {name} = {value}"));
                }
            }
        }
    }
    assert!(stated.is_empty(), "\n{}", stated.join("\n"));
}

#[test]
fn a_use_is_told_from_a_mention() {
    assert!(uses("use serde_json::Value;", "serde-json"));
    assert!(uses("    let id = uuid::Uuid::new_v4();", "uuid"));
    assert!(!uses("// uuid::Uuid", "uuid"));
    assert!(!uses("my_uuid::x()", "uuid"));
}

//! Cargo packages: workspace members, crates and their root files.

use toml::{Table, Value};

use super::{FoundPackage, Sources, join};
use crate::paths::{folder_of, name_of};
use crate::report::architecture::{Ecosystem, EntryKind};

/// Reads a `Cargo.toml`.
pub(super) fn read(sources: Sources<'_>, path: &str) -> Option<FoundPackage> {
    let manifest: Table = sources.text(path)?.parse().ok()?;
    let workspace = manifest.get("workspace").and_then(Value::as_table);
    let package = manifest.get("package").and_then(Value::as_table);
    let name = match package {
        Some(package) => package.get("name")?.as_str()?.to_owned(),
        None if workspace.is_some() => "(workspace)".to_owned(),
        None => return None,
    };
    let mut found = FoundPackage::new(Ecosystem::Cargo, path, name.clone());
    if let Some(workspace) = workspace {
        found.members = strings(workspace.get("members"));
        found.members.extend(
            strings(workspace.get("exclude"))
                .iter()
                .map(|member| format!("!{member}")),
        );
    }
    let Some(package) = package else {
        return Some(found);
    };
    // A package beside the list of members is one of them.
    found.package.workspace_member = workspace.is_some();
    let text = |key: &str| package.get(key).and_then(Value::as_str);
    found.describe(text("version"), text("description"));
    found.license = text("license").map(str::to_owned);
    dependencies(&manifest, &mut found);
    if let Some(targets) = manifest.get("target").and_then(Value::as_table) {
        for target in targets.values().filter_map(Value::as_table) {
            dependencies(target, &mut found);
        }
    }
    crates(sources, &manifest, &name, &mut found);
    Some(found)
}

fn strings(value: Option<&Value>) -> Vec<String> {
    value
        .and_then(Value::as_array)
        .map(|items| {
            items
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect()
        })
        .unwrap_or_default()
}

fn dependencies(table: &Table, found: &mut FoundPackage) {
    for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
        let Some(dependencies) = table.get(kind).and_then(Value::as_table) else {
            continue;
        };
        for (name, dependency) in dependencies {
            let real = dependency
                .get("package")
                .and_then(Value::as_str)
                .unwrap_or(name);
            found.dependencies.insert(real.to_owned());
        }
    }
}

/// Finds the root files of the package's crates.
fn crates(sources: Sources<'_>, manifest: &Table, name: &str, found: &mut FoundPackage) {
    let folder = found.folder.clone();
    let at = |path: &str| join(&folder, path).filter(|path| sources.has(path));
    let library = manifest.get("lib").and_then(Value::as_table);
    let library_name = library
        .and_then(|library| library.get("name")?.as_str())
        .map_or_else(|| name.replace('-', "_"), str::to_owned);
    let library_path = library
        .and_then(|library| library.get("path")?.as_str())
        .unwrap_or("src/lib.rs");
    if let Some(path) = at(library_path) {
        found.entry(
            EntryKind::Library,
            &library_name,
            path.clone(),
            "Cargo.toml",
        );
        found.roots.push((library_name.clone(), path));
        found.import_name = Some(library_name);
    }
    for (key, kind, convention) in [
        ("bin", EntryKind::Binary, "src/bin"),
        ("example", EntryKind::Example, "examples"),
        ("test", EntryKind::Test, "tests"),
        ("bench", EntryKind::Benchmark, "benches"),
    ] {
        for target in manifest
            .get(key)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let Some(target_name) = target.get("name").and_then(Value::as_str) else {
                continue;
            };
            let path = match target.get("path").and_then(Value::as_str) {
                Some(path) => at(path),
                None => at(&format!("{convention}/{target_name}.rs"))
                    .or_else(|| at(&format!("{convention}/{target_name}/main.rs")))
                    .or_else(|| at("src/main.rs").filter(|_| key == "bin")),
            };
            if let Some(path) = path {
                found.entry(kind, target_name, path.clone(), "Cargo.toml");
                found.roots.push((target_name.replace('-', "_"), path));
            }
        }
        let is_found = package_flag(
            manifest,
            &format!("auto{}s", if key == "bench" { "benche" } else { key }),
        );
        for path in conventional(sources, &folder, convention) {
            if found.roots.iter().any(|(_, root)| *root == path) {
                continue;
            }
            let stem = match name_of(&path) {
                "main.rs" => name_of(folder_of(&path)),
                file => file.trim_end_matches(".rs"),
            };
            let stem = stem.to_owned();
            if is_found {
                found.entry(kind, &stem, path.clone(), "convention");
            }
            found.roots.push((stem.replace('-', "_"), path));
        }
    }
    if let Some(path) = at("src/main.rs")
        && !found.roots.iter().any(|(_, root)| *root == path)
    {
        if package_flag(manifest, "autobins") {
            found.entry(EntryKind::Binary, name, path.clone(), "convention");
        }
        found.roots.push((name.replace('-', "_"), path));
    }
    if let Some(path) = at("build.rs") {
        found.roots.push(("build_script".to_owned(), path));
    }
}

/// Returns whether Cargo finds targets of a kind by itself: `autobins = false` ends that.
fn package_flag(manifest: &Table, flag: &str) -> bool {
    let package = manifest.get("package");
    let value = package.and_then(|package| package.get(flag)?.as_bool());
    value.unwrap_or(true)
}

/// Lists `folder/x.rs` and `folder/x/main.rs`.
fn conventional(sources: Sources<'_>, package: &str, convention: &str) -> Vec<String> {
    let Some(folder) = join(package, convention) else {
        return Vec::new();
    };
    let prefix = format!("{folder}/");
    let files = &sources.tree.files;
    let start = files.partition_point(|file| file.path.as_str() < prefix.as_str());
    files[start..]
        .iter()
        .take_while(|file| file.path.starts_with(&prefix))
        .filter(|file| {
            let inside = &file.path[prefix.len()..];
            match inside.split_once('/') {
                None => inside.strip_suffix(".rs").is_some(),
                Some((_, rest)) => rest == "main.rs",
            }
        })
        .map(|file| file.path.clone())
        .collect()
}

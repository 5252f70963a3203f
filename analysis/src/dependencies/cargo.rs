//! Cargo: `Cargo.toml` with workspaces, and `Cargo.lock`.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::facts::{Declared, LockFacts, LockedFacts, ManifestFacts, ParseError, Reader};
use crate::AnalysisError;
use crate::line_index::Lines;
use crate::paths::{folder_of, is_under};
use crate::report::dependencies::{Ecosystem, Kind, Origin};
use crate::text::harmless;

const SECTIONS: [(&str, Kind); 5] = [
    ("dependencies", Kind::Normal),
    ("dev-dependencies", Kind::Dev),
    ("dev_dependencies", Kind::Dev),
    ("build-dependencies", Kind::Build),
    ("build_dependencies", Kind::Build),
];

/// Reads all manifests and lock files of Cargo.
pub(super) fn read(reader: &mut Reader<'_>) -> Result<(), AnalysisError> {
    let first = reader.manifests.len();
    for path in reader.files(&["Cargo.toml"]) {
        reader.manifest(&path, manifest)?;
    }
    inherit(&mut reader.manifests[first..]);
    for path in reader.files(&["Cargo.lock"]) {
        reader.lock(&path, lock)?;
    }
    Ok(())
}

/// Parses `Cargo.toml`.
pub(super) fn manifest(path: &str, text: &str) -> Result<ManifestFacts, ParseError> {
    let document = DeTable::parse(text)?;
    let document = document.get_ref();
    let mut found = Section {
        facts: ManifestFacts::new(path, Ecosystem::Cargo),
        lines: Lines::of(text),
    };
    let package = table(document, "package").or_else(|| table(document, "project"));
    let shared = table(document, "workspace").and_then(|workspace| table(workspace, "package"));
    let about = |key| package.and_then(|package| string(package, key));
    found
        .facts
        .about(about("name"), about("version"), about("license"));
    found.facts.inherits_licence = package
        .and_then(|package| table(package, "license"))
        .is_some_and(|licence| flag(licence, "workspace"));
    found.facts.shared_licence = shared
        .and_then(|shared| string(shared, "license"))
        .map(|licence| harmless(licence, 120));
    for (section, kind) in SECTIONS {
        found.declared(table(document, section), kind, None);
    }
    for (target, value) in table(document, "target").into_iter().flatten() {
        for (section, kind) in SECTIONS {
            let dependencies = value
                .get_ref()
                .as_table()
                .and_then(|each| table(each, section));
            found.declared(dependencies, kind, Some(target.get_ref()));
        }
    }
    for (registry, value) in table(document, "patch").into_iter().flatten() {
        let condition = format!("patch of {}", registry.get_ref());
        found.declared(value.get_ref().as_table(), Kind::Normal, Some(&condition));
    }
    if let Some(workspace) = table(document, "workspace") {
        for (key, value) in table(workspace, "dependencies").into_iter().flatten() {
            let offered = found.entry(key, value, Kind::Normal, None);
            found.facts.offered.push(offered);
        }
    }
    Ok(found.facts)
}

struct Section {
    facts: ManifestFacts,
    lines: Lines,
}

impl Section {
    fn declared(
        &mut self,
        dependencies: Option<&DeTable<'_>>,
        kind: Kind,
        condition: Option<&str>,
    ) {
        for (key, value) in dependencies.into_iter().flatten() {
            let declared = self.entry(key, value, kind, condition);
            self.facts.declared.push(declared);
        }
    }

    fn entry(
        &self,
        key: &Spanned<std::borrow::Cow<'_, str>>,
        value: &Spanned<DeValue<'_>>,
        kind: Kind,
        condition: Option<&str>,
    ) -> Declared {
        let alias = key.get_ref().as_ref();
        let line = self.lines.at(key.span().start);
        let Some(entry) = value.get_ref().as_table() else {
            return Declared::new(alias, kind)
                .requirement(value.get_ref().as_str())
                .condition(condition)
                .line(line);
        };
        let optional = kind == Kind::Normal && flag(entry, "optional");
        let kind = if optional { Kind::Optional } else { kind };
        let mut declared = Declared::new(string(entry, "package").unwrap_or(alias), kind)
            .alias(alias)
            .requirement(string(entry, "version"))
            .condition(condition)
            .line(line);
        if let Some(address) = string(entry, "git") {
            let fixed = string(entry, "rev").or_else(|| string(entry, "tag"));
            let reference = fixed.or_else(|| string(entry, "branch"));
            declared = declared.git(address, reference, fixed.is_some());
        } else if let Some(path) = string(entry, "path") {
            declared = declared.path(self.facts.folder(), path);
        }
        if flag(entry, "workspace") {
            declared.inherits = Some(alias.to_owned());
        }
        declared
    }
}

/// Fills members' `workspace = true` entries from the nearest workspace above them.
fn inherit(manifests: &mut [ManifestFacts]) {
    let mut roots: Vec<(String, HashMap<String, Declared>, Option<String>)> = manifests
        .iter()
        .filter(|manifest| !manifest.offered.is_empty() || manifest.shared_licence.is_some())
        .map(|manifest| {
            let offered = manifest.offered.iter();
            let by_name = offered
                .map(|each| (each.code_name().to_owned(), each.clone()))
                .collect();
            (
                manifest.folder().to_owned(),
                by_name,
                manifest.shared_licence.clone(),
            )
        })
        .collect();
    // The nearest workspace is the one with the longest folder.
    roots.sort_by_key(|(folder, _, _)| std::cmp::Reverse(folder.len()));
    let mut taken: HashMap<String, HashSet<String>> = HashMap::new();
    for manifest in manifests.iter_mut() {
        let root = roots
            .iter()
            .find(|(folder, _, _)| is_under(&manifest.path, folder));
        let Some((folder, offered, licence)) = root else {
            continue;
        };
        if manifest.inherits_licence {
            manifest.licence.clone_from(licence);
        }
        for declared in &mut manifest.declared {
            let Some(key) = &declared.inherits else {
                continue;
            };
            let Some(shared) = offered.get(key) else {
                continue;
            };
            taken.entry(folder.clone()).or_default().insert(key.clone());
            declared.name.clone_from(&shared.name);
            declared.alias.clone_from(&shared.alias);
            declared.requirement.clone_from(&shared.requirement);
            declared.origin = shared.origin;
            declared.location.clone_from(&shared.location);
            declared.fixed = shared.fixed;
        }
    }
    for manifest in manifests {
        let folder = folder_of(&manifest.path).to_owned();
        if let Some(taken) = taken.get(&folder) {
            manifest
                .offered
                .retain(|each| !taken.contains(each.code_name()));
        }
    }
}

#[derive(Deserialize)]
struct Lockfile {
    #[serde(default)]
    package: Vec<LockPackage>,
}

#[derive(Deserialize)]
struct LockPackage {
    name: String,
    version: String,
    source: Option<String>,
    #[serde(default)]
    dependencies: Vec<String>,
}

/// Parses `Cargo.lock`.
pub(super) fn lock(path: &str, text: &str) -> Result<LockFacts, ParseError> {
    let file: Lockfile = toml::from_str(text)?;
    let mut facts = LockFacts::new(path, Ecosystem::Cargo);
    for package in file.package {
        let origin = match package.source.as_deref() {
            None => Origin::Workspace,
            Some(source) if source.starts_with("git+") => Origin::Git,
            Some(_) => Origin::Registry,
        };
        let mut locked = LockedFacts::new(&package.name, &package.version, origin);
        for need in package.dependencies {
            let mut words = need.split(' ');
            if let Some(name) = words.next() {
                locked
                    .needs
                    .push((name.to_owned(), words.next().map(str::to_owned)));
            }
        }
        facts.packages.push(locked);
    }
    Ok(facts)
}

pub(super) fn get<'a, 'i>(table: &'a DeTable<'i>, key: &str) -> Option<&'a DeValue<'i>> {
    table.get(key).map(Spanned::get_ref)
}

pub(super) fn table<'a, 'i>(parent: &'a DeTable<'i>, key: &str) -> Option<&'a DeTable<'i>> {
    get(parent, key).and_then(DeValue::as_table)
}

pub(super) fn string<'a>(table: &'a DeTable<'_>, key: &str) -> Option<&'a str> {
    get(table, key).and_then(DeValue::as_str)
}

pub(super) fn flag(table: &DeTable<'_>, key: &str) -> bool {
    get(table, key).and_then(DeValue::as_bool).unwrap_or(false)
}

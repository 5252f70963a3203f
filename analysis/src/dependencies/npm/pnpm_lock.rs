//! `pnpm-lock.yaml`, versions 5 to 9.

use std::collections::BTreeMap;
use std::io::Read;

use serde::Deserialize;
use serde_json::Value;

use super::super::facts::{LockFacts, LockedFacts, MAX_LOCKED, ParseError};
use super::package_lock::one_of_each;
use crate::Budget;
use crate::report::dependencies::{Ecosystem, Origin};

type Entries = BTreeMap<String, Value>;

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Importer {
    dependencies: Entries,
    dev_dependencies: Entries,
    optional_dependencies: Entries,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Lockfile {
    importers: BTreeMap<String, Importer>,
    packages: BTreeMap<String, Option<Package>>,
    snapshots: BTreeMap<String, Option<Package>>,
    dependencies: Entries,
    dev_dependencies: Entries,
    optional_dependencies: Entries,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Package {
    name: Option<String>,
    version: Option<String>,
    resolution: Value,
    dependencies: Entries,
    optional_dependencies: Entries,
}

/// Parses a lock file of pnpm.
pub(in super::super) fn lock(
    path: &str,
    text: &str,
    budget: &Budget,
) -> Result<LockFacts, ParseError> {
    let file: Lockfile = serde_saphyr::from_reader_with_options(
        Stoppable {
            rest: text.as_bytes(),
            budget,
        },
        options(),
    )?;
    let mut facts = LockFacts::new(path, Ecosystem::Npm);
    let top = Importer {
        dependencies: file.dependencies,
        dev_dependencies: file.dev_dependencies,
        optional_dependencies: file.optional_dependencies,
    };
    let importers = file
        .importers
        .iter()
        .map(|(folder, importer)| (folder.as_str(), importer));
    for (folder, importer) in importers.chain([("", &top)]) {
        let folder = folder.trim_start_matches("./").trim_start_matches('.');
        facts.members.insert(folder.to_owned());
        let entries = [
            &importer.dependencies,
            &importer.dev_dependencies,
            &importer.optional_dependencies,
        ];
        for (name, entry) in entries.into_iter().flatten() {
            if let Some(version) = entry_version(entry) {
                facts.pin_in(folder, name, resolved_version(version));
            }
        }
    }
    // Version 9 keeps what a package needs apart from what it is.
    let mut needs: BTreeMap<&str, Vec<(String, Option<String>)>> = BTreeMap::new();
    for (key, package) in &file.snapshots {
        if let Some(package) = package {
            needs
                .entry(without_peers(key))
                .or_default()
                .extend(needed(package));
        }
    }
    for (key, package) in &file.packages {
        let Some((name, version)) = identity(key, package.as_ref()) else {
            continue;
        };
        let git = package.as_ref().is_some_and(|package| {
            package.resolution.get("type").and_then(Value::as_str) == Some("git")
                || package.resolution.get("repo").is_some()
        });
        let origin = if git {
            Origin::Git
        } else if version.starts_with("file:") {
            // A folder of the repository that is copied instead of linked.
            Origin::Workspace
        } else {
            Origin::Registry
        };
        let mut locked = LockedFacts::new(&name, &version, origin);
        locked.needs = package.as_ref().map(needed).unwrap_or_default();
        locked
            .needs
            .extend(needs.remove(key.as_str()).unwrap_or_default());
        facts.packages.push(locked);
    }
    // Versions before 9 list a package once for each set of peers.
    one_of_each(&mut facts);
    Ok(facts)
}

fn options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        with_snippet: false,
        budget: serde_saphyr::budget! {
            // pnpm writes no anchors; a file that has many was made to explode.
            max_aliases: 1_000,
            max_anchors: 1_000,
            max_recorded_anchor_events: 10_000,
            max_nodes: MAX_LOCKED * 12,
            max_events: MAX_LOCKED * 16,
        },
    }
}

fn entry_version(entry: &Value) -> Option<&str> {
    entry
        .as_str()
        .or_else(|| entry.get("version").and_then(Value::as_str))
}

fn needed(package: &Package) -> Vec<(String, Option<String>)> {
    let entries = package
        .dependencies
        .iter()
        .chain(&package.optional_dependencies);
    entries
        .map(|(name, version)| {
            (
                name.clone(),
                version.as_str().map(|text| bare_version(text).to_owned()),
            )
        })
        .collect()
}

/// Returns a version without the peers that pnpm adds to it (`1.0.0(react@18.0.0)`, `1.0.0_react@18`).
fn bare_version(version: &str) -> &str {
    version.split(['(', '_']).next().unwrap_or(version)
}

/// Returns the version of a request; of a renamed package it follows the name (`original@1.0.0`).
fn resolved_version(version: &str) -> &str {
    let is_place = version.starts_with("link:") || version.starts_with("file:");
    if is_place {
        return version;
    }
    let version = bare_version(version);
    version.rfind('@').map_or(version, |at| &version[at + 1..])
}

fn without_peers(key: &str) -> &str {
    key.split('(').next().unwrap_or(key)
}

/// Finds name and version in a key: `/name/1.0.0_peers`, `/name@1.0.0(peers)` or `name@1.0.0`.
fn identity(key: &str, package: Option<&Package>) -> Option<(String, String)> {
    if let Some(Package {
        name: Some(name),
        version: Some(version),
        ..
    }) = package
    {
        return Some((name.clone(), version.clone()));
    }
    let key = key.trim_start_matches('/');
    let scope = if key.starts_with('@') {
        key.find('/')? + 1
    } else {
        0
    };
    let end = scope + key[scope..].find(['@', '/'])?;
    let named = package.and_then(|package| package.version.clone());
    let version = named.unwrap_or_else(|| bare_version(&key[end + 1..]).to_owned());
    Some((key[..end].to_owned(), version))
}

/// Feeds the parser piece by piece, so that a cancelled analysis need not wait for it.
struct Stoppable<'a> {
    rest: &'a [u8],
    budget: &'a Budget,
}

impl Read for Stoppable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.budget.must_stop() {
            return Err(std::io::ErrorKind::TimedOut.into());
        }
        let room = buffer.len().min(64 << 10);
        self.rest.read(&mut buffer[..room])
    }
}

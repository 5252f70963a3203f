//! `package-lock.json` and `npm-shrinkwrap.json`, versions 1 to 3.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde_json::Value;

use super::super::facts::{LockFacts, LockedFacts, ParseError};
use super::origin_of;
use crate::report::dependencies::{Ecosystem, Origin};

#[derive(Deserialize)]
struct Lockfile {
    packages: Option<BTreeMap<String, Package>>,
    dependencies: Option<BTreeMap<String, Nested>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Package {
    name: Option<String>,
    version: Option<String>,
    resolved: Option<Value>,
    license: Option<Value>,
    #[serde(default)]
    link: bool,
    #[serde(default)]
    dependencies: BTreeMap<String, Value>,
    #[serde(default)]
    optional_dependencies: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
struct Nested {
    version: Option<String>,
    resolved: Option<Value>,
    requires: Option<Value>,
    dependencies: Option<BTreeMap<String, Nested>>,
}

/// Parses a lock file of npm.
pub(in super::super) fn lock(path: &str, text: &str) -> Result<LockFacts, ParseError> {
    let file: Lockfile = serde_json::from_str(text)?;
    let mut facts = LockFacts::new(path, Ecosystem::Npm);
    if let Some(packages) = &file.packages {
        installed(&mut facts, packages);
    } else if let Some(dependencies) = &file.dependencies {
        for (name, entry) in dependencies {
            if let Some(version) = &entry.version {
                facts.pin_in("", name, version);
            }
        }
        nested(&mut facts, dependencies, &mut Vec::new());
        one_of_each(&mut facts);
    }
    Ok(facts)
}

/// Versions 2 and 3: one entry per place in `node_modules`.
fn installed(facts: &mut LockFacts, packages: &BTreeMap<String, Package>) {
    for (place, package) in packages {
        let Some(at) = place.rfind("node_modules/") else {
            facts.members.insert(place.clone());
            continue;
        };
        let resolved = package.resolved.as_ref().and_then(Value::as_str);
        if package.link {
            facts.members.extend(resolved.map(str::to_owned));
            continue;
        }
        let Some(version) = &package.version else {
            continue;
        };
        let installed_as = &place[at + "node_modules/".len()..];
        let owner = place[..at].trim_end_matches('/');
        if !owner.contains("node_modules") {
            facts.pin_in(owner, installed_as, version);
        }
        let origin = resolved.map_or(Origin::Registry, origin_of);
        let name = package.name.as_deref().unwrap_or(installed_as);
        let mut locked = LockedFacts::new(name, version, origin);
        locked.licence = licence(package.license.as_ref());
        for need in package
            .dependencies
            .keys()
            .chain(package.optional_dependencies.keys())
        {
            let version = resolve(packages, place, need);
            locked.needs.push((need.clone(), version));
        }
        facts.packages.push(locked);
    }
    one_of_each(facts);
}

/// The same version in several places is one package.
pub(super) fn one_of_each(facts: &mut LockFacts) {
    facts
        .packages
        .sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    facts.packages.dedup_by(|later, first| {
        let same = later.name == first.name && later.version == first.version;
        if same {
            first.needs.append(&mut later.needs);
        }
        same
    });
}

/// Finds the version that node would load for a package from a place.
fn resolve(packages: &BTreeMap<String, Package>, place: &str, need: &str) -> Option<String> {
    let mut place = place;
    loop {
        let candidate = if place.is_empty() {
            format!("node_modules/{need}")
        } else {
            format!("{place}/node_modules/{need}")
        };
        if let Some(found) = packages.get(&candidate) {
            return found.version.clone();
        }
        if place.is_empty() {
            return None;
        }
        place = place
            .rfind("node_modules/")
            .map_or("", |at| place[..at].trim_end_matches('/'));
    }
}

fn licence(value: Option<&Value>) -> Option<String> {
    let value = value?;
    let text = value
        .as_str()
        .or_else(|| value.get("type").and_then(Value::as_str))?;
    Some(crate::text::harmless(text, 120))
}

/// Version 1: a tree of what each package brought along.
fn nested<'a>(
    facts: &mut LockFacts,
    dependencies: &'a BTreeMap<String, Nested>,
    around: &mut Vec<&'a BTreeMap<String, Nested>>,
) {
    around.push(dependencies);
    for (name, entry) in dependencies {
        if let Some(version) = &entry.version {
            let resolved = entry.resolved.as_ref().and_then(Value::as_str);
            let origin = origin_of(resolved.unwrap_or(version));
            let mut locked = LockedFacts::new(name, version, origin);
            let own: HashMap<_, _> = entry.dependencies.iter().flatten().collect();
            for need in entry
                .requires
                .as_ref()
                .and_then(Value::as_object)
                .into_iter()
                .flat_map(|needs| needs.keys())
            {
                let found = own
                    .get(need)
                    .copied()
                    .or_else(|| around.iter().rev().find_map(|level| level.get(need)));
                locked
                    .needs
                    .push((need.clone(), found.and_then(|found| found.version.clone())));
            }
            facts.packages.push(locked);
        }
        if let Some(inner) = &entry.dependencies {
            nested(facts, inner, around);
        }
    }
    around.pop();
}

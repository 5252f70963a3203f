//! What lock files decide: the version a request got, and packages in several versions.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::facts::{Declared, LockFacts, ManifestFacts};
use super::names::{family_of, key_of};
use crate::paths::{folder_of, is_under};
use crate::report::dependencies::{Duplicate, DuplicateVersion, Ecosystem, Origin};

/// A lock file with its packages by name.
pub(super) struct Lock<'a> {
    pub(super) facts: &'a LockFacts,
    folder: &'a str,
    versions: HashMap<String, Vec<&'a str>>,
}

impl<'a> Lock<'a> {
    pub(super) fn of(facts: &'a LockFacts) -> Self {
        let mut versions: HashMap<String, Vec<&str>> = HashMap::new();
        for package in &facts.packages {
            let known = versions
                .entry(key_of(facts.ecosystem, &package.name))
                .or_default();
            known.push(&package.version);
        }
        Self {
            facts,
            folder: folder_of(&facts.path),
            versions,
        }
    }

    /// Returns the version that a request of a manifest got.
    pub(super) fn version_of(
        &self,
        manifest: &ManifestFacts,
        declared: &Declared,
    ) -> Option<String> {
        let inside = manifest
            .folder()
            .strip_prefix(self.folder)
            .unwrap_or_default()
            .trim_start_matches('/');
        let code_name = declared.code_name();
        let asked = declared.requirement.as_deref().unwrap_or_default();
        let pins = [
            format!("{inside}\0{code_name}"),
            format!("{code_name}@{asked}"),
            format!("\0{code_name}"),
        ];
        if let Some(pinned) = pins.iter().find_map(|pin| self.facts.pins.get(pin)) {
            return Some(pinned.clone());
        }
        let versions = self
            .versions
            .get(&key_of(self.facts.ecosystem, &declared.name))?;
        if let [only] = versions.as_slice() {
            return Some((*only).to_owned());
        }
        let range = semver::VersionReq::parse(if asked.is_empty() { "*" } else { asked }).ok();
        let mut fitting: Vec<semver::Version> = versions
            .iter()
            .filter_map(|version| semver::Version::parse(version).ok())
            .filter(|version| range.as_ref().is_none_or(|range| range.matches(version)))
            .collect();
        fitting.sort();
        fitting.last().map(ToString::to_string)
    }
}

/// Returns the lock file that decides for a manifest: the nearest in its folder or above.
pub(super) fn lock_for<'a, 'b>(
    locks: &'b [Lock<'a>],
    manifest: &ManifestFacts,
) -> Option<&'b Lock<'a>> {
    locks
        .iter()
        .filter(|lock| {
            lock.facts.ecosystem == manifest.ecosystem && is_under(&manifest.path, lock.folder)
        })
        .max_by_key(|lock| lock.folder.len())
}

/// Finds the packages that a lock file holds in several versions.
pub(super) fn duplicates(
    locks: &[Lock<'_>],
    direct: &HashSet<(Ecosystem, String)>,
) -> Vec<Duplicate> {
    let mut found: Vec<Duplicate> = locks
        .iter()
        .flat_map(|lock| duplicates_in(lock.facts, direct))
        .collect();
    found.sort_by(|a, b| {
        let rank = |each: &Duplicate| (!each.direct, std::cmp::Reverse(each.versions.len()));
        (rank(a), &a.name).cmp(&(rank(b), &b.name))
    });
    found
}

fn duplicates_in(lock: &LockFacts, direct: &HashSet<(Ecosystem, String)>) -> Vec<Duplicate> {
    let mut families: BTreeMap<&str, BTreeMap<&str, BTreeSet<String>>> = BTreeMap::new();
    for package in lock
        .packages
        .iter()
        .filter(|package| package.origin != Origin::Workspace)
    {
        let family = family_of(lock.ecosystem, &package.name);
        families
            .entry(family)
            .or_default()
            .entry(&package.version)
            .or_default();
    }
    families.retain(|_, versions| versions.len() > 1);
    for package in &lock.packages {
        for (name, version) in &package.needs {
            if let Some(versions) = families.get_mut(name.as_str())
                && let Some(requirers) = version
                    .as_ref()
                    .and_then(|version| versions.get_mut(version.as_str()))
            {
                requirers.insert(format!("{} {}", package.name, package.version));
            }
        }
    }
    families
        .into_iter()
        .map(|(name, versions)| Duplicate {
            ecosystem: lock.ecosystem,
            name: name.to_owned(),
            lockfile: lock.path.clone(),
            direct: direct.contains(&(lock.ecosystem, key_of(lock.ecosystem, name))),
            versions: versions
                .into_iter()
                .map(|(version, requirers)| DuplicateVersion {
                    version: version.to_owned(),
                    required_by: requirers.into_iter().collect(),
                    more_requirers: 0,
                })
                .collect(),
            more_versions: 0,
        })
        .collect()
}

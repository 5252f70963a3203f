//! Locked versions: the version that a requirement resolved to, and packages in several versions.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::facts::{Declared, LockFacts, LockedFacts, ManifestFacts};
use super::names::{family_of, key_of};
use crate::paths::{folder_of, is_under, name_of};
use crate::report::dependencies::{Duplicate, DuplicateVersion, Ecosystem, Kind, Origin};

/// A lock file with its packages by name.
pub(super) struct Lock<'a> {
    pub(super) facts: &'a LockFacts,
    folder: &'a str,
    versions: HashMap<String, BTreeSet<&'a str>>,
    /// Packages of the repository itself, by name (Cargo).
    workspace: HashMap<&'a str, &'a LockedFacts>,
}

impl<'a> Lock<'a> {
    pub(super) fn of(facts: &'a LockFacts) -> Self {
        let mut versions: HashMap<String, BTreeSet<&str>> = HashMap::new();
        for package in &facts.packages {
            versions
                .entry(key_of(facts.ecosystem, &package.name))
                .or_default()
                .insert(&package.version);
        }
        let own = facts.packages.iter();
        Self {
            facts,
            folder: folder_of(&facts.path),
            versions,
            workspace: own
                .filter(|package| package.origin == Origin::Workspace)
                .map(|package| (package.name.as_str(), package))
                .collect(),
        }
    }

    /// Returns whether it holds a dependency in any version.
    pub(super) fn lists(&self, declared: &Declared) -> bool {
        self.versions_of(declared).is_some()
    }

    fn versions_of(&self, declared: &Declared) -> Option<&BTreeSet<&'a str>> {
        self.versions
            .get(&key_of(self.facts.ecosystem, &declared.name))
    }

    /// Returns whether it says of a manifest that it decides for it.
    pub(super) fn has_member(&self, manifest: &ManifestFacts) -> bool {
        if self.facts.ecosystem != manifest.ecosystem || !is_under(&manifest.path, self.folder) {
            return false;
        }
        let named = manifest
            .package
            .as_deref()
            .filter(|_| manifest.ecosystem == Ecosystem::Cargo);
        let inside = self.inside(manifest);
        let member = named.and_then(|name| self.workspace.get(name));
        self.facts.members.contains(inside)
            || member.is_some_and(|member| asks_for_the_same(manifest, member))
    }

    /// Returns whether it decides the versions of a manifest.
    fn decides_for(&self, manifest: &ManifestFacts) -> bool {
        // Requirement files are installed by pip, which reads no lock file.
        let kind = match (name_of(&self.facts.path), name_of(&manifest.path)) {
            ("poetry.lock" | "uv.lock" | "pdm.lock", name) => name == "pyproject.toml",
            ("Pipfile.lock", name) => name == "Pipfile",
            ("go.mod", _) => self.facts.path == manifest.path,
            _ => true,
        };
        let same_folder = manifest.folder() == self.folder;
        let same_ecosystem = self.facts.ecosystem == manifest.ecosystem;
        kind && same_ecosystem && (same_folder || self.has_member(manifest))
    }

    fn inside<'m>(&self, manifest: &'m ManifestFacts) -> &'m str {
        let folder = manifest.folder();
        let inside = folder.strip_prefix(self.folder).unwrap_or_default();
        inside.trim_start_matches('/')
    }

    /// Returns the version that a request of a manifest got.
    pub(super) fn version_of(
        &self,
        manifest: &ManifestFacts,
        declared: &Declared,
    ) -> Option<String> {
        let inside = self.inside(manifest);
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
        let versions = self.versions_of(declared)?;
        let mut all = versions.iter();
        if let (Some(only), None) = (all.next(), all.next()) {
            return Some((*only).to_owned());
        }
        if self.facts.ecosystem != Ecosystem::Cargo {
            return None;
        }
        let range = semver::VersionReq::parse(if asked.is_empty() { "*" } else { asked }).ok()?;
        let member = manifest.package.as_deref();
        let member = member.and_then(|name| self.workspace.get(name));
        let needed = |version: &str| {
            member.is_none_or(|member| {
                let mut needs = member.needs.iter();
                needs.any(|(name, of)| *name == declared.name && of.as_deref() == Some(version))
            })
        };
        let mut fitting = versions.iter().filter(|version| {
            let parsed = semver::Version::parse(version);
            needed(version) && parsed.is_ok_and(|version| range.matches(&version))
        });
        let first = fitting.next()?;
        fitting.next().is_none().then(|| (*first).to_owned())
    }
}

/// Returns whether a manifest asks for nothing but what a package of the same name has in the lock file.
fn asks_for_the_same(manifest: &ManifestFacts, member: &LockedFacts) -> bool {
    let needs: HashSet<&str> = member.needs.iter().map(|(name, _)| name.as_str()).collect();
    manifest
        .declared
        .iter()
        .filter(|each| each.condition.is_none() && each.kind != Kind::Optional)
        .all(|each| needs.contains(each.name.as_str()))
}

/// Returns the lock file that decides for a manifest: the nearest of those that do.
pub(super) fn lock_for<'a, 'b>(
    locks: &'b [Lock<'a>],
    manifest: &ManifestFacts,
) -> Option<&'b Lock<'a>> {
    locks
        .iter()
        .filter(|lock| lock.decides_for(manifest))
        .max_by_key(|lock| lock.folder.len())
}

/// Finds the packages that a lock file holds in several versions.
pub(super) fn duplicates(
    locks: &[Lock<'_>],
    direct: &HashMap<&str, HashSet<String>>,
) -> Vec<Duplicate> {
    let mut found: Vec<Duplicate> = locks
        .iter()
        .flat_map(|lock| duplicates_in(lock.facts, direct.get(lock.facts.path.as_str())))
        .collect();
    found.sort_by(|a, b| {
        let rank = |each: &Duplicate| (!each.direct, std::cmp::Reverse(each.versions.len()));
        (rank(a), &a.name).cmp(&(rank(b), &b.name))
    });
    found
}

fn duplicates_in(lock: &LockFacts, direct: Option<&HashSet<String>>) -> Vec<Duplicate> {
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
            direct: direct.is_some_and(|names| names.contains(&key_of(lock.ecosystem, name))),
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

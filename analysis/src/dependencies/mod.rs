//! The scope `dependencies`: manifests, lock files, conflicts, usage.
//!
//! One file per ecosystem parses and nothing else; `locks`, `loose`, `conflicts` and `usage`
//! conclude. Manifests are data of strangers: they are bounded in size, never executed, and no
//! path in them is followed out of the repository.

mod bundler;
mod cargo;
mod composer;
mod conflicts;
mod corrections;
mod facts;
mod go;
mod gradle;
mod json_keys;
pub(crate) mod licences;
mod locks;
pub(crate) mod maven;
mod names;
mod npm;
mod nuget;
mod pypi;
mod roles;
#[cfg(test)]
mod tests;
mod unpinned;
mod usage;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

use super::tree::scan::Reading;
use crate::tree::file_list::FileList;
use crate::{AnalysisError, Budget, Depth};
use facts::{Declared, LockedFacts, ManifestFacts, Reader};
use licences::PackageCaches;
use locks::Lock;
use names::key_of;

use super::report::dependencies::{
    DependencyReport, Direct, Disagreement, Ecosystem, EcosystemCounts, Kind, LicenceGroup, Locked,
    LockedFile, Loose, LooseReason, Manifest, Origin, Place, Role,
};

/// Packages named as examples of a licence.
const LICENCE_EXAMPLES: usize = 5;

/// Reads the manifests and lock files of one ecosystem.
type Parser = fn(&mut Reader<'_>) -> Result<(), AnalysisError>;

/// Analyses what the repository at `root` depends on.
///
/// Licences that no lock file states are read from `caches`.
pub fn dependencies(
    root: &Path,
    depth: Depth,
    caches: &PackageCaches,
    budget: &Budget,
) -> Result<DependencyReport, AnalysisError> {
    budget.report(0.0, "listing files");
    let listing = FileList::of(root, Reading::Names, budget)?;
    let mut reader = Reader::new(&listing, budget);
    reader.incomplete.extend(listing.gap());
    let parsers: [Parser; 9] = [
        cargo::read,
        npm::read,
        pypi::read,
        go::read,
        maven::read,
        gradle::read,
        composer::read,
        bundler::read,
        nuget::read,
    ];
    let mut fraction = 0.5;
    for read in parsers {
        budget.report(fraction, "reading manifests and lock files");
        read(&mut reader)?;
        fraction += 0.01;
    }
    reader.finish();
    if depth != Depth::Shallow {
        budget.report(0.58, "reading licences");
        licences::fill(&mut reader.locks, root, caches, budget);
    }
    budget.report(0.6, "comparing versions");
    let mut report = conclude(&mut reader, depth)?;
    if depth != Depth::Shallow {
        budget.report(0.65, "reading imports");
        let traced = usage::trace(&listing, &reader.manifests, depth, budget)?;
        report.usage = traced.usage.into();
        report.unused = traced.unused.into();
        report.incomplete.extend(traced.incomplete);
    }
    budget.check()?;
    budget.report(1.0, "done");
    Ok(report)
}

/// Draws the conclusions that need no source code.
fn conclude(reader: &mut Reader<'_>, depth: Depth) -> Result<DependencyReport, AnalysisError> {
    let budget = reader.budget;
    let mut report = DependencyReport::empty(depth);
    report.incomplete = std::mem::take(&mut reader.incomplete).into();
    report.vendored_manifests = reader.vendored;
    corrections::settle_roles(&mut reader.manifests, &reader.locks);
    let locks: Vec<Lock<'_>> = reader.locks.iter().map(Lock::of).collect();
    corrections::own_packages(&mut reader.manifests, &locks);
    corrections::own_extras(&mut reader.manifests);
    // What is asked for by name, for each lock file: one module's indirect dependency is direct in another.
    let mut decisive: HashMap<&str, HashSet<String>> = HashMap::new();
    let mut direct_names: HashSet<(Ecosystem, String)> = HashSet::new();
    let mut groups: BTreeMap<GroupKey, Vec<Place>> = BTreeMap::new();
    let bounded = bounded(&reader.manifests);
    for manifest in &reader.manifests {
        budget.check()?;
        let lock = locks::lock_for(&locks, manifest);
        report.manifests.push(describe(manifest, lock));
        if manifest.role != Role::Product {
            continue;
        }
        let mut names = lock.map(|lock| decisive.entry(&lock.facts.path).or_default());
        for declared in &manifest.declared {
            let locked = lock
                .filter(|_| declared.origin != Origin::Workspace)
                .and_then(|lock| lock.version_of(manifest, declared));
            let key = (
                manifest.ecosystem,
                key_of(manifest.ecosystem, &declared.name),
            );
            let found = unpinned::judge(manifest, declared, locked.as_deref(), lock);
            // What another file of the same installation bounds is not open.
            let is_open = |loose: &Loose| loose.reason != LooseReason::AnyVersion;
            report
                .loose
                .extend(found.filter(|loose| is_open(loose) || !bounded.contains(&key)));
            if is_direct(declared) {
                if let Some(names) = &mut names {
                    names.insert(key.1.clone());
                }
                direct_names.insert(key);
            }
            if declared.kind == Kind::Indirect {
                continue;
            }
            let place = Place {
                manifest: manifest.path.clone(),
                line: declared.line,
            };
            groups
                .entry(group_key(manifest, declared, locked))
                .or_default()
                .push(place);
        }
    }
    // A lock file that decides for examples or for nothing says nothing of the product.
    let locks: Vec<Lock<'_>> = locks
        .into_iter()
        .filter(|lock| decisive.contains_key(lock.facts.path.as_str()))
        .collect();
    report.direct = groups.into_iter().map(direct).collect();
    // Stable sorts: what the planner meets first are the most used dependencies of the product.
    report
        .direct
        .sort_by_key(|each| (each.kind, std::cmp::Reverse(each.places.len())));
    report.loose.sort_by(|a, b| {
        (a.reason, a.kind, &a.name, &a.place).cmp(&(b.reason, b.kind, &b.name, &b.place))
    });
    report.manifests.sort_by(|a, b| {
        (a.role, a.path.matches('/').count(), &a.path).cmp(&(
            b.role,
            b.path.matches('/').count(),
            &b.path,
        ))
    });
    budget.check()?;
    report.conflicts = conflicts::find(&reader.manifests).into();
    budget.check()?;
    report.duplicates = locks::duplicates(&locks, &decisive).into();
    report.ecosystems = counts(&reader.manifests, &locks, &report, &direct_names);
    if depth != Depth::Shallow {
        list_locked(&mut report, &locks, &decisive);
    }
    Ok(report)
}

/// Returns whether a manifest asks here for a package of other people that its code uses.
fn is_direct(declared: &Declared) -> bool {
    let elsewhere = match declared.origin {
        Origin::Registry | Origin::Git | Origin::Url => true,
        Origin::Path => !declared.fixed,
        Origin::Workspace => false,
    };
    let condition = declared.condition.as_deref().unwrap_or_default();
    let only_built_with = matches!(condition, "plugin" | "imported management");
    elsewhere
        && declared.kind != Kind::Indirect
        && !only_built_with
        && !condition.starts_with("patch of ")
}

/// Returns the packages to which a file of an installation from several files gives a version.
fn bounded(manifests: &[ManifestFacts]) -> HashSet<(Ecosystem, String)> {
    let together = [Ecosystem::Pypi, Ecosystem::Bundler];
    manifests
        .iter()
        .filter(|manifest| together.contains(&manifest.ecosystem))
        .flat_map(|manifest| {
            let entries = manifest.declared.iter().chain(&manifest.offered);
            entries
                .filter(|each| each.requirement.as_deref().is_some_and(|text| text != "*"))
                .map(|each| (manifest.ecosystem, key_of(manifest.ecosystem, &each.name)))
        })
        .collect()
}

/// What makes two requests the same: everything but the place.
type GroupKey = (
    Ecosystem,
    String,
    Kind,
    Option<String>,
    Option<String>,
    Origin,
    [Option<String>; 3],
);

fn group_key(manifest: &ManifestFacts, declared: &Declared, locked: Option<String>) -> GroupKey {
    (
        manifest.ecosystem,
        declared.name.clone(),
        declared.kind,
        declared.requirement.clone(),
        locked,
        declared.origin,
        [
            declared.location.clone(),
            declared.alias.clone(),
            declared.condition.clone(),
        ],
    )
}

fn direct((key, mut places): (GroupKey, Vec<Place>)) -> Direct {
    places.sort();
    let (ecosystem, name, kind, requirement, locked, origin, [location, alias, condition]) = key;
    Direct {
        ecosystem,
        name,
        requirement,
        locked,
        kind,
        origin,
        location,
        alias,
        condition,
        places,
        more_places: 0,
    }
}

fn describe(manifest: &ManifestFacts, lock: Option<&Lock<'_>>) -> Manifest {
    Manifest {
        path: manifest.path.clone(),
        ecosystem: manifest.ecosystem,
        role: manifest.role,
        package: manifest.package.clone(),
        version: manifest.version.clone(),
        licence: manifest.licence.clone(),
        lockfile: lock.map(|lock| lock.facts.path.clone()),
        dependencies: count(manifest.declared.len()),
    }
}

fn counts(
    manifests: &[ManifestFacts],
    locks: &[Lock<'_>],
    report: &DependencyReport,
    direct: &HashSet<(Ecosystem, String)>,
) -> Vec<EcosystemCounts> {
    let mut found: BTreeMap<Ecosystem, EcosystemCounts> = BTreeMap::new();
    let mut of = |ecosystem: Ecosystem, add: &dyn Fn(&mut EcosystemCounts)| {
        add(found.entry(ecosystem).or_insert(EcosystemCounts {
            ecosystem,
            manifests: 0,
            apart: 0,
            lockfiles: 0,
            direct: 0,
            locked: 0,
            duplicates: 0,
            conflicts: 0,
        }));
    };
    for manifest in manifests {
        of(manifest.ecosystem, &|counts| match manifest.role {
            Role::Product => counts.manifests += 1,
            Role::Example | Role::Fixture => counts.apart += 1,
        });
    }
    for lock in locks {
        of(lock.facts.ecosystem, &|counts| counts.lockfiles += 1);
    }
    let locked: HashSet<(Ecosystem, &str, &str)> = locks
        .iter()
        .flat_map(|lock| strangers(lock).map(|each| (lock.facts.ecosystem, each)))
        .map(|(ecosystem, each)| (ecosystem, each.name.as_str(), each.version.as_str()))
        .collect();
    for (ecosystem, _, _) in locked {
        of(ecosystem, &|counts| counts.locked += 1);
    }
    for (ecosystem, _) in direct {
        of(*ecosystem, &|counts| counts.direct += 1);
    }
    for duplicate in report.duplicates.iter() {
        of(duplicate.ecosystem, &|counts| counts.duplicates += 1);
    }
    for conflict in report.conflicts.iter() {
        if conflict.disagreement == Disagreement::Incompatible {
            of(conflict.ecosystem, &|counts| counts.conflicts += 1);
        }
    }
    found.into_values().collect()
}

/// Returns the packages of a lock file that are not of this repository.
fn strangers<'a>(lock: &Lock<'a>) -> impl Iterator<Item = &'a LockedFacts> + use<'a> {
    let packages = lock.facts.packages.iter();
    packages.filter(|package| package.origin != Origin::Workspace)
}

/// Adds what the lock files hold, and under which licences.
fn list_locked(
    report: &mut DependencyReport,
    locks: &[Lock<'_>],
    direct: &HashMap<&str, HashSet<String>>,
) {
    let mut licences: BTreeMap<&str, BTreeSet<(&str, &str)>> = BTreeMap::new();
    let mut unknown: HashSet<(Ecosystem, &str, &str)> = HashSet::new();
    for lock in locks {
        let ecosystem = lock.facts.ecosystem;
        let asked = direct.get(lock.facts.path.as_str());
        let mut packages = Vec::new();
        for package in strangers(lock) {
            match &package.licence {
                Some(licence) => {
                    let names = licences.entry(licence).or_default();
                    names.insert((&package.name, &package.version));
                }
                None => {
                    unknown.insert((ecosystem, &package.name, &package.version));
                }
            }
            let key = key_of(ecosystem, &package.name);
            packages.push(Locked {
                name: package.name.clone(),
                version: package.version.clone(),
                origin: package.origin,
                direct: asked.is_some_and(|asked| asked.contains(&key)),
                licence: package.licence.clone(),
            });
        }
        packages.sort_by(|a, b| {
            (!a.direct, &a.name, &a.version).cmp(&(!b.direct, &b.name, &b.version))
        });
        if !packages.is_empty() {
            report.locked.push(LockedFile {
                lockfile: lock.facts.path.clone(),
                ecosystem,
                packages,
                more_packages: 0,
            });
        }
    }
    report.licence_unknown = count(unknown.len());
    report
        .locked
        .sort_by_key(|file| (file.lockfile.matches('/').count(), file.lockfile.clone()));
    report.licences = licences
        .into_iter()
        .map(|(licence, packages)| LicenceGroup {
            licence: licence.to_owned(),
            packages: count(packages.len()),
            examples: packages
                .into_iter()
                .take(LICENCE_EXAMPLES)
                .map(|(name, _)| name.to_owned())
                .collect(),
        })
        .collect();
    report.licences.sort_by(|a, b| {
        (std::cmp::Reverse(a.packages), &a.licence)
            .cmp(&(std::cmp::Reverse(b.packages), &b.licence))
    });
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

//! What a repository depends on: manifests, lock files, and what can be concluded from them.
//!
//! One file per ecosystem parses and nothing else; `locks`, `loose`, `conflicts` and `usage`
//! conclude. Manifests are data of strangers: they are bounded in size, never executed, and no
//! path in them is followed out of the repository.

mod bundler;
mod cargo;
mod composer;
mod conflicts;
mod facts;
mod go;
mod gradle;
mod json_keys;
mod locks;
mod loose;
mod maven;
mod names;
mod npm;
mod nuget;
mod pypi;
#[cfg(test)]
mod tests;
mod usage;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use super::tree::scan::Reading;
use crate::tree::file_list::FileList;
use crate::{AnalysisError, Control, Depth};
use facts::{Declared, ManifestFacts, Reader};
use locks::Lock;
use names::key_of;

use super::report::dependencies::{
    DependencyReport, Direct, Ecosystem, EcosystemCounts, Kind, LicenceGroup, Locked, Manifest,
    Origin, Place, Role,
};

/// Packages named as examples of a licence.
const LICENCE_EXAMPLES: usize = 5;

/// Reads the manifests and lock files of one ecosystem.
type Parser = fn(&mut Reader<'_>) -> Result<(), AnalysisError>;

/// Analyses what the repository at `root` depends on.
pub fn dependencies(
    root: &Path,
    depth: Depth,
    control: &Control,
) -> Result<DependencyReport, AnalysisError> {
    control.report(0.0, "listing files");
    let listing = FileList::of(root, Reading::Names, control)?;
    let mut reader = Reader::new(&listing, control);
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
        control.report(fraction, "reading manifests and lock files");
        read(&mut reader)?;
        fraction += 0.01;
    }
    reader.finish();
    control.report(0.6, "comparing versions");
    let mut report = conclude(&mut reader, depth)?;
    if depth == Depth::Deep {
        control.report(0.65, "reading imports");
        let traced = usage::trace(&listing, &reader.manifests, control)?;
        report.usage = traced.usage.into();
        report.unused = traced.unused.into();
        report.incomplete.extend(traced.incomplete);
    }
    control.check()?;
    control.report(1.0, "done");
    Ok(report)
}

/// Draws the conclusions that need no source code.
fn conclude(reader: &mut Reader<'_>, depth: Depth) -> Result<DependencyReport, AnalysisError> {
    let control = reader.control;
    let mut report = DependencyReport::empty(depth);
    report.incomplete = std::mem::take(&mut reader.incomplete).into();
    report.vendored_manifests = reader.vendored;
    let locks: Vec<Lock<'_>> = reader.locks.iter().map(Lock::of).collect();
    let mut direct_names: HashSet<(Ecosystem, String)> = HashSet::new();
    let mut groups: BTreeMap<GroupKey, Vec<Place>> = BTreeMap::new();
    for manifest in &reader.manifests {
        control.check()?;
        let lock = locks::lock_for(&locks, manifest);
        report.manifests.push(describe(manifest, lock));
        if manifest.role == Role::Fixture {
            continue;
        }
        for declared in &manifest.declared {
            let locked = lock.and_then(|lock| lock.version_of(manifest, declared));
            report.loose.extend(loose::judge(
                manifest,
                declared,
                locked.as_deref(),
                lock.is_some(),
            ));
            direct_names.insert((
                manifest.ecosystem,
                key_of(manifest.ecosystem, &declared.name),
            ));
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
    control.check()?;
    report.conflicts = conflicts::find(&reader.manifests).into();
    control.check()?;
    report.duplicates = locks::duplicates(&locks, &direct_names).into();
    report.ecosystems = counts(reader, &report, &direct_names);
    if depth != Depth::Shallow {
        list_locked(&mut report, &locks, &direct_names);
    }
    Ok(report)
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
    reader: &Reader<'_>,
    report: &DependencyReport,
    direct: &HashSet<(Ecosystem, String)>,
) -> Vec<EcosystemCounts> {
    let mut found: BTreeMap<Ecosystem, EcosystemCounts> = BTreeMap::new();
    let mut of = |ecosystem: Ecosystem, add: &dyn Fn(&mut EcosystemCounts)| {
        add(found.entry(ecosystem).or_insert(EcosystemCounts {
            ecosystem,
            manifests: 0,
            lockfiles: 0,
            direct: 0,
            locked: 0,
            duplicates: 0,
        }));
    };
    for manifest in &reader.manifests {
        of(manifest.ecosystem, &|counts| counts.manifests += 1);
    }
    for lock in &reader.locks {
        let strangers = lock
            .packages
            .iter()
            .filter(|package| package.origin != Origin::Workspace)
            .count();
        of(lock.ecosystem, &|counts| {
            counts.lockfiles += 1;
            counts.locked += count(strangers);
        });
    }
    for (ecosystem, _) in direct {
        of(*ecosystem, &|counts| counts.direct += 1);
    }
    for duplicate in report.duplicates.iter() {
        of(duplicate.ecosystem, &|counts| counts.duplicates += 1);
    }
    found.into_values().collect()
}

/// Adds what the lock files hold, and under which licences.
fn list_locked(
    report: &mut DependencyReport,
    locks: &[Lock<'_>],
    direct: &HashSet<(Ecosystem, String)>,
) {
    let mut licences: HashMap<&str, (u32, Vec<String>)> = HashMap::new();
    for lock in locks {
        for package in lock
            .facts
            .packages
            .iter()
            .filter(|package| package.origin != Origin::Workspace)
        {
            match &package.licence {
                Some(licence) => {
                    let (packages, examples) = licences.entry(licence).or_default();
                    *packages += 1;
                    if examples.len() < LICENCE_EXAMPLES {
                        examples.push(package.name.clone());
                    }
                }
                None => report.licence_unknown += 1,
            }
            let ecosystem = lock.facts.ecosystem;
            report.locked.push(Locked {
                ecosystem,
                name: package.name.clone(),
                version: package.version.clone(),
                origin: package.origin,
                direct: direct.contains(&(ecosystem, key_of(ecosystem, &package.name))),
                licence: package.licence.clone(),
                lockfile: lock.facts.path.clone(),
            });
        }
    }
    report.locked.sort_by(|a, b| {
        (!a.direct, a.ecosystem, &a.name, &a.version).cmp(&(
            !b.direct,
            b.ecosystem,
            &b.name,
            &b.version,
        ))
    });
    report.licences = licences
        .into_iter()
        .map(|(licence, (packages, examples))| LicenceGroup {
            licence: licence.to_owned(),
            packages,
            examples,
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

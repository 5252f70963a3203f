//! Corrects what was read of each manifest by what the lock files and the other manifests tell.

use std::collections::HashSet;

use super::facts::{LockFacts, ManifestFacts};
use super::locks::{Lock, lock_for};
use super::names::key_of;
use super::roles::{is_example, is_test_data};
use crate::paths::folder_of;
use crate::report::dependencies::{Ecosystem, Origin, Role};

/// Corrects the roles by what the lock files and the other manifests tell.
pub(super) fn settle_roles(manifests: &mut [ManifestFacts], locks: &[LockFacts]) {
    let read: Vec<Lock<'_>> = locks.iter().map(Lock::of).collect();
    for manifest in manifests.iter_mut() {
        // A crate of the workspace is built with the product; of JavaScript test data may be members too.
        if manifest.role == Role::Fixture
            && manifest.ecosystem == Ecosystem::Cargo
            && !is_test_data(&manifest.path)
            && read.iter().any(|lock| lock.has_member(manifest))
        {
            let folder = folder_of(&manifest.path).to_ascii_lowercase();
            let example = folder.split('/').any(is_example);
            manifest.role = if example {
                Role::Example
            } else {
                Role::Product
            };
        }
    }
    // In a repository of examples they are the product.
    let own: Vec<Ecosystem> = manifests
        .iter()
        .filter(|manifest| manifest.role == Role::Product)
        .map(|manifest| manifest.ecosystem)
        .collect();
    if own.is_empty() {
        for manifest in manifests
            .iter_mut()
            .filter(|each| each.role == Role::Example)
        {
            manifest.role = Role::Product;
        }
    }
}

/// Marks what package managers of JavaScript take from the repository itself although the manifest reads as if not.
pub(super) fn own_packages(manifests: &mut [ManifestFacts], locks: &[Lock<'_>]) {
    let own: HashSet<String> = manifests
        .iter()
        .filter(|manifest| manifest.ecosystem == Ecosystem::Npm)
        .filter_map(|manifest| manifest.package.clone())
        .collect();
    for manifest in manifests
        .iter_mut()
        .filter(|each| each.ecosystem == Ecosystem::Npm)
    {
        let linked: Vec<bool> = manifest
            .declared
            .iter()
            .map(|declared| {
                let lock = lock_for(locks, manifest);
                match lock.and_then(|lock| lock.version_of(manifest, declared)) {
                    Some(version) => {
                        ["link:", "file:"]
                            .iter()
                            .any(|place| version.starts_with(place))
                            || version == "0.0.0-use.local"
                    }
                    None => own.contains(&declared.name),
                }
            })
            .collect();
        for (declared, _) in manifest
            .declared
            .iter_mut()
            .zip(linked)
            .filter(|(declared, linked)| *linked && declared.origin == Origin::Registry)
        {
            *declared = declared.clone().workspace();
        }
    }
}

/// Marks what a Python project asks of itself: an extra names others as `itself[other]`.
pub(super) fn own_extras(manifests: &mut [ManifestFacts]) {
    for manifest in manifests
        .iter_mut()
        .filter(|each| each.ecosystem == Ecosystem::Pypi)
    {
        let Some(own) = manifest.package.as_deref() else {
            continue;
        };
        let own = key_of(Ecosystem::Pypi, own);
        for declared in &mut manifest.declared {
            if key_of(Ecosystem::Pypi, &declared.name) == own {
                *declared = declared.clone().workspace();
            }
        }
    }
}

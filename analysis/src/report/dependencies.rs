//! The report of the scope `dependencies`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::headline::with_findings;
use super::{Cut, Incomplete, Listing, Report, shorten};
use crate::Depth;

pub use super::dependency_kinds::{
    Confidence, Disagreement, Ecosystem, Kind, LooseReason, Origin, Role,
};

/// Items kept of a list inside an entry when a report is summarised.
const MAX_NESTED: usize = 6;

/// Packages kept of one lock file when a report is summarised.
const MAX_PACKAGES: usize = 25;

/// Counts for one ecosystem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EcosystemCounts {
    /// The package manager.
    pub ecosystem: Ecosystem,
    /// How many manifests of the product.
    pub manifests: u32,
    /// Manifests of examples, test data and templates; they count in none of the other numbers.
    pub apart: u32,
    /// How many lock files.
    pub lockfiles: u32,
    /// Different packages from outside the repository that manifests ask for.
    pub direct: u32,
    /// Different package versions in lock files, or in `go.mod`.
    pub locked: u32,
    /// Packages locked in more than one version.
    pub duplicates: u32,
    /// Packages asked for in ranges that no version satisfies.
    pub conflicts: u32,
}

/// A manifest and the package it describes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// Path from the top of the repository.
    pub path: String,
    /// The package manager.
    pub ecosystem: Ecosystem,
    /// What the manifest belongs to.
    pub role: Role,
    /// Name of the package.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Its licence, as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
    /// The lock file that decides the versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lockfile: Option<String>,
    /// Dependencies declared here.
    pub dependencies: u32,
}

/// A line of a manifest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    /// Path of the manifest.
    pub manifest: String,
    /// Line, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// A dependency that manifests ask for; equal requests of several manifests are one entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Direct {
    /// The package manager.
    pub ecosystem: Ecosystem,
    /// Its name.
    pub name: String,
    /// The version range as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requirement: Option<String>,
    /// The version in the lock file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locked: Option<String>,
    /// What it is for.
    pub kind: Kind,
    /// Where it comes from when that is not a registry.
    #[serde(default, skip_serializing_if = "Origin::is_registry")]
    pub origin: Origin,
    /// Address or path when it does not come from a registry; never with credentials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// The name it goes by in the code when it was renamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// When it applies: target, marker, extra, group, profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Where it is declared.
    pub places: Vec<Place>,
    /// Places left out of this summary.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_places: u32,
}

/// The packages of a lock file, those that a manifest asks for first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LockedFile {
    /// Path of the lock file, or of `go.mod`.
    pub lockfile: String,
    /// The package manager.
    pub ecosystem: Ecosystem,
    /// The package versions in it.
    pub packages: Vec<Locked>,
    /// Packages left out of this summary.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_packages: u32,
}

/// A package version in a lock file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Locked {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Where it comes from when that is not a registry.
    #[serde(default, skip_serializing_if = "Origin::is_registry")]
    pub origin: Origin,
    /// Whether a manifest that this lock file belongs to asks for it by name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub direct: bool,
    /// Its licence, as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
}

/// One of several locked versions of a package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuplicateVersion {
    /// Its version.
    pub version: String,
    /// Locked packages that ask for this version, as far as the lock file tells.
    pub required_by: Vec<String>,
    /// Requirers left out of this summary.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_requirers: u32,
}

/// A package that one lock file holds in several versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Duplicate {
    /// The package manager.
    pub ecosystem: Ecosystem,
    /// Its name.
    pub name: String,
    /// Path of the lock file.
    pub lockfile: String,
    /// The versions, and who asks for them.
    pub versions: Vec<DuplicateVersion>,
    /// Versions left out of this summary.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_versions: u32,
    /// Whether a manifest of this repository asks for it.
    pub direct: bool,
}

/// One of several requirements for the same package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Requirement {
    /// The version range as written.
    pub requirement: String,
    /// Where it is declared.
    pub places: Vec<Place>,
    /// Places left out of this summary.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_places: u32,
}

/// A package for which manifests of this repository ask in ranges that no version, or perhaps none, satisfies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Conflict {
    /// The package manager.
    pub ecosystem: Ecosystem,
    /// Its name.
    pub name: String,
    /// How far the requirements are apart.
    pub disagreement: Disagreement,
    /// What the manifests ask for.
    pub requirements: Vec<Requirement>,
    /// Requirements left out of this summary.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_requirements: u32,
}

/// A dependency that is not pinned to a version of a registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Loose {
    /// The package manager.
    pub ecosystem: Ecosystem,
    /// Its name.
    pub name: String,
    /// Why it is listed.
    pub reason: LooseReason,
    /// What it is for.
    pub kind: Kind,
    /// The version range as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requirement: Option<String>,
    /// Address or path if it does not come from a registry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    #[serde(flatten)]
    pub place: Place,
}

/// Packages under one licence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LicenceGroup {
    /// Its licence, as written.
    pub licence: String,
    /// How many packages.
    pub packages: u32,
    /// Some of them.
    pub examples: Vec<String>,
}

/// A folder whose files use a dependency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModuleUse {
    /// Path from the top of the repository.
    pub folder: String,
    /// How many files.
    pub files: u32,
    /// One of the files.
    pub example: String,
}

/// Where a dependency is used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// The package manager.
    pub ecosystem: Ecosystem,
    /// Its name.
    pub name: String,
    /// Path of the manifest.
    pub manifest: String,
    /// Files that import it.
    pub files: u32,
    /// How sure it is that those imports mean this package.
    pub confidence: Confidence,
    /// The folders that import it.
    pub modules: Vec<ModuleUse>,
    /// Modules left out of this summary.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_modules: u32,
}

/// A dependency that is declared and that nothing else in the repository names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Unused {
    /// The package manager.
    pub ecosystem: Ecosystem,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub kind: Kind,
    /// What proves it.
    pub why: String,
    #[serde(flatten)]
    pub place: Place,
}

/// What the repository depends on.
///
/// Every list has its most important items first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DependencyReport {
    /// How thorough this analysis was.
    pub depth: Depth,
    /// Counts for each package manager.
    pub ecosystems: Vec<EcosystemCounts>,
    /// Parts of the report that are missing, and why.
    #[serde(default, skip_serializing_if = "Listing::has_nothing")]
    pub incomplete: Listing<Incomplete>,
    /// Packages asked for in ranges that no version, or perhaps none, satisfies.
    pub conflicts: Listing<Conflict>,
    /// Dependencies that are not pinned to a version of a registry.
    pub loose: Listing<Loose>,
    /// Declared and named nowhere else, of the package managers that allow a proof (Cargo workspaces, Go); only at depth deep.
    pub unused: Listing<Unused>,
    /// Packages that a lock file holds in several versions.
    pub duplicates: Listing<Duplicate>,
    /// What the manifests of the product ask for themselves; in a summary only at depth deep, as the manifests say it.
    pub direct: Listing<Direct>,
    /// Which folders use which dependency; from depth medium on.
    pub usage: Listing<Usage>,
    /// The manifests.
    pub manifests: Listing<Manifest>,
    /// Licences of locked packages as lock files and the caches of package managers state them; from depth medium on.
    pub licences: Listing<LicenceGroup>,
    /// Locked packages whose licence is stated in none of these.
    pub licence_unknown: u32,
    /// The locked packages of each lock file; from depth medium on, in a summary only at depth deep.
    pub locked: Listing<LockedFile>,
    /// Manifests in `vendor` folders, which are not read.
    pub vendored_manifests: u32,
}

impl DependencyReport {
    pub(crate) fn empty(depth: Depth) -> Self {
        Self {
            depth,
            ecosystems: Vec::new(),
            incomplete: Listing::default(),
            conflicts: Listing::default(),
            loose: Listing::default(),
            unused: Listing::default(),
            duplicates: Listing::default(),
            direct: Listing::default(),
            usage: Listing::default(),
            manifests: Listing::default(),
            licences: Listing::default(),
            licence_unknown: 0,
            locked: Listing::default(),
            vendored_manifests: 0,
        }
    }
}

impl Report for DependencyReport {
    fn headline(&self) -> String {
        if self.ecosystems.is_empty() {
            return "no dependency manifests found".to_owned();
        }
        if self.ecosystems.iter().all(|each| each.manifests == 0) {
            return "no dependency manifests but those of test data and templates".to_owned();
        }
        let counts: Vec<String> = self
            .ecosystems
            .iter()
            .filter(|each| each.manifests > 0)
            .map(|each| {
                let locked = match each.locked {
                    0 => String::new(),
                    locked => format!(", {locked} locked"),
                };
                format!(
                    "{} ({} direct{locked})",
                    each.ecosystem.label(),
                    each.direct
                )
            })
            .collect();
        let line = counts.join(", ");
        let conflicts = self.ecosystems.iter().map(|each| u64::from(each.conflicts));
        let findings = [
            (
                conflicts.sum(),
                "asked for in ranges that no version satisfies",
                "asked for in ranges that no version satisfies",
            ),
            (
                self.duplicates.total(),
                "locked in several versions",
                "locked in several versions",
            ),
            (
                self.loose.total(),
                "not pinned to a version of a registry",
                "not pinned to a version of a registry",
            ),
            (self.unused.total(), "unused", "unused"),
        ];
        with_findings(line, &findings, &self.incomplete)
    }

    fn incomplete(&mut self) -> &mut Listing<Incomplete> {
        &mut self.incomplete
    }

    fn leave_out(&mut self) {
        if self.depth < Depth::Deep {
            self.direct.keep(0);
            self.locked.keep(0);
        }
    }

    fn shorten_entries(&mut self) {
        for each in self.locked.iter_mut() {
            each.more_packages += shorten(&mut each.packages, MAX_PACKAGES);
        }
        for each in self.direct.iter_mut() {
            each.more_places += shorten(&mut each.places, MAX_NESTED);
        }
        for each in self.duplicates.iter_mut() {
            each.more_versions += shorten(&mut each.versions, MAX_NESTED);
            for version in &mut each.versions {
                version.more_requirers += shorten(&mut version.required_by, MAX_NESTED);
            }
        }
        for each in self.conflicts.iter_mut() {
            each.more_requirements += shorten(&mut each.requirements, MAX_NESTED);
            for requirement in &mut each.requirements {
                requirement.more_places += shorten(&mut requirement.places, MAX_NESTED);
            }
        }
        for each in self.usage.iter_mut() {
            each.more_modules += shorten(&mut each.modules, MAX_NESTED);
        }
    }

    fn lists(&mut self) -> Vec<(&mut dyn Cut, u32)> {
        vec![
            (&mut self.incomplete, 6),
            (&mut self.conflicts, 14),
            (&mut self.loose, 12),
            (&mut self.unused, 14),
            (&mut self.duplicates, 12),
            (&mut self.direct, 22),
            (&mut self.usage, 12),
            (&mut self.manifests, 10),
            (&mut self.licences, 4),
            (&mut self.locked, 4),
        ]
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

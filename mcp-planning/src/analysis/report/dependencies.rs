//! The answer of the scope `dependencies`, as the planner sees it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Cut, Incomplete, Listing, Report, headline, shorten};
use crate::analysis::Depth;

/// Items kept of a list inside an entry when a report is summarised.
const NESTED: usize = 6;

/// A family of packages with one kind of manifest.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum Ecosystem {
    Cargo,
    Npm,
    Pypi,
    Go,
    Maven,
    Gradle,
    Composer,
    Bundler,
    Nuget,
}

impl Ecosystem {
    /// Returns the name that people use.
    pub fn label(self) -> &'static str {
        match self {
            Self::Cargo => "Cargo",
            Self::Npm => "npm",
            Self::Pypi => "PyPI",
            Self::Go => "Go",
            Self::Maven => "Maven",
            Self::Gradle => "Gradle",
            Self::Composer => "Composer",
            Self::Bundler => "Bundler",
            Self::Nuget => "NuGet",
        }
    }
}

/// What a dependency is for.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// Needed when the product runs.
    Normal,
    /// Used only behind a feature, an extra or a group.
    Optional,
    /// Supplied by whoever uses the package (npm peer, Maven provided).
    Peer,
    /// Needed to build (build scripts, plugins, build systems).
    Build,
    /// Needed for development and tests.
    Dev,
    /// Listed in the manifest for the sake of another dependency (Go).
    Indirect,
}

/// Where a package comes from.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum Origin {
    Registry,
    /// Another package of this repository.
    Workspace,
    Git,
    Path,
    Url,
}

/// What a manifest belongs to, judged by its folder.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    Product,
    Example,
    /// Test data; its dependencies are not part of this report.
    Fixture,
}

/// Counts for one ecosystem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EcosystemCounts {
    pub ecosystem: Ecosystem,
    pub manifests: u32,
    pub lockfiles: u32,
    /// Different packages that manifests ask for.
    pub direct: u32,
    /// Package versions in lock files.
    pub locked: u32,
    /// Packages locked in more than one version.
    pub duplicates: u32,
}

/// A manifest and the package it describes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    pub path: String,
    pub ecosystem: Ecosystem,
    pub role: Role,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
    /// The lock file that decides the versions; none means that they may change any day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lockfile: Option<String>,
    /// Dependencies declared here.
    pub dependencies: u32,
}

/// A line of a manifest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    pub manifest: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// A dependency that manifests ask for; equal requests of several manifests are one entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Direct {
    pub ecosystem: Ecosystem,
    pub name: String,
    /// The version range as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requirement: Option<String>,
    /// The version in the lock file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locked: Option<String>,
    pub kind: Kind,
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
    pub places: Vec<Place>,
    /// Places left out of this summary.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_places: u32,
}

/// A package version in a lock file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Locked {
    pub ecosystem: Ecosystem,
    pub name: String,
    pub version: String,
    pub origin: Origin,
    /// Whether a manifest asks for it by name.
    pub direct: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
    pub lockfile: String,
}

/// One of several locked versions of a package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuplicateVersion {
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
    pub ecosystem: Ecosystem,
    pub name: String,
    pub lockfile: String,
    pub versions: Vec<DuplicateVersion>,
    /// Versions left out of this summary.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_versions: u32,
    /// Whether a manifest of this repository asks for it, so that it can be mended here.
    pub direct: bool,
}

/// How far two requirements are apart.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum Disagreement {
    /// No version satisfies all of them.
    Incompatible,
    /// They name different versions; whether one suits all could not be decided.
    Different,
}

/// One of several requirements for the same package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Requirement {
    pub requirement: String,
    pub places: Vec<Place>,
    /// Places left out of this summary.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_places: u32,
}

/// A package for which manifests of this repository ask in different ways.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Conflict {
    pub ecosystem: Ecosystem,
    pub name: String,
    pub disagreement: Disagreement,
    pub requirements: Vec<Requirement>,
    /// Requirements left out of this summary.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_requirements: u32,
}

/// Why a dependency may change under our feet, or cannot be had elsewhere.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum LooseReason {
    /// A path that leads out of the repository.
    PathOutsideRepository,
    /// A git branch, not a commit or tag.
    GitFloating,
    /// Any version will do, and no lock file decides.
    AnyVersion,
    /// A lower bound only, and no lock file decides.
    NoUpperBound,
    /// There is a lock file, but it does not list it.
    NotLocked,
    /// An address of an archive.
    Url,
    /// A git commit or tag.
    GitPinned,
    /// Any version will do; the lock file decides for now.
    AnyVersionLocked,
    /// A path inside the repository.
    Path,
}

/// A dependency that is not pinned to a version of a registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Loose {
    pub ecosystem: Ecosystem,
    pub name: String,
    pub reason: LooseReason,
    pub kind: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requirement: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    #[serde(flatten)]
    pub place: Place,
}

/// Packages under one licence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LicenceGroup {
    pub licence: String,
    pub packages: u32,
    /// Some of them.
    pub examples: Vec<String>,
}

/// How sure a statement is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum Confidence {
    High,
    Medium,
    Low,
}

/// A folder whose files use a dependency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModuleUse {
    pub folder: String,
    pub files: u32,
    /// One of the files.
    pub example: String,
}

/// Where a dependency is used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    pub ecosystem: Ecosystem,
    pub name: String,
    pub manifest: String,
    /// Files that import it.
    pub files: u32,
    /// How sure it is that those imports mean this package.
    pub confidence: Confidence,
    pub modules: Vec<ModuleUse>,
    /// Modules left out of this summary.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_modules: u32,
}

/// A dependency that is declared but that no file seems to import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Unused {
    pub ecosystem: Ecosystem,
    pub name: String,
    pub kind: Kind,
    pub confidence: Confidence,
    /// What the judgement rests on.
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
    pub depth: Depth,
    pub ecosystems: Vec<EcosystemCounts>,
    /// Parts of the report that are missing, and why.
    #[serde(default, skip_serializing_if = "Listing::has_nothing")]
    pub incomplete: Listing<Incomplete>,
    /// Requirements of several manifests that do not go together.
    pub conflicts: Listing<Conflict>,
    /// Dependencies that are not pinned to a version of a registry.
    pub loose: Listing<Loose>,
    /// Declared but, it seems, never imported; only at depth deep.
    pub unused: Listing<Unused>,
    /// Packages that a lock file holds in several versions.
    pub duplicates: Listing<Duplicate>,
    pub direct: Listing<Direct>,
    /// Which folders use which dependency; only at depth deep.
    pub usage: Listing<Usage>,
    pub manifests: Listing<Manifest>,
    /// Licences that lock files name; from depth medium on.
    pub licences: Listing<LicenceGroup>,
    /// Locked packages whose licence no lock file names.
    pub licence_unknown: u32,
    /// All locked packages; from depth medium on.
    pub locked: Listing<Locked>,
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
        headline::dependencies(self)
    }

    fn incomplete(&mut self) -> &mut Listing<Incomplete> {
        &mut self.incomplete
    }

    fn shorten_entries(&mut self) {
        for each in self.direct.iter_mut() {
            each.more_places += shorten(&mut each.places, NESTED);
        }
        for each in self.duplicates.iter_mut() {
            each.more_versions += shorten(&mut each.versions, NESTED);
            for version in &mut each.versions {
                version.more_requirers += shorten(&mut version.required_by, NESTED);
            }
        }
        for each in self.conflicts.iter_mut() {
            each.more_requirements += shorten(&mut each.requirements, NESTED);
            for requirement in &mut each.requirements {
                requirement.more_places += shorten(&mut requirement.places, NESTED);
            }
        }
        for each in self.usage.iter_mut() {
            each.more_modules += shorten(&mut each.modules, NESTED);
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

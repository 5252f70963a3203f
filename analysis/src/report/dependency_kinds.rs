//! The enums of the scope `dependencies`: ecosystem, kind, origin, confidence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// Returns the display name.
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
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum Origin {
    #[default]
    Registry,
    /// Another package of this repository.
    Workspace,
    Git,
    Path,
    Url,
}

impl Origin {
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde calls it with a reference"
    )]
    pub(super) fn is_registry(&self) -> bool {
        *self == Self::Registry
    }
}

/// What a manifest belongs to, judged by its folder.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    Product,
    /// An example or demo; its dependencies are not part of this report.
    Example,
    /// Test data or a template; its dependencies are not part of this report.
    Fixture,
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
}

/// How sure a statement is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum Confidence {
    /// The name of the package tells what code imports.
    High,
    /// A convention of naming tells it.
    Medium,
}

//! Which dependencies are not pinned to a version of a registry.

use super::facts::{Declared, ManifestFacts};
use crate::report::dependencies::{Ecosystem, Kind, Loose, LooseReason, Origin, Place};

/// Judges one dependency; none means that there is nothing to say.
pub(super) fn judge(
    manifest: &ManifestFacts,
    declared: &Declared,
    locked: Option<&str>,
    has_lock: bool,
) -> Option<Loose> {
    let reason = reason(manifest.ecosystem, declared, locked, has_lock)?;
    Some(Loose {
        ecosystem: manifest.ecosystem,
        name: declared.name.clone(),
        reason,
        kind: declared.kind,
        requirement: declared.requirement.clone(),
        location: declared.location.clone(),
        place: Place {
            manifest: manifest.path.clone(),
            line: declared.line,
        },
    })
}

fn reason(
    ecosystem: Ecosystem,
    declared: &Declared,
    locked: Option<&str>,
    has_lock: bool,
) -> Option<LooseReason> {
    match declared.origin {
        Origin::Workspace => return None,
        Origin::Git if declared.fixed => return Some(LooseReason::GitPinned),
        Origin::Git => return Some(LooseReason::GitFloating),
        Origin::Url => return Some(LooseReason::Url),
        Origin::Path if declared.fixed => return Some(LooseReason::Path),
        Origin::Path => return Some(LooseReason::PathOutsideRepository),
        Origin::Registry => {}
    }
    // What the user of the package supplies is meant to be wide.
    if declared.kind == Kind::Peer {
        return None;
    }
    if is_any(ecosystem, declared) {
        let reason = if locked.is_some() {
            LooseReason::AnyVersionLocked
        } else {
            LooseReason::AnyVersion
        };
        return Some(reason);
    }
    if locked.is_some() {
        return None;
    }
    if has_lock && is_expected_in_lock(ecosystem, declared) {
        return Some(LooseReason::NotLocked);
    }
    is_unbounded(declared.requirement.as_deref()?).then_some(LooseReason::NoUpperBound)
}

fn is_any(ecosystem: Ecosystem, declared: &Declared) -> bool {
    let Some(requirement) = declared.requirement.as_deref() else {
        // Without a version the first four take any; the others take it from elsewhere.
        return match ecosystem {
            Ecosystem::Npm | Ecosystem::Pypi | Ecosystem::Composer | Ecosystem::Bundler => {
                declared.inherits.is_none()
            }
            Ecosystem::Cargo
            | Ecosystem::Go
            | Ecosystem::Maven
            | Ecosystem::Gradle
            | Ecosystem::Nuget => false,
        };
    };
    matches!(
        requirement,
        "*" | "x"
            | "X"
            | "latest"
            | "next"
            | "+"
            | "latest.release"
            | "latest.integration"
            | "LATEST"
            | "RELEASE"
            | ">=0"
            | ">= 0"
            | "@dev"
            | "dev-master"
            | "dev-main"
    )
}

/// Lock files leave out what is not installed by default.
fn is_expected_in_lock(ecosystem: Ecosystem, declared: &Declared) -> bool {
    let plugin = declared.condition.as_deref() == Some("plugin");
    match (ecosystem, declared.kind) {
        (_, Kind::Optional | Kind::Peer | Kind::Indirect)
        | (Ecosystem::Pypi | Ecosystem::Gradle, Kind::Build) => false,
        (_, Kind::Normal | Kind::Dev | Kind::Build) => !plugin,
    }
}

fn is_unbounded(requirement: &str) -> bool {
    requirement.starts_with('>')
        && !requirement.contains(['<', '^', '~'])
        && !requirement.contains("==")
        && !requirement.contains(" - ")
}

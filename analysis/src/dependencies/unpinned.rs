//! Finds unpinned dependencies: open version ranges, branches, paths and addresses outside a registry.

use super::facts::{Declared, ManifestFacts};
use super::locks::Lock;
use crate::report::dependencies::{Ecosystem, Kind, Loose, LooseReason, Origin, Place};

/// Judges one dependency; none means that there is nothing to say.
pub(super) fn judge(
    manifest: &ManifestFacts,
    declared: &Declared,
    locked: Option<&str>,
    lock: Option<&Lock<'_>>,
) -> Option<Loose> {
    let listed = lock.is_some_and(|lock| lock.lists(declared));
    let left_out = lock.is_some() && !listed;
    // A lock file may hold several versions, one for each platform.
    let decided = locked.is_some() || listed;
    let reason = reason(manifest.ecosystem, declared, decided, left_out)?;
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
    decided: bool,
    left_out: bool,
) -> Option<LooseReason> {
    match declared.origin {
        Origin::Workspace => return None,
        Origin::Git if declared.fixed => return Some(LooseReason::GitPinned),
        Origin::Git => return Some(LooseReason::GitFloating),
        Origin::Url => return Some(LooseReason::Url),
        // Inside the repository, or computed by code.
        Origin::Path | Origin::Registry if declared.fixed => return None,
        Origin::Path => return Some(LooseReason::PathOutsideRepository),
        Origin::Registry => {}
    }
    // What the user of the package supplies is meant to be wide.
    if declared.kind == Kind::Peer {
        return None;
    }
    if decided {
        return None;
    }
    if is_any(ecosystem, declared) {
        return Some(LooseReason::AnyVersion);
    }
    if left_out && is_expected_in_lock(ecosystem, declared) {
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

/// Lock files leave out what is not installed by default, what another package replaces and what a condition rules out.
fn is_expected_in_lock(ecosystem: Ecosystem, declared: &Declared) -> bool {
    let condition = declared.condition.as_deref();
    let unconditional = condition.is_none_or(|condition| condition.starts_with("group "));
    let installed = match declared.kind {
        Kind::Optional | Kind::Peer | Kind::Indirect => false,
        Kind::Build => ecosystem != Ecosystem::Pypi,
        Kind::Normal | Kind::Dev => true,
    };
    match ecosystem {
        Ecosystem::Cargo | Ecosystem::Npm | Ecosystem::Pypi => installed && unconditional,
        Ecosystem::Go
        | Ecosystem::Maven
        | Ecosystem::Gradle
        | Ecosystem::Composer
        | Ecosystem::Bundler
        | Ecosystem::Nuget => false,
    }
}

fn is_unbounded(requirement: &str) -> bool {
    requirement.starts_with('>')
        && !requirement.contains(['<', '^', '~'])
        && !requirement.contains("==")
        && !requirement.contains(" - ")
}

//! Judges the dependencies that no file imports, and says how sure that is.

use std::collections::HashSet;

use super::super::facts::{Declared, ManifestFacts};
use super::mentions::Mentions;
use super::{Evidence, Language, is_imported_by_code, python};
use crate::report::dependencies::{Confidence, Ecosystem, Kind, Place, Role, Unused};
use crate::tree::file_list::FileList;
use crate::{AnalysisError, Control};

/// Lists what seems unused, the surest first.
pub(super) fn unused(
    listing: &FileList,
    manifests: &[ManifestFacts],
    evidence: &[Vec<Evidence>],
    control: &Control,
) -> Result<Vec<Unused>, AnalysisError> {
    let mut found = Vec::new();
    let mut mentions = Mentions::of(listing);
    for (manifest, evidence) in manifests.iter().zip(evidence) {
        control.check()?;
        if manifest.role == Role::Fixture || Language::of_ecosystem(manifest.ecosystem).is_none() {
            continue;
        }
        let used: HashSet<&str> = manifest
            .declared
            .iter()
            .zip(evidence)
            .filter(|(_, evidence)| evidence.confidence.is_some())
            .map(|(declared, _)| declared.name.as_str())
            .collect();
        let mut nearby = None;
        for (declared, evidence) in manifest.declared.iter().zip(evidence) {
            if used.contains(declared.name.as_str()) || !is_imported_by_code(declared) {
                continue;
            }
            let mut named = || {
                nearby
                    .get_or_insert_with(|| mentions.around(manifest))
                    .name(&declared.name)
            };
            if let Some((confidence, why)) = judge(manifest, declared, evidence, &used, &mut named)
            {
                found.push(entry(manifest, declared, confidence, why));
            }
        }
        found.extend(not_taken_up(manifest));
    }
    found.sort_by(|a, b| {
        (a.confidence, a.kind, &a.name, &a.place).cmp(&(b.confidence, b.kind, &b.name, &b.place))
    });
    Ok(found)
}

fn entry(
    manifest: &ManifestFacts,
    declared: &Declared,
    confidence: Confidence,
    why: &str,
) -> Unused {
    Unused {
        ecosystem: manifest.ecosystem,
        name: declared.name.clone(),
        kind: declared.kind,
        confidence,
        why: why.to_owned(),
        place: Place {
            manifest: manifest.path.clone(),
            line: declared.line,
        },
    }
}

type Verdict = Option<(Confidence, &'static str)>;

fn judge(
    manifest: &ManifestFacts,
    declared: &Declared,
    evidence: &Evidence,
    used: &HashSet<&str>,
    named: &mut impl FnMut() -> bool,
) -> Verdict {
    match manifest.ecosystem {
        Ecosystem::Cargo => Some(rust(declared, evidence)),
        Ecosystem::Npm => javascript(declared, used, named),
        Ecosystem::Pypi => python(declared, evidence, named),
        Ecosystem::Go => go(manifest, declared),
        Ecosystem::Maven | Ecosystem::Gradle => java(declared),
        Ecosystem::Composer | Ecosystem::Bundler | Ecosystem::Nuget => None,
    }
}

fn rust(declared: &Declared, evidence: &Evidence) -> (Confidence, &'static str) {
    let name = &declared.name;
    if evidence.named {
        (
            Confidence::Low,
            "no path of the code starts with it, but its name occurs in texts, comments or as a word",
        )
    } else if name.ends_with("-sys") || name.ends_with("-src") {
        (
            Confidence::Low,
            "no code names it, but such crates are often there to be linked",
        )
    } else if declared.features || declared.kind == Kind::Optional {
        (
            Confidence::Medium,
            "no code names it, but it may be there to switch features on",
        )
    } else if name.starts_with("rust-") || name.ends_with("-rs") || declared.condition.is_some() {
        (
            Confidence::Medium,
            "no code names it, but its library may have another name or be used on another target",
        )
    } else if evidence.generated {
        (
            Confidence::Medium,
            "no Rust file of the package names it, but code made by its build script may",
        )
    } else {
        (Confidence::High, "no Rust file of the package names it")
    }
}

fn javascript(
    declared: &Declared,
    used: &HashSet<&str>,
    named: &mut impl FnMut() -> bool,
) -> Verdict {
    if let Some(typed) = declared.name.strip_prefix("@types/") {
        // Types of @scope/name are called @types/scope__name.
        let typed = typed.split_once("__").map_or_else(
            || typed.to_owned(),
            |(scope, name)| format!("@{scope}/{name}"),
        );
        let needed = used.contains(typed.as_str())
            || matches!(typed.as_str(), "node" | "jest" | "mocha" | "bun");
        return (!needed && !named()).then_some((
            Confidence::Low,
            "nothing imports the package that these types describe",
        ));
    }
    if named() {
        return None;
    }
    Some(match declared.kind {
        Kind::Normal => (
            Confidence::Medium,
            "no import, and no script or setting names it; frameworks load some packages by themselves",
        ),
        Kind::Dev | Kind::Build | Kind::Optional | Kind::Peer | Kind::Indirect => (
            Confidence::Low,
            "no import, and no script or setting names it; tools load some packages by themselves",
        ),
    })
}

fn python(declared: &Declared, evidence: &Evidence, named: &mut impl FnMut() -> bool) -> Verdict {
    // Build systems and stubs are never imported.
    let stub = declared.name.starts_with("types-") || declared.name.ends_with("-stubs");
    if declared.kind == Kind::Build || stub || evidence.named || named() {
        return None;
    }
    Some(
        if declared.kind == Kind::Normal && !declared.features && python::is_known(&declared.name) {
            (
                Confidence::Medium,
                "none of its known modules is imported or named",
            )
        } else {
            (
                Confidence::Low,
                "no module that is named like it is imported; its modules may have other names",
            )
        },
    )
}

fn go(manifest: &ManifestFacts, declared: &Declared) -> Verdict {
    let tool = manifest
        .mentions
        .lines()
        .any(|tool| tool.starts_with(&declared.name));
    (!tool).then_some((
        Confidence::High,
        "no Go file of the module imports a package of it",
    ))
}

fn java(declared: &Declared) -> Verdict {
    match declared.kind {
        Kind::Build => None,
        Kind::Normal | Kind::Dev | Kind::Optional | Kind::Peer | Kind::Indirect => Some((
            Confidence::Low,
            "no import starts like its group; its packages may have other names, or it is needed only when running",
        )),
    }
}

/// Lists what a workspace offers to its members and no member takes.
fn not_taken_up(manifest: &ManifestFacts) -> Vec<Unused> {
    let (confidence, why) = match manifest.ecosystem {
        Ecosystem::Cargo => (
            Confidence::High,
            "the workspace offers it, but no member takes it up",
        ),
        Ecosystem::Gradle => (
            Confidence::Low,
            "the catalogue lists it, but no build script names it; a bundle or convention plugin may",
        ),
        // Maven manages versions of what others bring along.
        Ecosystem::Maven
        | Ecosystem::Npm
        | Ecosystem::Pypi
        | Ecosystem::Go
        | Ecosystem::Composer
        | Ecosystem::Bundler
        | Ecosystem::Nuget => {
            return Vec::new();
        }
    };
    manifest
        .offered
        .iter()
        .map(|declared| entry(manifest, declared, confidence, why))
        .collect()
}

//! Unused dependencies: the few that a search of the whole repository proves.
//!
//! Only two ecosystems allow a proof. Go code reaches a module by nothing but its full path, and what a Cargo
//! workspace offers has no effect until a member takes it up. A crate may be needed by the code that a macro expands to,
//! packages of npm, Python and the JVM are loaded by tools, settings, addresses and plug-ins that never name them; of
//! those nothing is said.

use std::collections::BTreeSet;

use aho_corasick::AhoCorasick;

use super::super::facts::{Declared, ManifestFacts};
use crate::paths::name_of;
use crate::report::dependencies::{Ecosystem, Kind, Origin, Place, Role, Unused};
use crate::tree::file_list::FileList;
use crate::workers::in_parallel;
use crate::{AnalysisError, Budget};

/// A file that is larger cannot be searched, and then nothing is proven.
const MAX_FILE_SIZE: u64 = 16 << 20;

/// Dependencies that are looked for at once; hostile manifests have more.
const MAX_CANDIDATES: usize = 2_000;

/// A dependency that is unused if none of the texts occurs in the repository.
struct Candidate<'a> {
    manifest: &'a ManifestFacts,
    declared: &'a Declared,
    /// Whatever would name it.
    signs: Vec<String>,
    why: &'static str,
}

/// Lists what is declared and named nowhere; nothing if any file could not be searched.
pub(super) fn unused(
    listing: &FileList,
    manifests: &[ManifestFacts],
    budget: &Budget,
) -> Result<Vec<Unused>, AnalysisError> {
    let mut candidates = candidates(manifests);
    if candidates.is_empty() || listing.is_partial() || candidates.len() > MAX_CANDIDATES {
        return Ok(Vec::new());
    }
    if generates_go(listing) {
        candidates.retain(|each| each.manifest.ecosystem != Ecosystem::Go);
    }
    let signs = candidates.iter().flat_map(|each| &each.signs);
    let Ok(searcher) = AhoCorasick::new(signs) else {
        return Ok(Vec::new());
    };
    let (found, complete) = in_parallel(&listing.files, budget, |path| {
        let bytes = listing.bytes(path, MAX_FILE_SIZE).ok()?;
        if declares_go_modules(name_of(path)) {
            return Some(BTreeSet::new());
        }
        // A name may be part of a longer one, so that overlapping signs are all wanted.
        let found = searcher.try_find_overlapping_iter(&bytes).ok()?;
        Some(found.map(|sign| sign.pattern().as_usize()).collect())
    });
    budget.check()?;
    let Some(found) = found.into_iter().collect::<Option<Vec<_>>>() else {
        return Ok(Vec::new());
    };
    if !complete {
        return Ok(Vec::new());
    }
    let named: BTreeSet<usize> = found.into_iter().flatten().collect();
    let mut first = 0;
    let mut unused = Vec::new();
    for candidate in candidates {
        let end = first + candidate.signs.len();
        if named.range(first..end).next().is_none() {
            unused.push(Unused {
                ecosystem: candidate.manifest.ecosystem,
                name: candidate.declared.name.clone(),
                kind: candidate.declared.kind,
                why: candidate.why.to_owned(),
                place: Place {
                    manifest: candidate.manifest.path.clone(),
                    line: candidate.declared.line,
                },
            });
        }
        first = end;
    }
    unused.sort_by(|a, b| (&a.place, &a.name).cmp(&(&b.place, &b.name)));
    Ok(unused)
}

fn candidates(manifests: &[ManifestFacts]) -> Vec<Candidate<'_>> {
    let declared = manifests
        .iter()
        .filter(|manifest| manifest.ecosystem == Ecosystem::Cargo)
        .flat_map(|manifest| &manifest.declared);
    let taken: BTreeSet<&str> = declared
        .clone()
        .filter_map(|declared| declared.inherits.as_deref())
        .collect();
    let asked: BTreeSet<&str> = declared.map(|declared| declared.name.as_str()).collect();
    let mut found = Vec::new();
    for manifest in manifests
        .iter()
        .filter(|manifest| manifest.role == Role::Product)
    {
        match manifest.ecosystem {
            Ecosystem::Go => found.extend(go(manifest)),
            Ecosystem::Cargo => {
                // The packages of the repository itself are often listed for completeness.
                let offered = manifest.offered.iter();
                let forgotten = offered.filter(|each| {
                    each.origin != Origin::Path
                        && !taken.contains(each.code_name())
                        && !asked.contains(each.name.as_str())
                });
                found.extend(forgotten.map(|declared| offer(manifest, declared)));
            }
            Ecosystem::Npm
            | Ecosystem::Pypi
            | Ecosystem::Maven
            | Ecosystem::Gradle
            | Ecosystem::Composer
            | Ecosystem::Bundler
            | Ecosystem::Nuget => {}
        }
    }
    found
}

fn go(manifest: &ManifestFacts) -> impl Iterator<Item = Candidate<'_>> {
    let direct = manifest
        .declared
        .iter()
        .filter(|each| each.kind == Kind::Normal);
    let tools = &manifest.tools;
    let imported =
        direct.filter(move |each| !tools.iter().any(|tool| tool.starts_with(&each.name)));
    imported.map(move |declared| Candidate {
        manifest,
        declared,
        signs: vec![declared.name.clone()],
        why: "no file of the repository names this module but go.mod and go.sum; `go mod tidy` removes it or marks it as indirect",
    })
}

fn offer<'a>(manifest: &'a ManifestFacts, declared: &'a Declared) -> Candidate<'a> {
    let name = declared.code_name();
    Candidate {
        manifest,
        declared,
        // Templates of manifests are no manifests, but take it up too.
        signs: ["", "\""]
            .iter()
            .flat_map(|quote| {
                let key = format!("{quote}{name}{quote}");
                [
                    format!("{key}.workspace"),
                    format!("{key} = {{ workspace"),
                    format!("{key} = {{workspace"),
                    format!("{key}={{workspace"),
                    format!("dependencies.{key}]"),
                ]
            })
            .collect(),
        why: "the workspace offers it, and no manifest asks for it",
    }
}

fn declares_go_modules(name: &str) -> bool {
    matches!(name, "go.mod" | "go.sum" | "go.work" | "go.work.sum")
}

/// Returns whether git may ignore Go code that programs write, which the search does not see then.
fn generates_go(listing: &FileList) -> bool {
    listing.named(".gitignore").any(|path| {
        let text = listing.text(path, MAX_FILE_SIZE);
        text.map_or(true, |text| text.contains(".go"))
    })
}

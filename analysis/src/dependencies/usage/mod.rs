//! Traces which folders import which dependency; `unused` lists what is proven to be named nowhere.

mod imported;
mod java;
mod python;
mod unused;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use imported::imported_in;

use super::facts::{Declared, ManifestFacts};
use crate::paths::{folder_of, name_of};
use crate::report::dependencies::{Confidence, Ecosystem, ModuleUse, Role, Unused, Usage};
use crate::tree::file_list::FileList;
use crate::workers::in_parallel;
use crate::{AnalysisError, Budget, Depth, Incomplete};

/// Larger source files are generated; reading them costs more than it tells.
const MAX_SOURCE_SIZE: u64 = 2 << 20;

/// What the source code says of the dependencies.
pub(super) struct Traced {
    pub(super) usage: Vec<Usage>,
    pub(super) unused: Vec<Unused>,
    pub(super) incomplete: Vec<Incomplete>,
}

/// A language whose imports are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Language {
    Rust,
    JavaScript,
    Python,
    Go,
    Java,
}

impl Language {
    fn of_file(path: &str) -> Option<Self> {
        let (_, ending) = name_of(path).rsplit_once('.')?;
        Some(match ending {
            "rs" => Self::Rust,
            "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" | "vue" | "svelte"
            | "astro" | "mdx" => Self::JavaScript,
            "py" | "pyi" => Self::Python,
            "go" => Self::Go,
            "java" | "kt" | "scala" | "groovy" => Self::Java,
            _ => return None,
        })
    }

    fn of_ecosystem(ecosystem: Ecosystem) -> Option<Self> {
        match ecosystem {
            Ecosystem::Cargo => Some(Self::Rust),
            Ecosystem::Npm => Some(Self::JavaScript),
            Ecosystem::Pypi => Some(Self::Python),
            Ecosystem::Go => Some(Self::Go),
            Ecosystem::Maven | Ecosystem::Gradle => Some(Self::Java),
            Ecosystem::Composer | Ecosystem::Bundler | Ecosystem::Nuget => None,
        }
    }

    /// Returns the names that code may use for a dependency, and how sure each is.
    fn names_of(self, declared: &Declared) -> Vec<(String, Confidence)> {
        match self {
            Self::Rust => vec![(declared.code_name().replace('-', "_"), Confidence::High)],
            Self::JavaScript => vec![(declared.code_name().to_owned(), Confidence::High)],
            Self::Python => python::names_of(&declared.name),
            Self::Go => vec![(declared.name.clone(), Confidence::High)],
            Self::Java => java::names_of(&declared.name),
        }
    }
}

/// The files that import one declared dependency, and how sure it is that they mean it.
#[derive(Debug, Clone, Default)]
struct Evidence {
    files: BTreeSet<u32>,
    confidence: Option<Confidence>,
}

/// The names by which the dependencies of one manifest are known.
struct Index {
    manifest: usize,
    names: HashMap<String, Vec<(usize, Confidence)>>,
}

/// Reads the imports of all source files and matches them with the manifests.
pub(super) fn trace(
    listing: &FileList,
    manifests: &[ManifestFacts],
    depth: Depth,
    budget: &Budget,
) -> Result<Traced, AnalysisError> {
    let mut incomplete = Vec::new();
    let mut indexes: HashMap<(Language, &str), Vec<Index>> = HashMap::new();
    let mut known: HashMap<Language, HashSet<String>> = HashMap::new();
    let mut unread: BTreeSet<Ecosystem> = BTreeSet::new();
    for (position, manifest) in manifests.iter().enumerate() {
        if manifest.role == Role::Fixture {
            continue;
        }
        let Some(language) = Language::of_ecosystem(manifest.ecosystem) else {
            unread.insert(manifest.ecosystem);
            continue;
        };
        let index = index(language, position, manifest);
        known
            .entry(language)
            .or_default()
            .extend(index.names.keys().cloned());
        indexes
            .entry((language, home_of(manifest)))
            .or_default()
            .push(index);
    }
    for ecosystem in unread {
        let what = format!("usage of {} dependencies", ecosystem.label());
        incomplete.push(Incomplete::new(
            &what,
            "the imports of its languages are not read",
        ));
    }
    let sources: Vec<(u32, &str, Language)> = (0..)
        .zip(&listing.files)
        .filter_map(|(position, path)| Some((position, path.as_str(), Language::of_file(path)?)))
        .filter(|(_, _, language)| known.contains_key(language))
        .collect();
    let nothing = HashSet::new();
    let (found, complete) = in_parallel(&sources, budget, |(_, path, language)| {
        let bytes = listing.bytes(path, MAX_SOURCE_SIZE).ok()?;
        let known = known.get(language).unwrap_or(&nothing);
        Some(imported_in(*language, name_of(path), &bytes, known))
    });
    budget.check()?;
    if !complete {
        // What was not read may hold the import that is missing.
        incomplete.push(Incomplete::out_of_time("usage of dependencies"));
        return Ok(Traced {
            usage: Vec::new(),
            unused: Vec::new(),
            incomplete,
        });
    }
    let skipped = found.iter().filter(|names| names.is_none()).count();
    if skipped > 0 {
        let what = format!("imports of {skipped} source files");
        incomplete.push(Incomplete::new(
            &what,
            "they are too large or cannot be read",
        ));
    }
    let mut evidence: Vec<Vec<Evidence>> = manifests
        .iter()
        .map(|each| vec![Evidence::default(); each.declared.len()])
        .collect();
    for ((position, path, language), names) in sources.iter().zip(found) {
        budget.check()?;
        attribute(
            &indexes,
            &mut evidence,
            *position,
            path,
            *language,
            &names.unwrap_or_default(),
        );
    }
    let usage = usages(listing, manifests, &evidence);
    let unused = if depth == Depth::Deep {
        unused::unused(listing, manifests, budget)?
    } else {
        Vec::new()
    };
    Ok(Traced {
        usage,
        unused,
        incomplete,
    })
}

fn index(language: Language, position: usize, manifest: &ManifestFacts) -> Index {
    let mut names: HashMap<String, Vec<(usize, Confidence)>> = HashMap::new();
    for (number, declared) in manifest.declared.iter().enumerate() {
        for (name, confidence) in language.names_of(declared) {
            names.entry(name).or_default().push((number, confidence));
        }
    }
    // What may mean one dependency or another says nothing of either.
    names.retain(|_, meant| {
        let mut packages = meant
            .iter()
            .map(|&(number, _)| &manifest.declared[number].name);
        let first = packages.next();
        packages.all(|name| Some(name) == first)
    });
    Index {
        manifest: position,
        names,
    }
}

/// Returns the folder whose code a manifest serves: the one around a folder of requirement files.
fn home_of(manifest: &ManifestFacts) -> &str {
    let folder = manifest.folder();
    if manifest.ecosystem != Ecosystem::Pypi {
        return folder;
    }
    let mut home = folder;
    let mut at = folder;
    while !at.is_empty() {
        let above = folder_of(at);
        if name_of(at) == "requirements" {
            home = above;
        }
        at = above;
    }
    home
}

/// Attributes each import to the nearest manifest above the file that declares it.
fn attribute(
    indexes: &HashMap<(Language, &str), Vec<Index>>,
    evidence: &mut [Vec<Evidence>],
    file: u32,
    path: &str,
    language: Language,
    names: &BTreeSet<String>,
) {
    for name in names {
        let mut folder = folder_of(path);
        loop {
            let mut taken = false;
            for index in indexes.get(&(language, folder)).into_iter().flatten() {
                for &(number, confidence) in index.names.get(name).into_iter().flatten() {
                    let Some(evidence) = evidence
                        .get_mut(index.manifest)
                        .and_then(|all| all.get_mut(number))
                    else {
                        continue;
                    };
                    taken = true;
                    evidence.files.insert(file);
                    let known = evidence.confidence.unwrap_or(confidence);
                    evidence.confidence = Some(known.min(confidence));
                }
            }
            if taken || folder.is_empty() {
                break;
            }
            folder = folder_of(folder);
        }
    }
}

fn usages(
    listing: &FileList,
    manifests: &[ManifestFacts],
    evidence: &[Vec<Evidence>],
) -> Vec<Usage> {
    let mut usages = Vec::new();
    for (manifest, evidence) in manifests.iter().zip(evidence) {
        let mut seen: HashSet<&str> = HashSet::new();
        for (declared, evidence) in manifest.declared.iter().zip(evidence) {
            let Some(confidence) = evidence.confidence else {
                continue;
            };
            // A dependency declared for several targets or kinds is used once.
            if !seen.insert(&declared.name) {
                continue;
            }
            let mut modules: BTreeMap<&str, (u32, &str)> = BTreeMap::new();
            for path in evidence
                .files
                .iter()
                .filter_map(|&file| listing.files.get(file as usize))
            {
                let module = modules.entry(folder_of(path)).or_insert((0, path));
                module.0 += 1;
            }
            let mut modules: Vec<ModuleUse> = modules
                .into_iter()
                .map(|(folder, (files, example))| ModuleUse {
                    folder: if folder.is_empty() { "." } else { folder }.to_owned(),
                    files,
                    example: example.to_owned(),
                })
                .collect();
            modules.sort_by(|a, b| {
                (std::cmp::Reverse(a.files), &a.folder)
                    .cmp(&(std::cmp::Reverse(b.files), &b.folder))
            });
            usages.push(Usage {
                ecosystem: manifest.ecosystem,
                name: declared.name.clone(),
                manifest: manifest.path.clone(),
                files: u32::try_from(evidence.files.len()).unwrap_or(u32::MAX),
                confidence,
                modules,
                more_modules: 0,
            });
        }
    }
    usages.sort_by(|a, b| {
        (std::cmp::Reverse(a.files), &a.name, &a.manifest).cmp(&(
            std::cmp::Reverse(b.files),
            &b.name,
            &b.manifest,
        ))
    });
    usages
}

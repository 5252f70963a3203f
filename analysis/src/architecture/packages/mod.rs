//! Finds the packages of a repository by their manifests.

mod cargo;
mod npm;
mod other;
mod python;

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use ignore::gitignore::GitignoreBuilder;
use rayon::prelude::*;

use crate::open;
use crate::paths::{folder_of, name_of};
use crate::report::Incomplete;
use crate::report::architecture::{Ecosystem, EntryKind, EntryPoint, Package};
use crate::text::harmless;
use crate::tree::classify::Origin;
use crate::tree::working_tree::Tree;

/// Manifests and documents above this size are not read.
const MAX_FILE_SIZE: u64 = 2 << 20;

/// Most manifests named that could not be read.
const MAX_GAPS: usize = 20;

/// Most manifests that are read.
const MAX_MANIFESTS: usize = 20_000;

/// The tree with access to the text of its files.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sources<'a> {
    pub(crate) root: &'a Path,
    pub(crate) tree: &'a Tree,
}

impl Sources<'_> {
    /// Returns the text of a file of the tree, if it is there and of reasonable size.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        let file = self.tree.find(path)?;
        let bytes = file.read(self.root, MAX_FILE_SIZE)?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.tree.find(path).is_some()
    }
}

/// A package with what other parts of the analysis need to know about it.
#[derive(Debug)]
pub(crate) struct FoundPackage {
    pub(crate) package: Package,
    /// Its folder, empty for the top.
    pub(crate) folder: String,
    /// The name by which code imports it.
    pub(crate) import_name: Option<String>,
    pub(crate) entry_points: Vec<EntryPoint>,
    /// Patterns of the folders of its workspace's members.
    members: Vec<String>,
    /// Names of all packages that it depends on.
    dependencies: BTreeSet<String>,
    pub(crate) license: Option<String>,
    /// Cargo: files at which crates start, with the name of the crate.
    pub(crate) roots: Vec<(String, String)>,
}

impl FoundPackage {
    fn new(ecosystem: Ecosystem, manifest: &str, name: impl AsRef<str>) -> Self {
        let folder = folder_of(manifest).to_owned();
        Self {
            package: Package {
                name: harmless(name.as_ref(), 200),
                ecosystem,
                path: if folder.is_empty() {
                    ".".to_owned()
                } else {
                    folder.clone()
                },
                manifest: manifest.to_owned(),
                version: None,
                description: None,
                workspace_member: false,
                internal_dependencies: Vec::new(),
                external_dependencies: None,
            },
            folder,
            import_name: None,
            entry_points: Vec::new(),
            members: Vec::new(),
            dependencies: BTreeSet::new(),
            license: None,
            roots: Vec::new(),
        }
    }

    fn describe(&mut self, version: Option<&str>, description: Option<&str>) {
        self.package.version = version.map(|text| harmless(text, 60));
        self.package.description = description.map(|text| harmless(text.trim(), 300));
    }

    fn entry(&mut self, kind: EntryKind, name: &str, path: String, basis: &str) {
        if !self
            .entry_points
            .iter()
            .any(|entry| entry.path == path && entry.name == name)
        {
            self.entry_points.push(EntryPoint {
                name: harmless(name, 100),
                kind,
                path,
                basis: basis.to_owned(),
            });
        }
    }
}

/// Joins a path to a folder; `None` when it leaves the tree.
pub(crate) fn join(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Names the manifests that are too large or can't be read: what they say is not in the report.
pub(crate) fn gaps(sources: Sources<'_>) -> Vec<Incomplete> {
    let files = sources.tree.files.iter().filter(|file| {
        file.origin != Origin::Vendored && !file.is_test && reader_of(name_of(&file.path)).is_some()
    });
    files
        .take(MAX_MANIFESTS)
        .filter(|file| !open::is_readable(&file.location(sources.root), MAX_FILE_SIZE))
        .take(MAX_GAPS)
        .map(|file| Incomplete::new(&file.path, "it is too large or cannot be read"))
        .collect()
}

/// Finds all packages, those nearest to the top first.
pub(crate) fn find(sources: Sources<'_>) -> Vec<FoundPackage> {
    let candidates: Vec<(&str, bool, ManifestReader)> = sources
        .tree
        .files
        .iter()
        .filter(|file| file.origin != Origin::Vendored)
        .filter_map(|file| {
            Some((
                file.path.as_str(),
                file.is_test,
                reader_of(name_of(&file.path))?,
            ))
        })
        .take(MAX_MANIFESTS)
        .collect();
    // Packages among tests are fixtures, unless there is nothing else.
    let read = |tests: bool| -> Vec<FoundPackage> {
        candidates
            .par_iter()
            .filter(|(_, is_test, _)| *is_test == tests)
            .filter_map(|(path, _, read)| read(sources, path))
            .collect()
    };
    let mut found = read(false);
    if found.is_empty() {
        found = read(true);
    } else {
        // A workspace may name packages that look like tests (a package `tests`, say).
        let named: Vec<FoundPackage> = read(true)
            .into_iter()
            .filter(|package| is_member(package, &found))
            .collect();
        found.extend(named);
    }
    link(&mut found);
    found.sort_by_cached_key(|package| {
        let depth = if package.folder.is_empty() {
            0
        } else {
            package.folder.split('/').count()
        };
        (depth, package.folder.clone(), package.package.ecosystem)
    });
    found
}

type ManifestReader = fn(Sources<'_>, &str) -> Option<FoundPackage>;

/// Returns the reader of a manifest, by its name.
fn reader_of(name: &str) -> Option<ManifestReader> {
    Some(match name {
        "Cargo.toml" => cargo::read,
        "package.json" => npm::read,
        "pyproject.toml" | "setup.py" | "setup.cfg" => python::read,
        "go.mod" => other::go,
        "pom.xml" => other::maven,
        "build.gradle" | "build.gradle.kts" => |sources, path| Some(other::gradle(sources, path)),
        "CMakeLists.txt" => other::cmake,
        "composer.json" => other::composer,
        name => match name.rsplit_once('.')?.1 {
            "gemspec" => |_, path| Some(other::gem(path)),
            "csproj" | "fsproj" => |_, path| Some(other::dotnet(path)),
            _ => return None,
        },
    })
}

fn is_member(package: &FoundPackage, all: &[FoundPackage]) -> bool {
    all.iter().any(|workspace| {
        let Some(inside) = (if workspace.folder.is_empty() {
            Some(package.folder.as_str())
        } else {
            package
                .folder
                .strip_prefix(workspace.folder.as_str())
                .and_then(|rest| rest.strip_prefix('/'))
        }) else {
            return false;
        };
        if workspace.package.ecosystem != package.package.ecosystem
            || workspace.members.is_empty()
            || inside.is_empty()
        {
            return false;
        }
        let mut builder = GitignoreBuilder::new("");
        for member in &workspace.members {
            let member = member.trim_start_matches("./").trim_end_matches('/');
            let line = match member.strip_prefix('!') {
                Some(member) => format!("!/{member}"),
                None => format!("/{member}"),
            };
            // A pattern that can't be read names no member.
            let _ = builder.add_line(None, &line);
        }
        builder
            .build()
            .is_ok_and(|patterns| patterns.matched(inside, true).is_ignore())
    })
}

/// Marks workspace members and separates internal from external dependencies.
fn link(found: &mut [FoundPackage]) {
    let members: Vec<bool> = found
        .iter()
        .map(|package| is_member(package, found))
        .collect();
    let names: HashMap<(Ecosystem, String), String> = found
        .iter()
        .map(|package| {
            (
                (package.package.ecosystem, package.package.name.clone()),
                package.package.name.clone(),
            )
        })
        .collect();
    for (package, member) in found.iter_mut().zip(members) {
        package.package.workspace_member |= member;
        let ecosystem = package.package.ecosystem;
        let own = package.package.name.clone();
        let (internal, external): (Vec<String>, Vec<String>) =
            std::mem::take(&mut package.dependencies)
                .into_iter()
                .filter(|name| *name != own)
                .partition(|name| names.contains_key(&(ecosystem, name.clone())));
        // Those of the others are not read.
        if matches!(
            ecosystem,
            Ecosystem::Cargo
                | Ecosystem::Npm
                | Ecosystem::Python
                | Ecosystem::Go
                | Ecosystem::Maven
                | Ecosystem::Composer
        ) {
            package.package.external_dependencies = Some(external.len() as u64);
        }
        package.package.internal_dependencies = internal;
    }
}

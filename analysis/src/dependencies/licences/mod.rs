//! Licences of locked packages, read from the local caches of package managers: the registry of Cargo, `node_modules`,
//! `site-packages`, the module cache of Go, the repositories of Maven and Gradle.
//!
//! A lock file seldom states a licence, the installed package does. Only these folders are read, only for a name and a
//! version that cannot lead out of them, and no link inside them is followed. What is not installed stays unknown.

mod go;
mod node;
mod pom;
mod python;
mod registry;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::facts::LockFacts;
use crate::Budget;
use crate::open;
use crate::paths::folder_of;
use crate::report::dependencies::{Ecosystem, Origin};
use crate::text::harmless;
use crate::workers::in_parallel;

/// Larger descriptions of packages are not read.
const MAX_FILE_SIZE: u64 = 512 << 10;

/// Entries of one cache folder that are looked at.
const MAX_ENTRIES: usize = 50_000;

/// Longest text that is reported as a licence; longer ones are whole licences.
const MAX_LICENCE_LENGTH: usize = 120;

/// The cache folders of this machine.
#[derive(Debug, Clone, Default)]
pub struct PackageCaches {
    /// `registry/src` of Cargo.
    pub(super) cargo: Option<PathBuf>,
    /// The module cache of Go.
    pub(super) go: Option<PathBuf>,
    /// Folders of installed distributions of Python.
    pub(super) python: Vec<PathBuf>,
    /// `~/.m2/repository`.
    pub(super) maven: Option<PathBuf>,
    /// `~/.gradle/caches/modules-2/files-2.1`.
    pub(super) gradle: Option<PathBuf>,
}

impl PackageCaches {
    /// Returns the folders that the package managers of this machine use, given its environment variables.
    pub fn of_this_machine<'v>(variable: impl Fn(&str) -> Option<&'v str>) -> Self {
        let folder = |name: &str| {
            variable(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let home = folder("HOME");
        let at_home = |path: &str| home.as_ref().map(|home| home.join(path));
        let cargo = folder("CARGO_HOME").or_else(|| at_home(".cargo"));
        let go_path = folder("GOPATH").or_else(|| at_home("go"));
        let mut python = vec![PathBuf::from("/usr/lib/python3/dist-packages")];
        python.extend(python::site_packages(Path::new("/usr/local")));
        python.extend(
            at_home(".local")
                .iter()
                .flat_map(|local| python::site_packages(local)),
        );
        Self {
            cargo: cargo.map(|cargo| cargo.join("registry/src")),
            go: folder("GOMODCACHE").or_else(|| go_path.map(|path| path.join("pkg/mod"))),
            python,
            maven: at_home(".m2/repository"),
            gradle: at_home(".gradle/caches/modules-2/files-2.1"),
        }
    }
}

/// Adds the licences that the caches state to the packages of which no lock file states it.
pub(super) fn fill(locks: &mut [LockFacts], root: &Path, caches: &PackageCaches, budget: &Budget) {
    let of = |ecosystem| locks.iter().any(|lock| lock.ecosystem == ecosystem);
    let crates = registry::Sources::of(caches.cargo.as_deref().filter(|_| of(Ecosystem::Cargo)));
    let distributions = if of(Ecosystem::Pypi) {
        python::Distributions::of(root, &caches.python)
    } else {
        python::Distributions::default()
    };
    for lock in locks {
        if budget.must_stop() {
            return;
        }
        let modules = match lock.ecosystem {
            Ecosystem::Npm => node::Modules::of(&root.join(folder_of(&lock.path))),
            _ => node::Modules::default(),
        };
        let ecosystem = lock.ecosystem;
        // Results come in the order of the packages, so that those of an interrupted search still fit.
        let (found, _) = in_parallel(&lock.packages, budget, |package| {
            if package.licence.is_some() || package.origin != Origin::Registry {
                return None;
            }
            let (name, version) = (package.name.as_str(), package.version.as_str());
            let licence = match ecosystem {
                Ecosystem::Cargo => crates.licence(name, version),
                Ecosystem::Npm => modules.licence(name, version),
                Ecosystem::Pypi => distributions.licence(name, version),
                Ecosystem::Go => go::licence(caches.go.as_deref()?, name, version),
                Ecosystem::Gradle => pom::licence(caches, name, version),
                Ecosystem::Maven | Ecosystem::Composer | Ecosystem::Bundler | Ecosystem::Nuget => {
                    None
                }
            };
            Some((name.to_owned(), version.to_owned(), licence?))
        });
        let mut packages = lock.packages.iter_mut();
        for (name, version, licence) in found.into_iter().flatten() {
            let same = |package: &&mut super::facts::LockedFacts| {
                package.name == name && package.version == version
            };
            if let Some(package) = packages.find(same) {
                package.licence = Some(licence);
            }
        }
    }
}

/// Returns a licence as it is reported; none if the text is no name of a licence.
fn tidy(licence: &str) -> Option<String> {
    let licence = licence.trim();
    let unknown = [
        "",
        "unknown",
        "none",
        "unlicensed",
        "see license",
        "see licence",
    ];
    let lower = licence.to_ascii_lowercase();
    let is_name = licence.len() <= MAX_LICENCE_LENGTH
        && !licence.contains('\n')
        && !unknown.contains(&lower.as_str())
        && !lower.starts_with("see license in");
    is_name.then(|| harmless(licence, MAX_LICENCE_LENGTH))
}

/// Returns whether a text can be one component of a path that stays where it is.
fn is_component(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 200
        && text != "."
        && text != ".."
        && !text.contains(['/', '\\', '\0'])
}

/// Goes down from a cache folder, through real folders only.
fn inside<'a>(base: &Path, parts: impl IntoIterator<Item = &'a str>) -> Option<PathBuf> {
    let mut path = base.to_owned();
    for part in parts {
        if !is_component(part) {
            return None;
        }
        let above = path.clone();
        path.push(part);
        // The last part may be a file; what opens it follows no link either.
        if above != base && !is_real_folder(&above) {
            return None;
        }
    }
    Some(path)
}

fn is_real_folder(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

/// Reads a file of a cache as text.
fn text_of(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    let size = open::read(path, MAX_FILE_SIZE, &mut bytes).ok()?;
    (size <= MAX_FILE_SIZE).then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// Lists the names in a folder, up to a limit.
fn names_in(folder: &Path) -> impl Iterator<Item = String> {
    std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .take(MAX_ENTRIES)
        .flatten()
        .filter_map(|entry| entry.file_name().to_str().map(str::to_owned))
}

/// Returns the names of the folder entries that start with a text, sorted.
fn starting_with(folder: &Path, start: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = names_in(folder)
        .filter(|name| name.starts_with(start))
        .map(|name| folder.join(OsStr::new(&name)))
        .collect();
    found.sort();
    found
}

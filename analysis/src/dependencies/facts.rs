//! The common output of all manifest and lock file parsers.

use std::collections::{HashMap, HashSet};

use super::roles::{is_test_data, role_of};
use crate::paths::{folder_of, joined};
use crate::report::dependencies::{Ecosystem, Kind, Origin, Role};
use crate::text::{harmless, without_credentials};
use crate::tree::file_list::{FileList, ReadError};
use crate::{AnalysisError, Budget, Incomplete};

/// Largest manifest that is read; the largest of real projects have some hundred kilobytes.
pub(super) const MAX_MANIFEST_SIZE: u64 = 2 << 20;

/// Largest lock file that is read.
pub(super) const MAX_LOCK_SIZE: u64 = 16 << 20;

/// Packages kept of all lock files together.
pub(super) const MAX_LOCKED: usize = 300_000;

/// Longest name, version or requirement; longer ones are hostile.
const MAX_NAME_LENGTH: usize = 160;

/// Why a manifest or lock file tells nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum ParseError {
    #[error("it is not valid TOML: {}", source.message())]
    Toml {
        #[from]
        source: toml::de::Error,
    },
    #[error("it is not valid JSON: {source}")]
    Json {
        #[from]
        source: serde_json::Error,
    },
    #[error("it is not valid YAML: {source}")]
    Yaml {
        #[from]
        source: serde_saphyr::Error,
    },
    #[error("it is not valid XML: {source}")]
    Xml {
        #[from]
        source: roxmltree::Error,
    },
    #[error("it is no yarn lock file that can be read")]
    Yarn,
    #[error("it lacks the expected {expected}")]
    Shape { expected: &'static str },
}

/// A dependency as a manifest declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Declared {
    pub(super) name: String,
    pub(super) alias: Option<String>,
    pub(super) requirement: Option<String>,
    pub(super) kind: Kind,
    pub(super) origin: Origin,
    pub(super) location: Option<String>,
    pub(super) condition: Option<String>,
    pub(super) line: Option<u32>,
    /// Whether a git reference is a commit or tag.
    pub(super) fixed: bool,
    /// The requirement is to be looked up in the workspace, parent or catalogue, under this key.
    pub(super) inherits: Option<String>,
}

impl Declared {
    pub(super) fn new(name: &str, kind: Kind) -> Self {
        Self {
            name: harmless(name, MAX_NAME_LENGTH),
            alias: None,
            requirement: None,
            kind,
            origin: Origin::Registry,
            location: None,
            condition: None,
            line: None,
            fixed: false,
            inherits: None,
        }
    }

    pub(super) fn requirement(mut self, requirement: Option<&str>) -> Self {
        self.requirement = requirement
            .map(|text| harmless(text, MAX_NAME_LENGTH))
            .filter(|text| !text.is_empty());
        self
    }

    pub(super) fn alias(mut self, alias: &str) -> Self {
        self.alias = (alias != self.name).then(|| harmless(alias, MAX_NAME_LENGTH));
        self
    }

    pub(super) fn condition(mut self, condition: Option<&str>) -> Self {
        self.condition = condition
            .map(|text| harmless(text, MAX_NAME_LENGTH))
            .filter(|text| !text.is_empty());
        self
    }

    pub(super) fn line(mut self, line: u32) -> Self {
        self.line = Some(line);
        self
    }

    pub(super) fn git(mut self, address: &str, reference: Option<&str>, fixed: bool) -> Self {
        self.origin = Origin::Git;
        self.forget_address();
        let address = without_credentials(address.trim_start_matches("git+"));
        let location = match reference {
            Some(reference) => format!("{address}#{reference}"),
            None => address,
        };
        self.location = Some(harmless(&location, MAX_NAME_LENGTH));
        self.fixed = fixed;
        self
    }

    pub(super) fn url(mut self, address: &str) -> Self {
        self.origin = Origin::Url;
        self.forget_address();
        self.location = Some(harmless(&without_credentials(address), MAX_NAME_LENGTH));
        self
    }

    /// Drops a requirement that is an address: it may hold a secret, and the location says it.
    fn forget_address(&mut self) {
        self.requirement = self.requirement.take().filter(|text| !text.contains("://"));
    }

    /// Marks a path dependency; `fixed` then says that it stays inside the repository.
    pub(super) fn path(mut self, folder: &str, path: &str) -> Self {
        self.origin = Origin::Path;
        let inside = joined(folder, path);
        self.fixed = inside.is_some();
        self.location = Some(harmless(inside.as_deref().unwrap_or(path), MAX_NAME_LENGTH));
        self
    }

    pub(super) fn workspace(mut self) -> Self {
        self.origin = Origin::Workspace;
        self.fixed = true;
        self
    }

    /// Returns the name that code uses.
    pub(super) fn code_name(&self) -> &str {
        self.alias.as_deref().unwrap_or(&self.name)
    }
}

/// A manifest.
#[derive(Debug, Clone)]
pub(super) struct ManifestFacts {
    pub(super) path: String,
    pub(super) ecosystem: Ecosystem,
    pub(super) role: Role,
    pub(super) package: Option<String>,
    pub(super) version: Option<String>,
    pub(super) licence: Option<String>,
    pub(super) declared: Vec<Declared>,
    /// Shared entries (workspace, dependency management) that nothing took up.
    pub(super) offered: Vec<Declared>,
    /// Whether the licence is the one that the workspace states.
    pub(super) inherits_licence: bool,
    /// The licence that it states for the members of its workspace.
    pub(super) shared_licence: Option<String>,
    /// Programs of dependencies that the manifest names (Go).
    pub(super) tools: Vec<String>,
}

impl ManifestFacts {
    pub(super) fn new(path: &str, ecosystem: Ecosystem) -> Self {
        Self {
            path: path.to_owned(),
            ecosystem,
            role: role_of(ecosystem, path),
            package: None,
            version: None,
            licence: None,
            declared: Vec::new(),
            offered: Vec::new(),
            inherits_licence: false,
            shared_licence: None,
            tools: Vec::new(),
        }
    }

    pub(super) fn folder(&self) -> &str {
        folder_of(&self.path)
    }

    pub(super) fn about(
        &mut self,
        package: Option<&str>,
        version: Option<&str>,
        licence: Option<&str>,
    ) {
        let short = |text: Option<&str>| {
            text.map(|text| harmless(text, MAX_NAME_LENGTH))
                .filter(|text| !text.is_empty())
        };
        self.package = short(package);
        self.version = short(version);
        self.licence = short(licence);
    }
}

/// A package in a lock file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LockedFacts {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) origin: Origin,
    pub(super) licence: Option<String>,
    /// Name and, where the lock file tells, version of what it needs.
    pub(super) needs: Vec<(String, Option<String>)>,
}

impl LockedFacts {
    pub(super) fn new(name: &str, version: &str, origin: Origin) -> Self {
        Self {
            name: harmless(name, MAX_NAME_LENGTH),
            version: harmless(version, MAX_NAME_LENGTH),
            origin,
            licence: None,
            needs: Vec::new(),
        }
    }
}

/// A lock file.
#[derive(Debug, Clone)]
pub(super) struct LockFacts {
    pub(super) path: String,
    pub(super) ecosystem: Ecosystem,
    pub(super) packages: Vec<LockedFacts>,
    /// Versions that particular requests got: `folder NUL name` or `name@requirement`.
    pub(super) pins: HashMap<String, String>,
    /// Folders of the packages that it decides for, as far as it tells, from its own folder.
    pub(super) members: HashSet<String>,
}

impl LockFacts {
    pub(super) fn new(path: &str, ecosystem: Ecosystem) -> Self {
        Self {
            path: path.to_owned(),
            ecosystem,
            packages: Vec::new(),
            pins: HashMap::new(),
            members: HashSet::new(),
        }
    }

    pub(super) fn pin_in(&mut self, folder: &str, name: &str, version: &str) {
        self.pins.insert(
            format!("{folder}\0{name}"),
            harmless(version, MAX_NAME_LENGTH),
        );
    }
}

/// Reads files for the parsers and keeps what they find.
pub(super) struct Reader<'a> {
    pub(super) listing: &'a FileList,
    pub(super) budget: &'a Budget,
    pub(super) manifests: Vec<ManifestFacts>,
    pub(super) locks: Vec<LockFacts>,
    pub(super) incomplete: Vec<Incomplete>,
    pub(super) vendored: u32,
    locked: usize,
    late: u32,
}

impl<'a> Reader<'a> {
    pub(super) fn new(listing: &'a FileList, budget: &'a Budget) -> Self {
        Self {
            listing,
            budget,
            manifests: Vec::new(),
            locks: Vec::new(),
            incomplete: Vec::new(),
            vendored: 0,
            locked: 0,
            late: 0,
        }
    }

    /// Returns the files of these names that are ours to read.
    pub(super) fn files(&mut self, names: &[&str]) -> Vec<String> {
        let found = names.iter().flat_map(|name| self.listing.named(name));
        let (vendored, ours): (Vec<&str>, Vec<&str>) = found.partition(|path| is_vendored(path));
        let ours = ours.into_iter().map(str::to_owned).collect();
        self.vendored += u32::try_from(vendored.len()).unwrap_or(u32::MAX);
        ours
    }

    /// Returns the files whose names pass the test.
    pub(super) fn files_where(&self, test: impl Fn(&str) -> bool) -> Vec<String> {
        self.listing
            .files
            .iter()
            .filter(|path| test(crate::paths::name_of(path)) && !is_vendored(path))
            .cloned()
            .collect()
    }

    /// Reads and parses one file; a file that says nothing is listed as incomplete.
    pub(super) fn parse<T>(
        &mut self,
        path: &str,
        limit: u64,
        parse: impl FnOnce(&str) -> Result<T, ParseError>,
    ) -> Result<Option<T>, AnalysisError> {
        self.budget.check()?;
        if self.budget.is_late() {
            self.late += 1;
            return Ok(None);
        }
        let parsed = match self.listing.text(path, limit) {
            Ok(text) => parse(&text).map_err(|error| error.to_string()),
            Err(
                error @ (ReadError::NotListed
                | ReadError::TooLarge { .. }
                | ReadError::Io { .. }
                | ReadError::NotText),
            ) => Err(error.to_string()),
        };
        Ok(parsed
            .map_err(|why| self.incomplete.push(Incomplete::new(path, &why)))
            .ok())
    }

    /// Reads a manifest with its own parser.
    pub(super) fn manifest(
        &mut self,
        path: &str,
        parse: impl FnOnce(&str, &str) -> Result<ManifestFacts, ParseError>,
    ) -> Result<(), AnalysisError> {
        let found = self.parse(path, MAX_MANIFEST_SIZE, |text| parse(path, text))?;
        self.manifests.extend(found);
        Ok(())
    }

    /// Reads a lock file with its own parser.
    pub(super) fn lock(
        &mut self,
        path: &str,
        parse: impl FnOnce(&str, &str) -> Result<LockFacts, ParseError>,
    ) -> Result<(), AnalysisError> {
        if is_test_data(path) {
            return Ok(());
        }
        let found = self.parse(path, MAX_LOCK_SIZE, |text| parse(path, text))?;
        if let Some(lock) = found {
            self.keep(lock);
        }
        Ok(())
    }

    /// Keeps a lock file, up to the most packages.
    pub(super) fn keep(&mut self, mut lock: LockFacts) {
        let room = MAX_LOCKED.saturating_sub(self.locked);
        if lock.packages.len() > room {
            lock.packages.truncate(room);
            self.incomplete.push(Incomplete::new(
                &lock.path,
                "it holds more packages than are kept",
            ));
        }
        self.locked += lock.packages.len();
        self.locks.push(lock);
    }

    /// Says what the time limit cost.
    pub(super) fn finish(&mut self) {
        if self.late > 0 {
            let what = format!("{} manifests and lock files", self.late);
            self.incomplete.push(Incomplete::out_of_time(&what));
        }
    }
}

/// Returns whether a file is vendored.
fn is_vendored(path: &str) -> bool {
    folder_of(path).split('/').any(|part| part == "vendor")
}

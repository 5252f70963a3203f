//! The files of a working tree by name, and bounded reads of those that manifests and issues name.
//!
//! Only files that the walk found are ever read. The walk follows no symbolic link, so a path
//! that a manifest names can lead neither out of the repository nor around in circles.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use model::hidden::without_byte_order_mark;

use super::scan::{self, Reading};
use super::working_tree::TreeFile;
use crate::open;
use crate::paths::name_of;
use crate::{AnalysisError, Budget, Incomplete};

/// Folders that package managers install into.
const INSTALLED: [&str; 8] = [
    "node_modules",
    "bower_components",
    "jspm_packages",
    "site-packages",
    ".venv",
    "venv",
    ".tox",
    "Pods",
];

/// The files of a repository.
pub(crate) struct FileList {
    root: PathBuf,
    /// Sorted by path.
    entries: Vec<TreeFile>,
    /// Printable paths relative to the root, in the order of the entries.
    pub(crate) files: Vec<String>,
    /// Whether the walk ended before it saw everything.
    cut: bool,
    /// Whether the walk left something out that belongs to the repository.
    partial: bool,
    names: HashMap<String, Vec<u32>>,
}

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error("it is no regular file of the repository")]
    NotListed,
    #[error("it is larger than {limit} bytes")]
    TooLarge { limit: u64 },
    #[error("it cannot be read: {source}")]
    Io {
        #[source]
        source: std::io::Error,
    },
    #[error("it is not UTF-8 text")]
    NotText,
}

impl FileList {
    /// Lists the files under `root` that git does not ignore and no package manager put there.
    pub(crate) fn of(
        root: &Path,
        reading: Reading,
        budget: &Budget,
    ) -> Result<Self, AnalysisError> {
        let tree = scan::scan(root, reading, budget, (0.2, 0.5))?;
        let partial =
            tree.cut || tree.unreadable_folders > 0 || !tree.nested_repositories.is_empty();
        let mut entries = tree.files;
        entries.retain(|file| !is_installed(&file.path));
        let files: Vec<String> = entries.iter().map(|file| file.path.clone()).collect();
        let mut names: HashMap<String, Vec<u32>> = HashMap::new();
        for (index, path) in (0..).zip(&files) {
            names
                .entry(name_of(path).to_owned())
                .or_default()
                .push(index);
        }
        Ok(Self {
            root: root.to_owned(),
            entries,
            files,
            cut: tree.cut,
            partial,
            names,
        })
    }

    /// Returns the entry for files that the deadline cut off.
    pub(crate) fn gap(&self) -> Option<Incomplete> {
        self.cut
            .then(|| Incomplete::out_of_time("the list of files"))
    }

    /// Returns whether folders or submodules are missing, so that what is not found may still be there.
    pub(crate) fn is_partial(&self) -> bool {
        self.partial
    }

    /// Returns the files with what was read of them.
    pub(crate) fn entries(&self) -> &[TreeFile] {
        &self.entries
    }

    /// Returns the paths of the files with this name.
    pub(crate) fn named(&self, name: &str) -> impl Iterator<Item = &str> {
        self.names
            .get(name)
            .into_iter()
            .flatten()
            .filter_map(|&index| self.files.get(index as usize))
            .map(String::as_str)
    }

    /// Returns whether a path is one of the files.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.entry(path).is_some()
    }

    fn entry(&self, path: &str) -> Option<&TreeFile> {
        let index = self
            .files
            .binary_search_by(|file| file.as_str().cmp(path))
            .ok()?;
        self.entries.get(index)
    }

    /// Reads one of the files as text.
    pub(crate) fn text(&self, path: &str, limit: u64) -> Result<String, ReadError> {
        let text = String::from_utf8(self.bytes(path, limit)?).map_err(|_| ReadError::NotText)?;
        Ok(without_byte_order_mark(text))
    }

    /// Reads one of the files.
    pub(crate) fn bytes(&self, path: &str, limit: u64) -> Result<Vec<u8>, ReadError> {
        let entry = self.entry(path).ok_or(ReadError::NotListed)?;
        let mut bytes = Vec::new();
        match open::read(&entry.location(&self.root), limit, &mut bytes) {
            Ok(size) if size > limit => Err(ReadError::TooLarge { limit }),
            Ok(_) => Ok(bytes),
            Err(source) => Err(ReadError::Io { source }),
        }
    }
}

fn is_installed(path: &str) -> bool {
    path.split('/').any(|part| INSTALLED.contains(&part))
}

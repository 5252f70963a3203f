//! The working tree as it was found: its files and what they turned out to be.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::classify::Origin;
use super::language::LanguageId;
use super::lexer::LineCounts;
use super::markers::FoundMarker;
use crate::open;
use crate::tree::imports::SourceFacts;

/// What a file turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    Text(LanguageId),
    /// Text of an unknown language, or not read.
    Other,
    Binary,
    Huge,
    Unreadable,
}

/// One file of the working tree.
#[derive(Debug)]
pub(crate) struct TreeFile {
    /// Relative to the root, printable.
    pub(crate) path: String,
    /// The real relative path where it differs from `path`.
    pub(super) real: Option<OsString>,
    /// In bytes; zero when the file was not opened.
    pub(crate) size: u64,
    pub(crate) content: Content,
    pub(crate) origin: Origin,
    pub(crate) is_test: bool,
    /// Examples and documentation, unless most of the code is that.
    pub(crate) is_aside: bool,
    pub(crate) lines: LineCounts,
    /// Lines of `#[cfg(test)]` items; part of `lines`.
    pub(crate) test_lines: LineCounts,
    pub(crate) markers: Vec<FoundMarker>,
    pub(crate) source: Option<Box<SourceFacts>>,
}

impl TreeFile {
    /// Sets the file apart as written elsewhere; what was found in it is nobody's work here.
    pub(crate) fn set_vendored(&mut self) {
        self.origin = Origin::Vendored;
        self.markers.clear();
        self.source = None;
    }

    /// Returns whether the file is neither test nor example nor documentation.
    pub(crate) fn is_product(&self) -> bool {
        !self.is_test && !self.is_aside
    }

    pub(crate) fn language(&self) -> Option<LanguageId> {
        match self.content {
            Content::Text(language) => Some(language),
            Content::Other | Content::Binary | Content::Huge | Content::Unreadable => None,
        }
    }

    /// Reads the file if it is a regular file of at most `limit` bytes.
    pub(crate) fn read(&self, root: &Path, limit: u64) -> Option<Vec<u8>> {
        let mut content = Vec::new();
        let size = open::read(&self.location(root), limit, &mut content).ok()?;
        (size <= limit).then_some(content)
    }

    /// Returns where the file is on disk.
    pub(crate) fn location(&self, root: &Path) -> PathBuf {
        match &self.real {
            Some(real) => root.join(real),
            None => root.join(&self.path),
        }
    }
}

/// The working tree as found.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// Sorted by path.
    pub(crate) files: Vec<TreeFile>,
    pub(crate) symlinks: u64,
    pub(crate) unreadable_folders: u64,
    /// Repositories inside the repository: submodules and others; not entered.
    pub(crate) nested_repositories: Vec<String>,
    /// Whether the deadline cut the walk off.
    pub(crate) cut: bool,
}

impl Tree {
    /// Finds a file by its path.
    pub(crate) fn find(&self, path: &str) -> Option<&TreeFile> {
        self.files.get(self.position(path)?)
    }

    /// Returns the lines of each text file that was counted.
    pub(crate) fn line_counts(&self) -> HashMap<String, u32> {
        let texts = self.files.iter().filter(|file| file.language().is_some());
        texts
            .filter_map(|file| Some((file.path.clone(), u32::try_from(file.lines.total()).ok()?)))
            .collect()
    }

    /// Finds the number of a file by its path.
    pub(crate) fn position(&self, path: &str) -> Option<usize> {
        self.files
            .binary_search_by(|file| file.path.as_str().cmp(path))
            .ok()
    }
}

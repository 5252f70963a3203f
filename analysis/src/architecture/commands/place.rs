//! Where a command runs, and what is there.

use crate::architecture::packages::{Sources, join};

/// Where a command runs.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) sources: Sources<'a>,
    /// Relative to the top, empty for the top.
    pub(super) folder: &'a str,
    /// How many scripts call each other until here.
    pub(super) level: usize,
}

/// Returns the text of a file of a folder.
pub(super) fn text_in(place: Place<'_>, name: &str) -> Option<String> {
    place.sources.text(&join(place.folder, name)?)
}

/// Finds the first file of these names in a folder.
pub(super) fn first_of(place: Place<'_>, names: &[&str]) -> Option<(String, String)> {
    names.iter().find_map(|name| {
        let path = join(place.folder, name)?;
        let text = place.sources.text(&path)?;
        Some((path, text))
    })
}

/// Returns whether the repository has a folder.
pub(super) fn is_folder(sources: Sources<'_>, folder: &str) -> bool {
    folder.is_empty() || {
        let inside = format!("{folder}/");
        sources
            .tree
            .files
            .iter()
            .any(|file| file.path.starts_with(&inside))
    }
}

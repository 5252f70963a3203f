//! Resolves C and C++ headers: beside the file, then below likely include folders.

use std::collections::HashMap;

use super::Target;
use crate::architecture::packages::join;
use crate::paths::{folder_of, name_of};
use crate::tree::classify::Origin;
use crate::tree::imports::Import;
use crate::tree::working_tree::Tree;

/// The headers of the repository by their file name.
pub(super) struct Headers<'a> {
    by_name: HashMap<&'a str, Vec<usize>>,
}

impl<'a> Headers<'a> {
    /// Collects everything that can be included.
    pub(super) fn new(tree: &'a Tree) -> Self {
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        for (number, file) in tree.files.iter().enumerate() {
            let is_c = file.language().is_some_and(|language| {
                matches!(language.name(), "C" | "C Header" | "C++" | "C++ Header")
            });
            if is_c && file.origin == Origin::Own {
                by_name.entry(name_of(&file.path)).or_default().push(number);
            }
        }
        Self { by_name }
    }

    /// Finds the file that an `#include` means.
    pub(super) fn target(&self, tree: &Tree, from: &str, import: &Import) -> Target {
        let (path, quoted) = match import {
            Import::Path(path) => (path, true),
            Import::System(path) => (path, false),
            Import::From { .. } => return Target::Elsewhere,
        };
        if quoted
            && let Some(beside) = join(folder_of(from), path).and_then(|path| tree.position(&path))
        {
            return Target::File(beside);
        }
        let Some(path) = join("", path.trim_start_matches("../")) else {
            return Target::Elsewhere;
        };
        let candidates = self
            .by_name
            .get(name_of(&path))
            .map_or(&[][..], Vec::as_slice);
        let best = candidates
            .iter()
            .copied()
            .filter_map(|number| {
                let rest = tree.files[number].path.strip_suffix(path.as_str())?;
                let folder = rest.strip_suffix('/').or(rest.is_empty().then_some(""))?;
                // `<string.h>` is not `include/linux/string.h`: what is left must look like a place for includes.
                let fits = quoted
                    || folder.is_empty()
                    || matches!(
                        name_of(folder),
                        "include" | "inc" | "src" | "includes" | "public"
                    );
                fits.then(|| {
                    (
                        std::cmp::Reverse(shared(from, folder)),
                        folder.len(),
                        number,
                    )
                })
            })
            .min();
        match best {
            Some((_, _, number)) => Target::File(number),
            None if quoted => Target::Missing,
            None => Target::Elsewhere,
        }
    }
}

/// Counts the leading folders that a file and a folder share.
fn shared(file: &str, folder: &str) -> usize {
    folder_of(file)
        .split('/')
        .zip(folder.split('/'))
        .take_while(|(one, other)| one == other)
        .count()
}

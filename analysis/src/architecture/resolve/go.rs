//! Go: an import names a folder; the file named after it (or the first one) stands for the package.

use std::collections::HashMap;

use super::{Target, files_of};
use crate::architecture::packages::{Found, join};
use crate::paths::{folder_of, name_of};
use crate::report::architecture::Ecosystem;
use crate::tree::imports::{Family, Import};
use crate::tree::scan::Tree;

/// The Go modules of the repository.
pub(super) struct Modules<'a> {
    /// Module paths with their folders, the longest first.
    modules: Vec<(&'a str, &'a str)>,
    /// The file that stands for the package in a folder.
    packages: HashMap<&'a str, usize>,
}

impl<'a> Modules<'a> {
    /// Finds the file that stands for each folder.
    pub(super) fn new(tree: &'a Tree, packages: &'a [Found]) -> Self {
        let mut modules: Vec<(&str, &str)> = packages
            .iter()
            .filter(|package| package.package.ecosystem == Ecosystem::Go)
            .map(|package| (package.package.name.as_str(), package.folder.as_str()))
            .collect();
        modules.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        let mut by_folder: HashMap<&str, usize> = HashMap::new();
        for (number, file, _) in files_of(tree, Family::Go).filter(|(_, file, _)| !file.is_test) {
            let folder = folder_of(&file.path);
            let stands_for_it = name_of(&file.path).trim_end_matches(".go") == name_of(folder);
            by_folder
                .entry(folder)
                .and_modify(|first| {
                    if stands_for_it {
                        *first = number;
                    }
                })
                .or_insert(number);
        }
        Self {
            modules,
            packages: by_folder,
        }
    }

    /// Finds the package that an import names.
    pub(super) fn target(&self, import: &Import) -> Target {
        let Import::Path(path) = import else {
            return Target::Elsewhere;
        };
        for (module, folder) in &self.modules {
            let Some(inside) = path.strip_prefix(module) else {
                continue;
            };
            if !inside.is_empty() && !inside.starts_with('/') {
                continue;
            }
            let place = join(folder, inside);
            return Target::found(
                place.and_then(|place| self.packages.get(place.as_str()).copied()),
            );
        }
        Target::Elsewhere
    }
}

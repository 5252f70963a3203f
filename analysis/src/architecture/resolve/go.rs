//! Resolves Go names: those of imported packages and of the own one lead to the files that declare them.

use std::collections::HashMap;

use super::{Target, files_of};
use crate::architecture::packages::{FoundPackage, join};
use crate::paths::{folder_of, name_of};
use crate::report::architecture::Ecosystem;
use crate::tree::imports::{Family, Import, SourceFacts, short_hash};
use crate::tree::working_tree::Tree;

/// The files of one package.
#[derive(Default)]
struct Package {
    /// Stands for the package where no name tells the file: the one named after the folder, else the first.
    representative: Option<usize>,
    /// Its name in code.
    name: Box<str>,
    /// Files by the hash of what they declare; several where each is for another system.
    declared: HashMap<u32, Vec<usize>>,
}

/// The Go modules of the repository.
pub(super) struct Modules<'a> {
    /// Module paths with their folders, the longest first.
    modules: Vec<(&'a str, &'a str)>,
    packages: HashMap<&'a str, Package>,
}

impl<'a> Modules<'a> {
    /// Collects what the packages declare.
    pub(super) fn new(tree: &'a Tree, packages: &'a [FoundPackage]) -> Self {
        let mut modules: Vec<(&str, &str)> = packages
            .iter()
            .filter(|package| package.package.ecosystem == Ecosystem::Go)
            .map(|package| (package.package.name.as_str(), package.folder.as_str()))
            .collect();
        modules.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        let mut by_folder: HashMap<&str, Package> = HashMap::new();
        for (number, file, facts) in files_of(tree, Family::Go).filter(|(_, file, _)| !file.is_test)
        {
            let Some(go) = &facts.go else { continue };
            let folder = folder_of(&file.path);
            let package = by_folder.entry(folder).or_default();
            if package.representative.is_none()
                || name_of(&file.path).trim_end_matches(".go") == name_of(folder)
            {
                package.representative = Some(number);
                package.name.clone_from(&go.package);
            }
            for name in &go.declared {
                let files = package.declared.entry(*name).or_default();
                if files.last() != Some(&number) {
                    files.push(number);
                }
            }
        }
        Self {
            modules,
            packages: by_folder,
        }
    }

    /// Finds the files that declare what a file uses.
    pub(super) fn targets(
        &self,
        tree: &Tree,
        from: &str,
        facts: &SourceFacts,
        take: &mut impl FnMut(Target),
    ) {
        let Some(go) = &facts.go else { return };
        let own = self.packages.get(folder_of(from));
        let same_package = own.filter(|own| own.name == go.package);
        let mut known: Vec<u32> = Vec::new();
        for (_, import) in &facts.imports {
            let (path, alias) = match import {
                Import::Path(path) => (path, None),
                Import::From { module, names } => (module, names.first()),
                Import::System(_) => continue,
            };
            let Some(place) = self.place(path) else {
                known.extend(alias.map(|alias| short_hash(alias)));
                continue;
            };
            let Some(package) = self.packages.get(place.as_str()) else {
                take(Target::Missing);
                continue;
            };
            let name = short_hash(alias.map_or(&*package.name, String::as_str));
            known.push(name);
            let first = go.selected.partition_point(|used| *used < (name, 0));
            let members = go.selected[first..]
                .iter()
                .take_while(|used| used.0 == name);
            let mut led = false;
            for file in
                members.filter_map(|(_, member)| best(tree, from, package.declared.get(member)?))
            {
                led = true;
                take(Target::File(file));
            }
            if !led {
                take(Target::found(package.representative));
            }
        }
        let Some(own) = same_package else { return };
        for name in go.plain.iter().filter(|name| !known.contains(name)) {
            let file = own
                .declared
                .get(name)
                .and_then(|files| best(tree, from, files));
            if let Some(file) = file {
                take(Target::File(file));
            }
        }
    }

    /// Finds the folder that the path of a package names, unless it is a package of others.
    fn place(&self, path: &str) -> Option<String> {
        for (module, folder) in &self.modules {
            let Some(inside) = path.strip_prefix(module) else {
                continue;
            };
            if !inside.is_empty() && !inside.starts_with('/') {
                continue;
            }
            return join(folder, inside);
        }
        None
    }
}

/// Of several files that declare a name for one system each, takes the one for the system of the importer.
fn best(tree: &Tree, from: &str, files: &[usize]) -> Option<usize> {
    let suffix = |path: &str| {
        let stem = name_of(path).trim_end_matches(".go");
        stem.split_once('_').map(|(_, rest)| rest.to_owned())
    };
    let path = |file: usize| tree.files[file].path.as_str();
    if let Some(own) = files.iter().find(|file| path(**file) == from) {
        return Some(*own);
    }
    let same = files
        .iter()
        .find(|file| suffix(path(**file)) == suffix(from));
    same.or(files.first()).copied()
}

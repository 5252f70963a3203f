//! Resolves Java names: imported ones, those of the same package, and those written out in full.

use std::collections::HashMap;

use super::{Target, files_of};
use crate::paths::folder_of;
use crate::tree::imports::{Family, Import, SourceFacts, short_hash};
use crate::tree::working_tree::Tree;

/// The classes of the repository.
pub(super) struct Classes<'a> {
    tree: &'a Tree,
    /// Files by the full name of a class; several where variants of it are built apart.
    by_name: HashMap<String, Vec<usize>>,
    /// Classes of each package by the hash of their name.
    packages: HashMap<&'a str, HashMap<u32, &'a str>>,
}

impl<'a> Classes<'a> {
    /// Names each file by the package and the types that it declares.
    pub(super) fn new(tree: &'a Tree) -> Self {
        let mut classes = Self {
            tree,
            by_name: HashMap::new(),
            packages: HashMap::new(),
        };
        for (number, _, facts) in files_of(tree, Family::Java).filter(|(_, file, _)| !file.is_test)
        {
            let Some(java) = &facts.java else { continue };
            let package = classes.packages.entry(java.package.as_str()).or_default();
            for name in &java.types {
                package.insert(short_hash(name), name);
                let files = classes
                    .by_name
                    .entry(full(&java.package, name))
                    .or_default();
                files.push(number);
            }
        }
        classes
    }

    /// Finds the files whose classes a file names.
    pub(super) fn targets(&self, from: &str, facts: &SourceFacts, take: &mut impl FnMut(Target)) {
        let Some(java) = &facts.java else { return };
        let mut found = |name: &str| {
            let file = self.class(from, name);
            take(file.map_or(Target::Elsewhere, Target::File));
        };
        let mut imported = Vec::new();
        let mut packages = vec![java.package.as_str()];
        for (_, import) in &facts.imports {
            let Import::Path(path) = import else { continue };
            if let Some(package) = path.strip_suffix(".*") {
                if self.packages.contains_key(package) {
                    packages.push(package);
                } else {
                    // Static members or nested classes.
                    found(package);
                }
                continue;
            }
            let name = path.rsplit('.').next().unwrap_or(path);
            let is_type = name.starts_with(|first: char| first.is_ascii_uppercase());
            imported.push(short_hash(name));
            // Imports for a comment alone are no use.
            if !is_type || java.mentions(name) {
                found(path);
            }
        }
        for mention in java
            .mentions
            .iter()
            .filter(|mention| !imported.contains(mention))
        {
            // The own package comes before what a star brings in.
            let place = packages
                .iter()
                .find_map(|package| Some((package, self.packages.get(package)?.get(mention)?)));
            if let Some((package, name)) = place {
                found(&full(package, name));
            }
        }
        for name in &java.qualified {
            found(name);
        }
    }

    /// Finds the class of a name; nested classes and static members are in the file around them.
    fn class(&self, from: &str, name: &str) -> Option<usize> {
        let mut name = name;
        loop {
            if let Some(files) = self.by_name.get(name) {
                return files
                    .iter()
                    .copied()
                    .max_by_key(|file| shared(from, &self.tree.files[*file].path));
            }
            name = &name[..name.rfind('.')?];
        }
    }
}

fn full(package: &str, name: &str) -> String {
    if package.is_empty() {
        name.to_owned()
    } else {
        format!("{package}.{name}")
    }
}

/// Counts the leading folders that two files share.
fn shared(one: &str, other: &str) -> usize {
    let other = folder_of(other).split('/');
    folder_of(one)
        .split('/')
        .zip(other)
        .take_while(|(one, other)| one == other)
        .count()
}

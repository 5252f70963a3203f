//! Resolves Rust paths: follows `mod` from the root file of each crate, then modules and re-exports.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use super::Target;
use crate::Budget;
use crate::architecture::packages::{FoundPackage, join};
use crate::paths::{folder_of, name_of};
use crate::tree::imports::{RustFacts, RustUse, SourceFacts};
use crate::tree::working_tree::Tree;

/// Re-exports followed for one path; globs of globs would multiply without end.
const MAX_REEXPORTS: usize = 48;

/// The number of a crate.
type CrateId = usize;

/// A module: its crate and its path within.
type ModulePath = (CrateId, Vec<String>);

/// All crates of the repository with their modules.
pub(super) struct Crates<'a> {
    tree: &'a Tree,
    /// Libraries by the name that code uses.
    libraries: HashMap<&'a str, CrateId>,
    /// The file of each module; inline modules are in the file around them.
    modules: HashMap<ModulePath, usize>,
    /// The module of each file.
    places: HashMap<usize, ModulePath>,
}

impl<'a> Crates<'a> {
    /// Follows the modules of all crates.
    pub(super) fn new(tree: &'a Tree, packages: &'a [FoundPackage], budget: &Budget) -> Self {
        let mut crates = Self {
            tree,
            libraries: HashMap::new(),
            modules: HashMap::new(),
            places: HashMap::new(),
        };
        let mut number = 0;
        for package in packages.iter().take_while(|_| !budget.is_cancelled()) {
            for (name, root) in &package.roots {
                let Some(file) = tree.position(root) else {
                    continue;
                };
                if package.import_name.as_ref() == Some(name)
                    && !crates.libraries.contains_key(name.as_str())
                {
                    crates.libraries.insert(name, number);
                }
                crates.follow(number, file);
                number += 1;
            }
        }
        crates
    }

    fn facts(&self, file: usize) -> Option<&'a RustFacts> {
        self.tree.files.get(file)?.source.as_deref()?.rust.as_ref()
    }

    /// Registers a crate's modules, beginning at its root file.
    fn follow(&mut self, id: CrateId, root: usize) {
        let mut open = vec![(root, Vec::new(), true)];
        let mut seen = HashSet::new();
        while let Some((file, module, is_root)) = open.pop() {
            if !seen.insert(file) {
                continue;
            }
            self.modules.insert((id, module.clone()), file);
            self.places
                .entry(file)
                .or_insert_with(|| (id, module.clone()));
            let Some(facts) = self.facts(file) else {
                continue;
            };
            for inline in &facts.inline {
                let mut path = module.clone();
                path.extend(inline.iter().cloned());
                self.modules.entry((id, path)).or_insert(file);
            }
            let path = self.tree.files[file].path.as_str();
            let folder = folder_of(path);
            let home = if is_root || name_of(path) == "mod.rs" {
                folder.to_owned()
            } else {
                path.trim_end_matches(".rs").to_owned()
            };
            for (scope, name, place) in &facts.modules {
                let inside = if scope.is_empty() {
                    home.clone()
                } else {
                    format!("{home}/{}", scope.join("/"))
                };
                let candidates = match place {
                    Some(place) => vec![join(folder, place)],
                    None => vec![
                        join(&inside, &format!("{name}.rs")),
                        join(&inside, &format!("{name}/mod.rs")),
                    ],
                };
                let child = candidates
                    .into_iter()
                    .flatten()
                    .find_map(|path| self.tree.position(&path));
                if let Some(child) = child {
                    let mut path = module.clone();
                    path.extend(scope.iter().cloned());
                    path.push(name.clone());
                    // `#[path]` modules look for their children beside themselves.
                    open.push((child, path, place.is_some()));
                }
            }
        }
    }

    /// Returns the files that a file's paths lead to.
    pub(super) fn targets<'s>(
        &'s self,
        file: usize,
        facts: &'s SourceFacts,
    ) -> impl Iterator<Item = Target> + 's {
        let uses = facts.rust.as_ref().map_or(&[][..], |rust| &rust.uses[..]);
        uses.iter().map(
            move |item| match self.target(file, item, &Cell::new(MAX_REEXPORTS)) {
                Some(file) => Target::File(file),
                None if item.name.is_some()
                    && matches!(
                        item.path.split("::").next(),
                        Some("crate" | "self" | "super")
                    ) =>
                {
                    Target::Missing
                }
                None => Target::Elsewhere,
            },
        )
    }

    fn target(&self, file: usize, item: &RustUse, lookups: &Cell<usize>) -> Option<usize> {
        let (id, module) = self.places.get(&file)?;
        let mut base = module.clone();
        let scope = item.scope.split("::").filter(|part| !part.is_empty());
        base.extend(scope.map(str::to_owned));
        let mut id = *id;
        let parts: Vec<&str> = item.path.split("::").collect();
        let mut rest = parts.as_slice();
        match *rest.first()? {
            "crate" => {
                base.clear();
                rest = &rest[1..];
            }
            "self" => rest = &rest[1..],
            "super" => {}
            first => {
                let mut child = base.clone();
                child.push(first.to_owned());
                if !self.modules.contains_key(&(id, child)) {
                    id = *self.libraries.get(first)?;
                    // A name that the file imports itself is not the crate of that name.
                    if item.name.is_none() && self.imports_name(file, first) {
                        return None;
                    }
                    base.clear();
                    rest = &rest[1..];
                }
            }
        }
        while rest.first().is_some_and(|part| *part == "super") {
            base.pop()?;
            rest = &rest[1..];
        }
        self.descend(id, base, rest, lookups)
    }

    fn imports_name(&self, file: usize, name: &str) -> bool {
        self.facts(file).is_some_and(|facts| {
            facts
                .uses
                .iter()
                .any(|item| item.name.as_deref() == Some(name) && item.path.contains("::"))
        })
    }

    /// Descends from a module through its submodules, then through re-exports.
    fn descend(
        &self,
        id: CrateId,
        mut module: Vec<String>,
        mut rest: &[&str],
        lookups: &Cell<usize>,
    ) -> Option<usize> {
        while let Some((next, further)) = rest.split_first() {
            module.push((*next).to_owned());
            if !self.modules.contains_key(&(id, module.clone())) {
                module.pop();
                break;
            }
            rest = further;
        }
        let file = *self.modules.get(&(id, module.clone()))?;
        let Some((item, further)) = rest.split_first() else {
            return Some(file);
        };
        Some(
            self.reexported(file, item, further, lookups)
                .unwrap_or(file),
        )
    }

    /// Follows `pub use` to where an item is defined.
    fn reexported(
        &self,
        file: usize,
        item: &str,
        further: &[&str],
        lookups: &Cell<usize>,
    ) -> Option<usize> {
        lookups.set(lookups.get().checked_sub(1)?);
        let facts = self.facts(file)?;
        if facts.defines(item) {
            return None;
        }
        let named = facts
            .uses
            .iter()
            .find(|other| other.public && other.name.as_deref() == Some(item));
        if let Some(other) = named {
            let mut longer = other.clone();
            let parts = std::iter::once(&*other.path).chain(further.iter().copied());
            longer.path = parts.collect::<Vec<_>>().join("::").into();
            return self.target(file, &longer, lookups);
        }
        facts
            .uses
            .iter()
            .filter(|other| other.public && other.glob)
            .find_map(|other| {
                let target = self
                    .target(file, other, lookups)
                    .filter(|target| *target != file)?;
                if self.facts(target)?.defines(item) {
                    return Some(target);
                }
                self.reexported(target, item, further, lookups)
            })
    }
}

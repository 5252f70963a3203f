//! Resolves Python imports: absolute ones from the folders on the path, relative ones from the package.

use std::collections::{HashMap, HashSet};

use super::python_standard::is_standard;
use super::{Target, files_of};
use crate::architecture::packages::{FoundPackage, join};
use crate::paths::{folder_of, name_of};
use crate::report::architecture::Ecosystem;
use crate::tree::imports::{Family, Import};
use crate::tree::working_tree::Tree;

/// Where absolute imports begin.
pub(super) struct Modules {
    /// Folders of all `__init__.py`.
    packages: HashSet<String>,
    /// Folders that installing the repository puts on the path, the deepest first.
    declared: Vec<String>,
    /// The folders above topmost packages, by the name of the package.
    above: HashMap<String, Vec<String>>,
}

impl Modules {
    /// Collects the folders that are on the path: those of manifests, their `src`, and those above packages.
    pub(super) fn new(tree: &Tree, manifests: &[FoundPackage]) -> Self {
        let packages: HashSet<String> = files_of(tree, Family::Python)
            .filter(|(_, file, _)| matches!(name_of(&file.path), "__init__.py" | "__init__.pyi"))
            .map(|(_, file, _)| folder_of(&file.path).to_owned())
            .collect();
        let manifests = manifests
            .iter()
            .filter(|package| package.package.ecosystem == Ecosystem::Python)
            .map(|package| package.folder.as_str());
        let mut declared: Vec<String> = manifests
            .chain([""])
            .filter(|folder| !packages.contains(*folder))
            .flat_map(|folder| [join(folder, "src"), Some(folder.to_owned())])
            .flatten()
            .collect();
        declared.sort_by_key(|folder| (std::cmp::Reverse(folder.len()), folder.clone()));
        declared.dedup();
        let mut above: HashMap<String, Vec<String>> = HashMap::new();
        for package in packages.iter().filter(|package| !package.is_empty()) {
            let root = folder_of(package);
            if !packages.contains(root) {
                let roots = above.entry(name_of(package).to_owned()).or_default();
                roots.push(root.to_owned());
            }
        }
        Self {
            packages,
            declared,
            above,
        }
    }

    /// Finds the files that an import leads to.
    pub(super) fn targets(
        &self,
        tree: &Tree,
        from: &str,
        import: &Import,
        take: &mut impl FnMut(Target),
    ) {
        let Import::From { module, names } = import else {
            return;
        };
        let dots = module.bytes().take_while(|byte| *byte == b'.').count();
        let base = if dots > 0 {
            let up = "../".repeat(dots - 1);
            let inside = module[dots..].replace('.', "/");
            match join(folder_of(from), &format!("{up}{inside}")) {
                Some(base) => base,
                None => return take(Target::Missing),
            }
        } else {
            match self.root(tree, from, module) {
                Some(root) => below(&root, &module.replace('.', "/")),
                None => return take(Target::Elsewhere),
            }
        };
        let found: Vec<Option<usize>> = names
            .iter()
            .map(|name| file_of(tree, &below(&base, name)))
            .collect();
        for file in found.iter().flatten() {
            take(Target::File(*file));
        }
        // Each name is a module of its own, or else an item of the module.
        if found.is_empty() || found.iter().any(Option::is_none) {
            match file_of(tree, &base) {
                Some(file) => take(Target::File(file)),
                // A folder without `__init__.py` is still a package.
                None if found.iter().any(Option::is_some) || has_files(tree, &base) => {}
                None => take(Target::Missing),
            }
        }
    }

    /// Finds the folder at which an absolute import begins; `None` for modules of others.
    fn root(&self, tree: &Tree, from: &str, module: &str) -> Option<String> {
        let top = module.split('.').next().unwrap_or_default();
        // What is named like the standard library hardly ever comes before it on the path.
        if is_standard(top) {
            return None;
        }
        let path = module.replace('.', "/");
        let has = |root: &str| {
            // A folder without `__init__.py` is a package when what is imported is in it.
            file_of(tree, &below(root, top)).is_some()
                || file_of(tree, &below(root, &path)).is_some()
                || (path.contains('/') && has_files(tree, &below(root, &path)))
        };
        let mut own = folder_of(from);
        while self.packages.contains(own) && !own.is_empty() {
            own = folder_of(own);
        }
        let is_around = |root: &str| {
            root.is_empty()
                || from
                    .strip_prefix(root)
                    .is_some_and(|rest| rest.starts_with('/'))
        };
        let around = self.declared.iter().filter(|root| is_around(root));
        let others = self.declared.iter().filter(|root| !is_around(root));
        std::iter::once(own)
            .chain(around.chain(others).map(String::as_str))
            .find(|root| has(root))
            .map(str::to_owned)
            .or_else(|| match self.above.get(top).map(Vec::as_slice) {
                Some([only]) => Some(only.clone()),
                _ => None,
            })
    }
}

fn below(root: &str, path: &str) -> String {
    if root.is_empty() {
        path.to_owned()
    } else {
        format!("{root}/{path}")
    }
}

fn file_of(tree: &Tree, path: &str) -> Option<usize> {
    ["/__init__.py", ".py", "/__init__.pyi", ".pyi"]
        .iter()
        .find_map(|end| tree.position(format!("{path}{end}").trim_start_matches('/')))
}

/// Whether a folder has Python files directly inside.
fn has_files(tree: &Tree, folder: &str) -> bool {
    let prefix = format!("{folder}/");
    let start = tree
        .files
        .partition_point(|file| file.path.as_str() < prefix.as_str());
    tree.files[start..]
        .iter()
        .take_while(|file| file.path.starts_with(&prefix))
        .take(200)
        .any(|file| file.path.strip_suffix(".py").is_some())
}

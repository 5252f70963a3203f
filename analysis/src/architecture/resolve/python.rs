//! Python: absolute modules from their source roots, relative ones from the package.

use std::collections::{HashMap, HashSet};

use super::{Target, files_of};
use crate::architecture::packages::join;
use crate::paths::{folder_of, name_of};
use crate::tree::imports::{Family, Import};
use crate::tree::scan::Tree;

/// The modules of the repository by their dotted names.
pub(super) struct Modules {
    by_name: HashMap<String, usize>,
    /// First parts of dotted names that belong to the repository.
    tops: HashSet<String>,
}

impl Modules {
    /// Names each file from its source root: the folder above the topmost `__init__.py`.
    pub(super) fn new(tree: &Tree) -> Self {
        let mut by_name = HashMap::new();
        let mut tops = HashSet::new();
        let packages: HashSet<&str> = files_of(tree, Family::Python)
            .filter(|(_, file, _)| name_of(&file.path) == "__init__.py")
            .map(|(_, file, _)| folder_of(&file.path))
            .collect();
        for (number, file, _) in files_of(tree, Family::Python) {
            let stem = file.path.trim_end_matches(".pyi").trim_end_matches(".py");
            let module = stem.strip_suffix("/__init__").unwrap_or(stem);
            let mut root = folder_of(&file.path);
            while !root.is_empty() && packages.contains(root) {
                root = folder_of(root);
            }
            // Namespace packages have no `__init__.py`: their names start at the top or at `src`.
            for root in [root, "", "src"] {
                let inside = if root.is_empty() {
                    Some(module)
                } else {
                    module
                        .strip_prefix(root)
                        .and_then(|rest| rest.strip_prefix('/'))
                };
                if let Some(inside) = inside.filter(|inside| !inside.is_empty()) {
                    let name = inside.replace('/', ".");
                    tops.insert(name.split('.').next().unwrap_or_default().to_owned());
                    by_name.entry(name).or_insert(number);
                }
            }
        }
        Self { by_name, tops }
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
        if dots > 0 {
            let up = "../".repeat(dots - 1);
            let inside = module[dots..].replace('.', "/");
            let Some(base) = join(folder_of(from), &format!("{up}{inside}")) else {
                take(Target::Missing);
                return;
            };
            let file_of = |path: &str| {
                ["/__init__.py", ".py", "/__init__.pyi", ".pyi"]
                    .iter()
                    .find_map(|end| tree.position(&format!("{path}{end}")))
            };
            each_name(
                names,
                |name| {
                    file_of(&if base.is_empty() {
                        name.to_owned()
                    } else {
                        format!("{base}/{name}")
                    })
                },
                || file_of(&base),
                take,
            );
            return;
        }
        let top = module.split('.').next().unwrap_or_default();
        let sibling =
            join(folder_of(from), &format!("{top}.py")).and_then(|path| tree.position(&path));
        if !self.tops.contains(top) && sibling.is_none() {
            take(Target::Elsewhere);
            return;
        }
        let whole = || {
            let mut name = module.as_str();
            loop {
                if let Some(&file) = self.by_name.get(name) {
                    return Some(file);
                }
                match name.rfind('.') {
                    Some(at) => name = &name[..at],
                    None => return sibling,
                }
            }
        };
        each_name(
            names,
            |name| self.by_name.get(&format!("{module}.{name}")).copied(),
            whole,
            take,
        );
    }
}

/// Each imported name is a module of its own, or else an item of the module.
fn each_name(
    names: &[String],
    mut submodule: impl FnMut(&str) -> Option<usize>,
    whole: impl FnOnce() -> Option<usize>,
    take: &mut impl FnMut(Target),
) {
    let found: Vec<Option<usize>> = names.iter().map(|name| submodule(name)).collect();
    for file in found.iter().flatten() {
        take(Target::File(*file));
    }
    if found.is_empty() || found.iter().any(Option::is_none) {
        match whole() {
            Some(file) => take(Target::File(file)),
            // A folder without `__init__.py` is still a package.
            None if found.iter().any(Option::is_some) => {}
            None => take(Target::Missing),
        }
    }
}

//! Java: a class is found by its package and its file name.
//!
//! Classes of the same package need no import; such uses are not seen.

use std::collections::HashMap;

use super::{Target, files_of};
use crate::paths::name_of;
use crate::tree::imports::{Family, Import};
use crate::tree::scan::Tree;

/// The classes of the repository.
pub(super) struct Classes {
    by_name: HashMap<String, usize>,
    /// The first file of each package stands for `import a.b.*`.
    packages: HashMap<String, usize>,
}

impl Classes {
    /// Names each file by the package that it declares.
    pub(super) fn new(tree: &Tree) -> Self {
        let mut classes = Self {
            by_name: HashMap::new(),
            packages: HashMap::new(),
        };
        for (number, file, facts) in
            files_of(tree, Family::Java).filter(|(_, file, _)| !file.is_test)
        {
            let class = name_of(&file.path).trim_end_matches(".java");
            let Some(package) = &facts.package else {
                continue;
            };
            classes
                .by_name
                .entry(format!("{package}.{class}"))
                .or_insert(number);
            classes.packages.entry(package.clone()).or_insert(number);
        }
        classes
    }

    /// Finds the class that an import names; nested classes and static members are in the file around them.
    pub(super) fn target(&self, import: &Import) -> Target {
        let Import::Path(path) = import else {
            return Target::Elsewhere;
        };
        if let Some(package) = path.strip_suffix(".*") {
            let file = self
                .packages
                .get(package)
                .or_else(|| self.by_name.get(package));
            return file.map_or(Target::Elsewhere, |file| Target::File(*file));
        }
        let mut name = path.as_str();
        loop {
            if let Some(&file) = self.by_name.get(name) {
                return Target::File(file);
            }
            match name.rfind('.') {
                Some(at) => name = &name[..at],
                None => return Target::Elsewhere,
            }
        }
    }
}

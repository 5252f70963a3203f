//! Folds files into modules of comparable weight: heavy folders are opened, what is light in them stays with them.

use std::collections::{BTreeMap, HashMap};

use crate::Budget;
use crate::paths::{folder_of, name_of};
use crate::report::architecture::ModuleKind;
use crate::tree::imports::{Family, family};
use crate::tree::working_tree::Tree;

/// As many parts as a reader can take in.
const MAX_MODULES: usize = 40;

/// Fewer parts than this say little, if there are more files.
const MIN_MODULES: usize = 12;

/// How often another weight is tried.
const ROUNDS: usize = 24;

/// The module of each file.
#[derive(Debug, Default)]
pub(crate) struct ModuleGroups {
    /// Names of the modules, each once: paths of folders, or of files without extension; `.` for the top.
    pub(crate) names: Vec<String>,
    /// What each module is.
    pub(crate) kinds: Vec<ModuleKind>,
    /// The module of each file of the graph, by number in the tree.
    pub(crate) module_of: HashMap<usize, usize>,
}

/// Folds the files; weight is their size.
pub(crate) fn group_modules(tree: &Tree, files: &[usize], budget: &Budget) -> ModuleGroups {
    let folders = Folders::new(tree, files);
    let total = folders.all[0].weight;
    let mut target = if files.len() <= MAX_MODULES {
        0
    } else {
        total / 24
    };
    let mut best = folders.parts(target);
    for _ in 0..ROUNDS {
        if budget.is_cancelled() {
            break;
        }
        let next = if best.len() > MAX_MODULES {
            target / 4 * 5 + 1
        } else if best.len() < MIN_MODULES && target > 0 {
            target / 4 * 3
        } else {
            break;
        };
        let parts = folders.parts(next);
        // Going down must not lead above the limit again.
        if best.len() < MIN_MODULES && parts.len() > MAX_MODULES {
            break;
        }
        (best, target) = (parts, next);
    }
    let mut groups = ModuleGroups::default();
    for part in best {
        let number = groups.names.len();
        groups.names.push(part.name);
        groups.kinds.push(part.kind);
        groups
            .module_of
            .extend(part.files.into_iter().map(|file| (file, number)));
    }
    groups
}

/// A folder with what is in it.
#[derive(Debug, Default)]
pub(super) struct Folder<'t> {
    pub(super) path: &'t str,
    pub(super) weight: u64,
    pub(super) children: Vec<usize>,
    /// Files directly inside by their name without extension; what stands for the folder has none.
    pub(super) files: BTreeMap<&'t str, Unit>,
}

/// Files that stay together.
#[derive(Debug, Default, Clone)]
pub(super) struct Unit {
    pub(super) weight: u64,
    pub(super) files: Vec<usize>,
}

#[derive(Debug)]
struct Part {
    name: String,
    kind: ModuleKind,
    files: Vec<usize>,
}

/// All folders; the first is the top.
pub(super) struct Folders<'t> {
    pub(super) all: Vec<Folder<'t>>,
}

impl<'t> Folders<'t> {
    pub(super) fn new(tree: &'t Tree, files: &[usize]) -> Self {
        let mut folders = Self {
            all: vec![Folder::default()],
        };
        let mut numbers: HashMap<&str, usize> = HashMap::from([("", 0)]);
        for &file in files {
            let path = tree.files[file].path.as_str();
            for (end, _) in path.match_indices('/') {
                folders.folder(&path[..end], &mut numbers);
            }
        }
        for &number in files {
            let file = &tree.files[number];
            let path = file.path.as_str();
            // The files of a package of Go or Java see each other without an import.
            let is_package = is_of_package(tree, number);
            let name = name_of(path);
            let stem = name.split('.').next().unwrap_or(name);
            let speaks_for_folder = matches!(
                stem,
                "lib" | "main" | "mod" | "index" | "__init__" | "__main__" | "doc"
            );
            let beside = path.get(..path.len() - name.len() + stem.len());
            // `store.rs` belongs to the folder `store` beside it.
            let (folder, unit) = match beside.and_then(|path| numbers.get(path)) {
                Some(&folder) if !is_package => (folder, ""),
                _ if is_package || speaks_for_folder => (numbers[folder_of(path)], ""),
                _ => (numbers[folder_of(path)], stem),
            };
            let weight = file.size.max(1);
            let unit = folders.all[folder].files.entry(unit).or_default();
            unit.weight += weight;
            unit.files.push(number);
            let mut around = Some(folders.all[folder].path);
            while let Some(path) = around {
                folders.all[numbers[path]].weight += weight;
                around = (!path.is_empty()).then(|| folder_of(path));
            }
        }
        folders
    }

    fn folder(&mut self, path: &'t str, numbers: &mut HashMap<&'t str, usize>) {
        if numbers.contains_key(path) {
            return;
        }
        let number = self.all.len();
        numbers.insert(path, number);
        self.all.push(Folder {
            path,
            ..Folder::default()
        });
        let parent = numbers[folder_of(path)];
        self.all[parent].children.push(number);
    }

    /// Goes down as long as a folder holds nothing but one other.
    pub(super) fn inner(&self, mut folder: usize) -> usize {
        while let ([only], true) = (
            self.all[folder].children.as_slice(),
            self.all[folder].files.is_empty(),
        ) {
            folder = *only;
        }
        folder
    }

    pub(super) fn files_below(&self, folder: usize) -> Vec<usize> {
        let mut found = Vec::new();
        let mut open = vec![folder];
        while let Some(folder) = open.pop() {
            let folder = &self.all[folder];
            open.extend(&folder.children);
            found.extend(folder.files.values().flat_map(|unit| &unit.files));
        }
        found
    }

    /// Cuts the tree so that parts weigh about as much as the target.
    fn parts(&self, target: u64) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut open = vec![self.inner(0)];
        while let Some(number) = open.pop() {
            let folder = &self.all[number];
            let own = folder.files.get("").cloned().unwrap_or_default();
            let is_single = folder.children.is_empty() && folder.files.len() <= 1;
            if is_single || folder.weight <= target {
                let files = self.files_below(number);
                if !files.is_empty() {
                    let single = folder.files.keys().next().filter(|_| is_single);
                    let single = single.copied().unwrap_or_default();
                    parts.push(Part {
                        name: below(folder.path, single),
                        kind: if single.is_empty() {
                            ModuleKind::Folder
                        } else {
                            ModuleKind::File
                        },
                        files,
                    });
                }
                continue;
            }
            // What is light stays with the folder.
            let mut rest = own.files;
            let mut keep = |name: String, kind: ModuleKind, unit: Unit| {
                if unit.weight * 3 >= target.max(1) {
                    parts.push(Part {
                        name,
                        kind,
                        files: unit.files,
                    });
                } else {
                    rest.extend(unit.files);
                }
            };
            for &child in &folder.children {
                let child = self.inner(child);
                if self.all[child].weight > target {
                    open.push(child);
                } else if self.all[child].weight > 0 {
                    let unit = Unit {
                        weight: self.all[child].weight,
                        files: self.files_below(child),
                    };
                    let path = self.all[child].path.to_owned();
                    keep(path, ModuleKind::Folder, unit);
                }
            }
            for (name, unit) in folder.files.iter().filter(|(name, _)| !name.is_empty()) {
                keep(below(folder.path, name), ModuleKind::File, unit.clone());
            }
            if !rest.is_empty() {
                parts.push(Part {
                    name: below(folder.path, ""),
                    kind: ModuleKind::Rest,
                    files: rest,
                });
            }
        }
        parts.sort_by(|one, other| one.name.cmp(&other.name));
        parts
    }
}

/// Returns whether a file and those beside it are one package, compiled as a whole: Go and Java.
pub(super) fn is_of_package(tree: &Tree, file: usize) -> bool {
    let family = tree.files[file].language().and_then(family);
    matches!(family, Some(Family::Go | Family::Java))
}

pub(super) fn below(folder: &str, name: &str) -> String {
    match (folder, name) {
        ("", "") => ".".to_owned(),
        ("", name) => name.to_owned(),
        (folder, "") => folder.to_owned(),
        (folder, name) => format!("{folder}/{name}"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::Depth;
    use crate::tree::scan::{self, Reading};

    fn names_of(paths: impl Iterator<Item = String>) -> Vec<(String, usize)> {
        let root = tempfile::tempdir().unwrap();
        for path in paths {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "// something of equal length\n").unwrap();
        }
        let budget = Budget::for_depth(Depth::Medium);
        let tree = scan::scan(root.path(), Reading::Sources, &budget, (0.0, 1.0)).unwrap();
        let files: Vec<usize> = (0..tree.files.len()).collect();
        let groups = group_modules(&tree, &files, &budget);
        assert_eq!(groups.module_of.len(), files.len());
        let size = |number| {
            groups
                .module_of
                .values()
                .filter(|module| **module == number)
                .count()
        };
        let names = groups.names.iter().enumerate();
        names
            .map(|(number, name)| (name.clone(), size(number)))
            .collect()
    }

    fn check(parts: &[(String, usize)], files: usize) {
        assert!((7..=MAX_MODULES).contains(&parts.len()), "{parts:?}");
        assert!(
            parts.iter().all(|(name, _)| !name.contains(['…', '('])),
            "{parts:?}"
        );
        let names: HashSet<&str> = parts.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names.len(), parts.len());
        let heaviest = parts.iter().map(|(_, size)| *size).max().unwrap();
        assert!(heaviest * 5 <= files, "{parts:?}");
    }

    #[test]
    fn what_has_no_folders_is_not_cut_into_ranges_of_names() {
        let flat = names_of((0..343).map(|n| format!("src/file{n:03}.c")));
        assert_eq!(flat, [("src".to_owned(), 343)]);
        let wide = names_of((0..100).map(|n| format!("top{n:03}/a.py")));
        assert_eq!(wide, [(".".to_owned(), 100)]);
    }

    #[test]
    fn deep_and_uneven_trees_have_parts_of_comparable_weight() {
        let deep = (0..600).map(|n| {
            let core = if n < 500 { "core" } else { "other" };
            format!(
                "src/main/java/com/example/{core}/p{}/q{}/C{n}.java",
                n % 7,
                n % 5
            )
        });
        check(&names_of(deep), 600);
        // One folder outweighs 100 neighbours.
        let uneven = (0..300)
            .map(|n| format!("pkg{n:03}/a.ts"))
            .chain((0..300).map(|n| format!("big/d{}/f{n}.ts", n % 9)));
        let parts = names_of(uneven);
        assert!((7..=MAX_MODULES).contains(&parts.len()), "{parts:?}");
        assert!(
            parts.iter().all(|(name, size)| name == "." || *size < 60),
            "{parts:?}"
        );
    }

    #[test]
    fn small_trees_keep_every_file() {
        let paths = [
            "src/lib.rs",
            "src/store.rs",
            "src/store/rows.rs",
            "src/error.rs",
        ];
        let names: Vec<String> = names_of(paths.iter().map(|path| (*path).to_owned()))
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(names, ["src", "src/error", "src/store", "src/store/rows"]);
    }
}

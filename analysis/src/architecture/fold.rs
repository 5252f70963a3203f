//! Folds files to modules: few enough to look at, fine enough to tell something.

use std::collections::HashMap;

use super::packages::Found;
use crate::Control;
use crate::paths::folder_of;
use crate::tree::imports::{Family, family};
use crate::tree::scan::Tree;

/// More modules than this are too many to look at.
const MOST_MODULES: usize = 60;

/// Finest folding that is tried.
const DEEPEST: usize = 6;

/// The module of each file.
#[derive(Debug, Default)]
pub(crate) struct Folding {
    /// Names of the modules: paths of folders, or of files without extension; `.` for the top.
    pub(crate) names: Vec<String>,
    /// The module of each file of the graph, by number in the tree.
    pub(crate) module_of: HashMap<usize, usize>,
}

/// Folds the files as finely as the number of modules allows.
pub(crate) fn fold(tree: &Tree, files: &[usize], packages: &[Found], control: &Control) -> Folding {
    let roots = source_roots(tree, files, packages);
    let mut best = fold_at(tree, files, &roots, 0);
    for depth in 1..=DEEPEST {
        if control.is_cancelled() {
            break;
        }
        let finer = fold_at(tree, files, &roots, depth);
        if finer.names.len() > MOST_MODULES {
            break;
        }
        best = finer;
    }
    best
}

/// Finds for each file the folder at which its package's sources start.
fn source_roots<'a>(
    tree: &'a Tree,
    files: &[usize],
    packages: &'a [Found],
) -> HashMap<usize, &'a str> {
    let mut folders: Vec<&str> = packages
        .iter()
        .map(|package| package.folder.as_str())
        .collect();
    folders.push("");
    folders.sort_by_key(|folder| std::cmp::Reverse(folder.len()));
    folders.dedup();
    let package_of = |path: &str| {
        folders
            .iter()
            .copied()
            .find(|folder| {
                folder.is_empty()
                    || (path.starts_with(folder)
                        && path.as_bytes().get(folder.len()) == Some(&b'/'))
            })
            .unwrap_or_default()
    };
    let mut members: HashMap<&str, Vec<usize>> = HashMap::new();
    for &number in files {
        members
            .entry(package_of(&tree.files[number].path))
            .or_default()
            .push(number);
    }
    let mut roots = HashMap::new();
    for (package, members) in members {
        // The folder that all files share: `src` here, `src/main/java/com/example` there. Build scripts and the
        // like beside `src` must not hide it.
        let src = format!("{package}{}src/", if package.is_empty() { "" } else { "/" });
        let (inside, beside): (Vec<usize>, Vec<usize>) = members
            .into_iter()
            .partition(|number| tree.files[*number].path.starts_with(&src));
        for group in [inside, beside] {
            let Some(&first) = group.first() else {
                continue;
            };
            let mut root = folder_of(&tree.files[first].path);
            for &number in &group {
                while !root.is_empty() && !tree.files[number].path.starts_with(&format!("{root}/"))
                {
                    root = folder_of(root);
                }
            }
            if root.len() < package.len() {
                root = package;
            }
            roots.extend(group.into_iter().map(|number| (number, root)));
        }
    }
    roots
}

fn fold_at(tree: &Tree, files: &[usize], roots: &HashMap<usize, &str>, depth: usize) -> Folding {
    let mut folding = Folding::default();
    let mut numbers: HashMap<String, usize> = HashMap::new();
    for &number in files {
        let file = &tree.files[number];
        let by_folder = file
            .language()
            .and_then(family)
            .is_some_and(|family| matches!(family, Family::Go | Family::Java));
        let root = roots.get(&number).copied().unwrap_or_default();
        let name = module_name(&file.path, root, depth, by_folder);
        let module = *numbers.entry(name).or_insert_with_key(|name| {
            folding.names.push(name.clone());
            folding.names.len() - 1
        });
        folding.module_of.insert(number, module);
    }
    folding
}

/// Cuts a path to so many parts below its root. Files that speak for their folder are named like it.
fn module_name(path: &str, root: &str, depth: usize, by_folder: bool) -> String {
    let inside = path[root.len()..].trim_start_matches('/');
    let mut parts: Vec<&str> = inside.split('/').collect();
    if let Some(file) = parts.pop() {
        let stem = file.split('.').next().unwrap_or(file);
        let speaks_for_folder = matches!(
            stem,
            "lib" | "main" | "mod" | "index" | "__init__" | "__main__" | "doc"
        );
        if !by_folder && !speaks_for_folder {
            parts.push(stem);
        }
    }
    parts.truncate(depth);
    let mut name = root.to_owned();
    for part in parts {
        if !name.is_empty() {
            name.push('/');
        }
        name.push_str(part);
    }
    if name.is_empty() {
        ".".to_owned()
    } else {
        name
    }
}

#[cfg(test)]
mod tests {
    use super::module_name;

    #[test]
    fn names_modules_by_path() {
        assert_eq!(
            module_name("a/src/store/mod.rs", "a/src", 1, false),
            "a/src/store"
        );
        assert_eq!(
            module_name("a/src/store.rs", "a/src", 1, false),
            "a/src/store"
        );
        assert_eq!(
            module_name("a/src/store/rows.rs", "a/src", 1, false),
            "a/src/store"
        );
        assert_eq!(
            module_name("a/src/store/rows.rs", "a/src", 2, false),
            "a/src/store/rows"
        );
        assert_eq!(module_name("a/src/lib.rs", "a/src", 2, false), "a/src");
        assert_eq!(module_name("main.go", "", 2, true), ".");
        assert_eq!(module_name("pkg/x/y.go", "", 2, true), "pkg/x");
    }
}

//! No import cycles between modules: what uses a module is above it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree};
use tests::project_root;

/// Folders whose modules form no cycle, with the path of their module in their crate.
const ACYCLIC: [(&str, &[&str]); 3] = [
    ("analysis/src", &[]),
    ("shared/src", &[]),
    ("shared/src/workflow", &["workflow"]),
];

/// The modules that each module of a folder uses.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// Collects the paths that a file names, seen from the crate's root.
struct Paths<'a> {
    /// Where the file is in the module tree.
    module: &'a [String],
    found: Vec<Vec<String>>,
}

impl Paths<'_> {
    fn add(&mut self, path: &[String]) {
        let supers = path.iter().take_while(|part| *part == "super").count();
        let absolute = match path.first().map(String::as_str) {
            Some("crate") => path[1..].to_vec(),
            Some("super") if supers <= self.module.len() => {
                let above = &self.module[..self.module.len() - supers];
                [above, &path[supers..]].concat()
            }
            _ => return,
        };
        self.found.push(absolute);
    }

    fn add_tree(&mut self, before: &[String], tree: &UseTree) {
        let with = |name: String| [before, &[name]].concat();
        match tree {
            UseTree::Path(path) => self.add_tree(&with(path.ident.to_string()), &path.tree),
            UseTree::Name(name) => self.add(&with(name.ident.to_string())),
            UseTree::Rename(rename) => self.add(&with(rename.ident.to_string())),
            UseTree::Glob(_) => self.add(before),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.add_tree(before, tree);
                }
            }
        }
    }
}

impl<'ast> Visit<'ast> for Paths<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        match item {
            Item::Mod(module) if is_for_tests(&module.attrs) => {}
            Item::Use(used) => self.add_tree(&[], &used.tree),
            item => visit::visit_item(self, item),
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names = path.segments.iter().map(|part| part.ident.to_string());
        self.add(&names.collect::<Vec<_>>());
        visit::visit_path(self, path);
    }
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<syn::Ident>()
                .is_ok_and(|what| what == "test")
    })
}

/// Which module each name comes from that the folder's own file hands on.
fn reexports(file: &syn::File) -> BTreeMap<String, String> {
    fn names(from: &str, tree: &UseTree, found: &mut BTreeMap<String, String>) {
        match tree {
            UseTree::Path(path) => names(from, &path.tree, found),
            UseTree::Name(name) => drop(found.insert(name.ident.to_string(), from.to_owned())),
            UseTree::Rename(rename) => {
                found.insert(rename.rename.to_string(), from.to_owned());
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| names(from, tree, found)),
            UseTree::Glob(_) => {}
        }
    }
    let mut found = BTreeMap::new();
    for item in &file.items {
        if let Item::Use(used) = item
            && let UseTree::Path(path) = &used.tree
        {
            names(&path.ident.to_string(), &path.tree, &mut found);
        }
    }
    found
}

fn parsed(path: &Path) -> syn::File {
    let text = std::fs::read_to_string(path).unwrap();
    syn::parse_file(&text).unwrap()
}

fn add_folder(folder: &Path, module: &[String], add: &mut impl FnMut(&[String], &syn::File)) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if name == "tests" || name.ends_with("_tests") {
            continue;
        }
        let own = [module, std::slice::from_ref(&name)].concat();
        if path.is_dir() {
            add_folder(&path, &own, add);
        } else if ["mod", "lib", "main"].contains(&name.as_str()) {
            add(module, &parsed(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            add(&own, &parsed(&path));
        }
    }
}

fn graph(folder: &Path, module: &[String]) -> Graph {
    let mut files = Vec::new();
    add_folder(folder, module, &mut |own, file| {
        files.push((own.to_vec(), file.clone()));
    });
    let depth = module.len();
    let mut graph: Graph = files
        .iter()
        .filter_map(|(own, _)| Some((own.get(depth)?.clone(), BTreeSet::new())))
        .collect();
    let handed_on = files.iter().find(|(own, _)| own.len() == depth);
    let handed_on = handed_on.map_or_else(BTreeMap::new, |(_, file)| reexports(file));
    for (own, file) in &files {
        let Some(from) = own.get(depth) else {
            continue;
        };
        let mut paths = Paths {
            module: own,
            found: Vec::new(),
        };
        paths.visit_file(file);
        for path in paths.found {
            let Some(name) = path.strip_prefix(module).and_then(|below| below.first()) else {
                continue;
            };
            let to = if graph.contains_key(name) {
                name
            } else if let Some(to) = handed_on.get(name).filter(|to| graph.contains_key(*to)) {
                to
            } else {
                continue;
            };
            if to != from {
                graph.get_mut(from).unwrap().insert(to.clone());
            }
        }
    }
    graph
}

/// Takes away what uses nothing that is left; what remains are cycles, and what uses them.
fn cycles(mut graph: Graph) -> Graph {
    loop {
        let ends: Vec<String> = graph
            .iter()
            .filter(|(_, uses)| uses.is_empty())
            .map(|(name, _)| name.clone())
            .collect();
        if ends.is_empty() {
            return graph;
        }
        for name in &ends {
            graph.remove(name);
        }
        for uses in graph.values_mut() {
            uses.retain(|name| !ends.contains(name));
        }
    }
}

#[test]
fn modules_use_only_what_is_below_them() {
    for (folder, module) in ACYCLIC {
        let module: Vec<String> = module.iter().map(ToString::to_string).collect();
        let graph = graph(&project_root().join(folder), &module);
        assert!(graph.len() > 10, "{folder}: {graph:?}");
        assert!(graph.values().flatten().count() > 20, "{folder}: {graph:?}");
        let left = cycles(graph);
        assert!(left.is_empty(), "{folder}: {left:#?}");
    }
}

#[test]
fn a_cycle_is_found() {
    let graph = [("a", "b"), ("b", "c"), ("c", "b"), ("d", "")].map(|(from, to)| {
        let uses = Some(to.to_owned()).filter(|to| !to.is_empty());
        (from.to_owned(), uses.into_iter().collect())
    });
    let left = cycles(graph.into_iter().collect());
    assert_eq!(left.keys().collect::<Vec<_>>(), ["a", "b", "c"]);
}

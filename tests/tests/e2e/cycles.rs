//! Import cycles and layers: modules import only what is below them, in every folder of every crate, and the modules of
//! `shared` only what is in a lower layer. Both by the parsed sources.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Attribute, Item, Macro, UseTree};
use tests::project_root;

/// Folders whose modules still import each other. Only removals are welcome: dissolve the cycle instead.
const CYCLES_LEFT: &[&str] = &[];

/// The modules of `shared`, by layer. A module imports only modules of lower layers, so primitives know neither each other
/// nor the workflows, and the vocabulary knows none of them.
const LAYERS: [&[&str]; 5] = [
    &["workflow"],
    &["error", "logging"],
    &["store", "git", "tmux", "agent", "forge", "config"],
    &["process", "file", "followed_file"],
    &["model", "fault", "nearest"],
];

/// Where something is in a crate: the names from its root down.
type ModulePath = Vec<String>;
/// The modules that each module of a folder imports.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// A module, and what its file says.
struct Module {
    /// Its own file.
    file: PathBuf,
    /// Every path that it names, seen from the crate's root; after resolution the modules that they lead to.
    imports: BTreeSet<ModulePath>,
    /// What each name stands for that it imports, and so can hand on.
    names: BTreeMap<String, ModulePath>,
}

/// The modules of a crate, without those of its tests.
struct Crate(BTreeMap<ModulePath, Module>);

impl Crate {
    /// Reads the crate whose root is this file.
    fn read(root: &Path) -> Self {
        let mut modules = BTreeMap::new();
        let mut unread = vec![(Vec::new(), root.to_owned())];
        while let Some((path, file)) = unread.pop() {
            let text = std::fs::read_to_string(&file).unwrap();
            let parsed = syn::parse_file(&text).unwrap();
            for item in &parsed.items {
                if let Item::Mod(module) = item
                    && module.content.is_none()
                    && !is_for_tests(&module.attrs)
                {
                    let name = module.ident.to_string();
                    let file = child_file(root, &path, &name);
                    unread.push(([&path[..], &[name]].concat(), file));
                }
            }
            let mut reader = Reader {
                here: path.clone(),
                imports: BTreeSet::new(),
                names: BTreeMap::new(),
            };
            reader.visit_file(&parsed);
            let (imports, names) = (reader.imports, reader.names);
            let module = Module {
                file,
                imports,
                names,
            };
            modules.insert(path, module);
        }
        let mut read = Self(modules);
        let resolved: Vec<BTreeSet<ModulePath>> = read
            .0
            .values()
            .map(|module| {
                module
                    .imports
                    .iter()
                    .map(|path| read.module_of(path))
                    .collect()
            })
            .collect();
        for (module, imports) in read.0.values_mut().zip(resolved) {
            module.imports = imports;
        }
        read
    }

    /// Returns the module that a path leads to, through what modules on the way hand on.
    fn module_of(&self, path: &[String]) -> ModulePath {
        let mut path = path.to_vec();
        // Longer chains of names that stand for names are none of ours.
        for _ in 0..8 {
            let known = (0..=path.len())
                .rev()
                .find(|end| self.0.contains_key(&path[..*end]))
                .unwrap_or(0);
            let (module, rest) = path.split_at(known);
            let Some((name, rest)) = rest.split_first() else {
                return path;
            };
            let names = &self.0[module].names;
            match names.get(name).filter(|target| target[..] != path[..]) {
                Some(target) => path = [target, rest].concat(),
                None => return module.to_vec(),
            }
        }
        Vec::new()
    }

    /// Returns what the modules directly below one import of each other.
    fn graph(&self, above: &[String]) -> Graph {
        let below = |path: &[String]| Some(path.strip_prefix(above)?.first()?.clone());
        let mut graph = Graph::new();
        for (path, module) in &self.0 {
            let Some(from) = below(path) else { continue };
            let imports = module.imports.iter();
            let imports = imports.filter_map(|import| below(import));
            let known = graph.entry(from.clone()).or_default();
            known.extend(imports.filter(|to| *to != from));
        }
        graph
    }

    /// Returns the folder of the modules below one.
    fn folder(&self, above: &[String]) -> PathBuf {
        let file = &self.0[above].file;
        let folder = file.parent().unwrap();
        let name = file.file_stem().unwrap();
        match name.to_str() {
            Some("lib" | "main" | "mod") => folder.to_owned(),
            _ => folder.join(name),
        }
    }
}

fn child_file(root: &Path, above: &[String], name: &str) -> PathBuf {
    let mut folder = root.parent().unwrap().to_owned();
    folder.extend(above);
    let file = folder.join(format!("{name}.rs"));
    if file.is_file() {
        file
    } else {
        folder.join(name).join("mod.rs")
    }
}

/// Collects the paths of a file.
struct Reader {
    here: ModulePath,
    imports: BTreeSet<ModulePath>,
    names: BTreeMap<String, ModulePath>,
}

impl Reader {
    /// Returns a path as seen from the crate's root; bare names are taken for modules below.
    fn absolute(&self, path: &[String]) -> Option<ModulePath> {
        let supers = path.iter().take_while(|part| *part == "super").count();
        match path.first()?.as_str() {
            "crate" => Some(path[1..].to_vec()),
            "self" => Some([&self.here, &path[1..]].concat()),
            _ => {
                let above = &self.here[..self.here.len().checked_sub(supers)?];
                Some([above, &path[supers..]].concat())
            }
        }
    }

    fn add_tree(&mut self, before: &[String], tree: &UseTree) {
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        let (path, name) = match tree {
            UseTree::Path(path) => return self.add_tree(&with(&path.ident), &path.tree),
            UseTree::Group(group) => {
                return group
                    .items
                    .iter()
                    .for_each(|tree| self.add_tree(before, tree));
            }
            UseTree::Name(name) if name.ident == "self" => (before.to_vec(), before.last()),
            UseTree::Name(name) => (with(&name.ident), None),
            UseTree::Rename(rename) => (with(&rename.ident), Some(&rename.rename.to_string())),
            UseTree::Glob(_) => return self.imports.extend(self.absolute(before)),
        };
        if let Some(absolute) = self.absolute(&path) {
            let name = name.or(path.last()).cloned().unwrap_or_default();
            self.imports.insert(absolute.clone());
            self.names.insert(name, absolute);
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast Item) {
        match item {
            Item::Mod(module) if is_for_tests(&module.attrs) => {}
            Item::Use(used) if is_for_tests(&used.attrs) => {}
            Item::Mod(module) => {
                self.here.push(module.ident.to_string());
                visit::visit_item_mod(self, module);
                self.here.pop();
            }
            Item::Use(used) => self.add_tree(&[], &used.tree),
            item => visit::visit_item(self, item),
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names = path.segments.iter().map(|part| part.ident.to_string());
        let names: Vec<_> = names.collect();
        self.imports.extend(self.absolute(&names));
        visit::visit_path(self, path);
    }

    /// A macro's arguments are tokens: what looks like a path in them is one.
    fn visit_macro(&mut self, used: &'ast Macro) {
        let text = used.tokens.to_string().replace(" :: ", "::");
        let no_path = |c: char| !c.is_alphanumeric() && c != '_' && c != ':';
        for path in text.split(no_path).filter(|word| word.contains("::")) {
            let names: Vec<_> = path.split("::").map(str::to_owned).collect();
            self.imports.extend(self.absolute(&names));
        }
        visit::visit_macro(self, used);
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

/// Returns the imports that are part of a cycle: those whose module leads back.
fn cycles(graph: &Graph) -> Graph {
    let leads_back = |from: &String, to: &String| {
        let mut reached = BTreeSet::from([to]);
        let mut unread = vec![to];
        while let Some(name) = unread.pop() {
            unread.extend(graph[name].iter().filter(|next| reached.insert(next)));
        }
        reached.contains(from)
    };
    let mut cycles = graph.clone();
    for (from, imports) in &mut cycles {
        imports.retain(|to| leads_back(from, to));
    }
    cycles.retain(|_, imports| !imports.is_empty());
    cycles
}

/// Returns the root files of all crates of the workspace.
fn crate_roots() -> Vec<PathBuf> {
    let manifest = std::fs::read_to_string(project_root().join("Cargo.toml")).unwrap();
    let members = manifest
        .lines()
        .find_map(|line| line.strip_prefix("members = "))
        .unwrap();
    let members: Vec<String> = serde_json::from_str(members).unwrap();
    let sources = members
        .iter()
        .map(|member| project_root().join(member).join("src"));
    let roots = sources.flat_map(|source| ["lib.rs", "main.rs"].map(|name| source.join(name)));
    roots.filter(|root| root.is_file()).collect()
}

#[test]
fn modules_import_only_what_is_below_them() {
    let mut left = BTreeSet::new();
    let mut wrong = Vec::new();
    let mut imports = 0;
    for root in crate_roots() {
        let read = Crate::read(&root);
        for above in read.0.keys() {
            let graph = read.graph(above);
            imports += graph.values().flatten().count();
            let cycles = cycles(&graph);
            let folder = read.folder(above);
            let folder = folder.strip_prefix(project_root()).unwrap();
            let folder = folder.to_str().unwrap().to_owned();
            if cycles.is_empty() {
                continue;
            }
            if !CYCLES_LEFT.contains(&folder.as_str()) {
                wrong.push(format!("{folder}: {cycles:#?}"));
            }
            left.insert(folder);
        }
    }
    assert!(
        wrong.is_empty(),
        "modules import each other in\n{}",
        wrong.join("\n")
    );
    assert!(imports > 500, "only {imports} imports were found");
    let dissolved = CYCLES_LEFT.iter().filter(|folder| !left.contains(**folder));
    let dissolved: Vec<_> = dissolved.collect();
    assert!(
        dissolved.is_empty(),
        "no longer cyclic, so take it from CYCLES_LEFT: {dissolved:?}"
    );
}

#[test]
fn layers_import_only_lower_ones() {
    let layer = |module: &str| {
        let found = LAYERS.iter().position(|layer| layer.contains(&module));
        found.unwrap_or_else(|| panic!("`{module}` is in none of the LAYERS"))
    };
    let graph = Crate::read(&project_root().join("shared/src/lib.rs")).graph(&[]);
    let imports = graph
        .iter()
        .flat_map(|(from, imports)| imports.iter().map(move |to| (from, to)));
    let wrong = imports.filter(|(from, to)| layer(from) >= layer(to));
    let wrong: Vec<_> = wrong.map(|(from, to)| format!("{from} → {to}")).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn a_cycle_is_found() {
    let graph = [("a", "b"), ("b", "c"), ("c", "b"), ("d", "")].map(|(from, to)| {
        let imports = Some(to.to_owned()).filter(|to| !to.is_empty());
        (from.to_owned(), imports.into_iter().collect())
    });
    let left = cycles(&graph.into_iter().collect());
    assert_eq!(left.keys().collect::<Vec<_>>(), ["b", "c"]);
}

#[test]
fn imports_are_found_in_groups_macros_and_through_names_that_are_handed_on() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "lib.rs",
        "mod a; mod b; mod c; mod d; #[cfg(test)] mod tests; pub use b::Thing as Other;",
    );
    write("a.rs", "use crate::{c::{self, X}, Other};");
    write("b.rs", "fn f() { html! { p { (super::c::x()) } } }");
    write("c.rs", "mod inline { fn f() { super::super::d::x() } }");
    write("d.rs", "#[cfg(test)] mod tests { use crate::a; }");
    let graph = Crate::read(&folder.path().join("lib.rs")).graph(&[]);
    let shown = graph.iter().map(|(from, to)| format!("{from}: {to:?}"));
    let shown: Vec<_> = shown.collect();
    assert_eq!(
        shown,
        ["a: {\"b\", \"c\"}", "b: {\"c\"}", "c: {\"d\"}", "d: {}"]
    );
}

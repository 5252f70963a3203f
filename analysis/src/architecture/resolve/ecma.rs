//! Resolves TypeScript and JavaScript imports: relative paths, path aliases and packages of this repository.

use std::collections::HashMap;

use serde_json::Value;

use super::Target;
use super::tsconfig::{self, Alias, starred};
use crate::architecture::packages::{FoundPackage, Sources, join};
use crate::paths::folder_of;
use crate::report::architecture::{Ecosystem, EntryKind};
use crate::tree::imports::Import;
use crate::tree::working_tree::Tree;

const EXTENSIONS: &[&str] = &[
    "",
    ".ts",
    ".tsx",
    ".mts",
    ".cts",
    ".js",
    ".jsx",
    ".mjs",
    ".cjs",
    ".vue",
    ".svelte",
    ".d.ts",
    "/index.ts",
    "/index.tsx",
    "/index.mts",
    "/index.js",
    "/index.jsx",
    "/index.mjs",
    "/index.vue",
    "/index.d.ts",
];

/// Most entries of `exports` or `imports` that are tried for one specifier.
const MAX_LEAVES: usize = 64;

/// A package of the repository.
struct Package<'a> {
    folder: &'a str,
    main: Option<&'a str>,
    exports: Option<Value>,
    /// What `#name` stands for.
    imports: Option<Value>,
}

/// The packages and aliases of the repository.
pub(super) struct Packages<'a> {
    by_name: HashMap<&'a str, usize>,
    list: Vec<Package<'a>>,
    aliases: Vec<Alias>,
}

impl<'a> Packages<'a> {
    /// Reads the aliases of all `tsconfig.json`, and what packages export.
    pub(super) fn new(sources: Sources<'_>, packages: &'a [FoundPackage]) -> Self {
        let mut by_name = HashMap::new();
        let mut list = Vec::new();
        for package in packages
            .iter()
            .filter(|package| package.package.ecosystem == Ecosystem::Npm)
        {
            let manifest = sources.text(&package.package.manifest);
            let mut manifest: Value = manifest
                .and_then(|text| serde_json::from_str(&text).ok())
                .unwrap_or_default();
            let mut part = |key| manifest.get_mut(key).map(Value::take);
            let main = package
                .entry_points
                .iter()
                .find(|entry| entry.kind == EntryKind::Library);
            list.push(Package {
                folder: &package.folder,
                main: main.map(|entry| entry.path.as_str()),
                exports: part("exports"),
                imports: part("imports"),
            });
            if let Some(name) = package.import_name.as_deref() {
                by_name.entry(name).or_insert(list.len() - 1);
            }
        }
        Self {
            by_name,
            list,
            aliases: tsconfig::read_all(sources, |name| {
                let found = packages.iter().find(|package| {
                    package.package.ecosystem == Ecosystem::Npm
                        && package.import_name.as_deref() == Some(name)
                });
                found.map(|package| package.folder.clone())
            }),
        }
    }

    /// Finds the file that an import leads to.
    pub(super) fn target(&self, tree: &Tree, from: &str, import: &Import) -> Target {
        let Import::Path(specifier) = import else {
            return Target::Elsewhere;
        };
        if specifier.starts_with('#')
            && let Some(file) = self.private(tree, from, specifier)
        {
            return Target::File(file);
        }
        let bare = specifier.split('?').next().unwrap_or(specifier);
        if bare.starts_with('.') {
            let Some(path) = join(folder_of(from), bare) else {
                return Target::Missing;
            };
            return Target::found(probe(tree, &path));
        }
        let by_alias = self.aliases.iter().find_map(|alias| {
            alias
                .targets(from, bare)?
                .find_map(|path| probe(tree, &path))
        });
        match by_alias {
            Some(file) => Target::File(file),
            None => self.package(tree, bare),
        }
    }

    /// Finds what `#name` stands for in the package around a file.
    fn private(&self, tree: &Tree, from: &str, specifier: &str) -> Option<usize> {
        let around = |package: &&Package<'_>| {
            package.folder.is_empty()
                || from
                    .strip_prefix(package.folder)
                    .is_some_and(|rest| rest.starts_with('/'))
        };
        let nearest = self
            .list
            .iter()
            .filter(around)
            .max_by_key(|package| package.folder.len())?;
        mapped(tree, nearest, nearest.imports.as_ref()?, specifier)
    }

    fn package(&self, tree: &Tree, specifier: &str) -> Target {
        let parts = if specifier.starts_with('@') { 2 } else { 1 };
        let end = specifier
            .match_indices('/')
            .nth(parts - 1)
            .map_or(specifier.len(), |(at, _)| at);
        let Some(package) = self
            .by_name
            .get(&specifier[..end])
            .and_then(|number| self.list.get(*number))
        else {
            return Target::Elsewhere;
        };
        let folder = package.folder;
        let inside = specifier[end..].trim_start_matches('/');
        let key = if inside.is_empty() {
            ".".to_owned()
        } else {
            format!("./{inside}")
        };
        let exported = package
            .exports
            .as_ref()
            .and_then(|exports| mapped(tree, package, exports, &key));
        let usual = || {
            if inside.is_empty() {
                package
                    .main
                    .and_then(|path| tree.position(path))
                    .or_else(|| probe(tree, &join(folder, "src")?))
                    .or_else(|| probe(tree, &join(folder, "index")?))
            } else {
                [inside.to_owned(), format!("src/{inside}")]
                    .iter()
                    .find_map(|path| probe(tree, &join(folder, path)?))
            }
        };
        Target::found(exported.or_else(usual))
    }
}

/// Looks a key up in `exports` or `imports` and finds the source of what it names.
fn mapped(tree: &Tree, package: &Package<'_>, map: &Value, key: &str) -> Option<usize> {
    let keyed = map.as_object().filter(|map| {
        map.keys()
            .any(|key| key.starts_with('.') || key.starts_with('#'))
    });
    let (entry, star) = match keyed {
        None if key == "." => (map, ""),
        None => return None,
        Some(keyed) => match keyed.get(key) {
            Some(entry) => (entry, ""),
            None => keyed
                .iter()
                .filter_map(|(pattern, entry)| Some((pattern, entry, starred(pattern, key)?)))
                .max_by_key(|(pattern, _, _)| pattern.find('*'))
                .map(|(_, entry, star)| (entry, star))?,
        },
    };
    // All conditions are tried: the one that names a source tells most.
    let mut open = vec![entry];
    let mut tried = 0;
    while let Some(value) = open.pop() {
        tried += 1;
        if tried > MAX_LEAVES {
            break;
        }
        match value {
            Value::String(path) => {
                let path = join(package.folder, &path.replace('*', star))?;
                if let Some(file) = built_from(tree, package.folder, &path) {
                    return Some(file);
                }
            }
            Value::Object(conditions) => open.extend(conditions.values()),
            Value::Array(list) => open.extend(list),
            _ => {}
        }
    }
    None
}

/// Finds a file or the source that it is built from: `dist/esm/x.d.ts` of `src/x.ts`.
fn built_from(tree: &Tree, folder: &str, path: &str) -> Option<usize> {
    if let Some(file) = probe(tree, path) {
        return Some(file);
    }
    let inside = path.strip_prefix(folder)?.trim_start_matches('/');
    let stem = [".d.ts", ".d.mts", ".d.cts", ".js", ".mjs", ".cjs", ".ts"]
        .iter()
        .find_map(|extension| inside.strip_suffix(extension))?;
    let mut rest = stem;
    // What stands before the path of the source: `dist`, `dist/esm`, `build/module`.
    for _ in 0..3 {
        let (_, after) = rest.split_once('/')?;
        rest = after;
        let found = ["src/", ""].iter().find_map(|source| {
            let path = join(folder, &format!("{source}{rest}"))?;
            SOURCES
                .iter()
                .find_map(|extension| tree.position(&format!("{path}{extension}")))
        });
        if found.is_some() {
            return found;
        }
    }
    None
}

const SOURCES: &[&str] = &[".ts", ".tsx", ".mts", ".js", ".jsx", ".mjs"];

/// Tries the extensions that a specifier may leave out, and sources instead of what is built from them.
pub(super) fn probe(tree: &Tree, path: &str) -> Option<usize> {
    let source = |built: &str, sources: [&str; 2]| {
        let stem = path.strip_suffix(built)?;
        sources
            .iter()
            .find_map(|extension| tree.position(&format!("{stem}{extension}")))
    };
    EXTENSIONS
        .iter()
        .find_map(|extension| tree.position(format!("{path}{extension}").trim_start_matches('/')))
        .or_else(|| source(".js", [".ts", ".tsx"]))
        .or_else(|| source(".jsx", [".tsx", ".ts"]))
        .or_else(|| source(".mjs", [".mts", ".ts"]))
        .or_else(|| source(".cjs", [".cts", ".ts"]))
}

//! TypeScript and JavaScript: relative paths, path aliases and packages of this repository.

use std::collections::HashMap;

use serde_json::Value;

use super::Target;
use crate::architecture::packages::{Found, Sources, join};
use crate::paths::{folder_of, name_of};
use crate::report::architecture::{Ecosystem, EntryKind};
use crate::tree::imports::Import;
use crate::tree::language::named;
use crate::tree::lexer::{self, Listener};
use crate::tree::scan::Tree;

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

/// An alias such as `@/*` with the folders that it stands for.
struct Alias {
    /// The folder below which it holds.
    scope: String,
    prefix: String,
    /// Whether it ends with `*`.
    open: bool,
    targets: Vec<String>,
}

/// The packages and aliases of the repository.
pub(super) struct Packages<'a> {
    by_name: HashMap<&'a str, (&'a str, Option<&'a str>)>,
    aliases: Vec<Alias>,
}

impl<'a> Packages<'a> {
    /// Reads the aliases of all `tsconfig.json`.
    pub(super) fn new(sources: Sources<'_>, packages: &'a [Found]) -> Self {
        let by_name = packages
            .iter()
            .filter(|package| package.package.ecosystem == Ecosystem::Npm)
            .filter_map(|package| {
                let main = package
                    .entry_points
                    .iter()
                    .find(|entry| entry.kind == EntryKind::Library);
                Some((
                    package.import_name.as_deref()?,
                    (
                        package.folder.as_str(),
                        main.map(|entry| entry.path.as_str()),
                    ),
                ))
            })
            .collect();
        let mut aliases: Vec<Alias> = sources
            .tree
            .files
            .iter()
            .filter(|file| {
                let name = name_of(&file.path);
                (name.starts_with("tsconfig") || name == "jsconfig.json")
                    && name.strip_suffix(".json").is_some()
            })
            .take(500)
            .filter_map(|file| read_aliases(&file.path, &sources.text(&file.path)?))
            .flatten()
            .collect();
        // The nearest configuration wins, then the longest prefix.
        aliases.sort_by_key(|alias| std::cmp::Reverse((alias.scope.len(), alias.prefix.len())));
        Self { by_name, aliases }
    }

    /// Finds the file that an import leads to.
    pub(super) fn target(&self, tree: &Tree, from: &str, import: &Import) -> Target {
        let Import::Path(specifier) = import else {
            return Target::Elsewhere;
        };
        let specifier = specifier.split(['?', '#']).next().unwrap_or(specifier);
        if specifier.starts_with('.') {
            let Some(path) = join(folder_of(from), specifier) else {
                return Target::Missing;
            };
            return Target::found(probe(tree, &path));
        }
        for alias in &self.aliases {
            let in_scope = alias.scope.is_empty() || from.starts_with(&format!("{}/", alias.scope));
            let rest = if alias.open {
                specifier.strip_prefix(&alias.prefix)
            } else {
                (specifier == alias.prefix).then_some("")
            };
            let Some(rest) = rest.filter(|_| in_scope) else {
                continue;
            };
            let found = alias
                .targets
                .iter()
                .find_map(|target| probe(tree, &join(&alias.scope, &format!("{target}{rest}"))?));
            if let Some(file) = found {
                return Target::File(file);
            }
        }
        self.package(tree, specifier)
    }

    fn package(&self, tree: &Tree, specifier: &str) -> Target {
        let parts = if specifier.starts_with('@') { 2 } else { 1 };
        let end = specifier
            .match_indices('/')
            .nth(parts - 1)
            .map_or(specifier.len(), |(at, _)| at);
        let Some((folder, main)) = self.by_name.get(&specifier[..end]) else {
            return Target::Elsewhere;
        };
        let inside = specifier[end..].trim_start_matches('/');
        if inside.is_empty() {
            let file = main
                .and_then(|path| tree.position(path))
                .or_else(|| probe(tree, &join(folder, "src")?))
                .or_else(|| probe(tree, &join(folder, "index")?));
            return Target::found(file);
        }
        let file = [inside.to_owned(), format!("src/{inside}")]
            .iter()
            .find_map(|path| probe(tree, &join(folder, path)?));
        Target::found(file)
    }
}

/// Tries the extensions that a specifier may leave out, and sources instead of what is built from them.
fn probe(tree: &Tree, path: &str) -> Option<usize> {
    let source = |built: &str, sources: [&str; 2]| {
        let stem = path.strip_suffix(built)?;
        sources
            .iter()
            .find_map(|extension| tree.position(&format!("{stem}{extension}")))
    };
    EXTENSIONS
        .iter()
        .find_map(|extension| tree.position(&format!("{path}{extension}")))
        .or_else(|| source(".js", [".ts", ".tsx"]))
        .or_else(|| source(".jsx", [".tsx", ".ts"]))
        .or_else(|| source(".mjs", [".mts", ".ts"]))
        .or_else(|| source(".cjs", [".cts", ".ts"]))
}

struct Spaces<'a>(&'a mut [u8]);

impl Listener for Spaces<'_> {
    fn comment(&mut self, start: usize, end: usize) {
        self.0[start..end].fill(b' ');
    }
}

/// Reads `paths` and `baseUrl`; the files are JSON with comments and trailing commas.
fn read_aliases(path: &str, text: &str) -> Option<Vec<Alias>> {
    let mut bytes = text.as_bytes().to_vec();
    lexer::scan(
        text.as_bytes(),
        named("JSON5")?.grammar(),
        &mut Spaces(&mut bytes),
    );
    let mut clean = Vec::with_capacity(bytes.len());
    for (at, &byte) in bytes.iter().enumerate() {
        let next = || {
            bytes[at + 1..]
                .iter()
                .find(|byte| !byte.is_ascii_whitespace())
        };
        if byte != b',' || !matches!(next(), Some(b'}' | b']')) {
            clean.push(byte);
        }
    }
    let value: Value = serde_json::from_slice(&clean).ok()?;
    let options = value.get("compilerOptions")?;
    let folder = folder_of(path);
    let base = options
        .get("baseUrl")
        .and_then(Value::as_str)
        .unwrap_or(".");
    let mut aliases = Vec::new();
    for (pattern, targets) in options
        .get("paths")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let targets = targets
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str);
        aliases.push(Alias {
            scope: folder.to_owned(),
            prefix: pattern.trim_end_matches('*').to_owned(),
            open: pattern.ends_with('*'),
            targets: targets
                .map(|target| format!("{base}/{}", target.trim_end_matches('*')))
                .collect(),
        });
    }
    if options.get("baseUrl").is_some() {
        aliases.push(Alias {
            scope: folder.to_owned(),
            prefix: String::new(),
            open: true,
            targets: vec![format!("{base}/")],
        });
    }
    Some(aliases)
}

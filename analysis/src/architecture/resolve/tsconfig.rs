//! Reads path aliases of `tsconfig.json` and `jsconfig.json`: `paths`, `baseUrl` and what they extend.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::architecture::packages::{Sources, join};
use crate::paths::{folder_of, name_of};
use crate::tree::language::named;
use crate::tree::masking::without_comments;

const MAX_CONFIGS: usize = 500;

/// Longest chain of configurations that extend each other.
const MAX_CHAIN: usize = 16;

/// An alias such as `@/*` or `#*/model` with what it stands for.
pub(super) struct Alias {
    /// The folder below which it holds.
    scope: String,
    pattern: String,
    /// Paths from the top of the repository; a star stands for what the pattern's star does.
    targets: Vec<String>,
}

impl Alias {
    /// Returns the paths that a specifier stands for, if the alias holds for it.
    pub(super) fn targets<'s>(
        &'s self,
        from: &str,
        specifier: &'s str,
    ) -> Option<impl Iterator<Item = String> + 's> {
        let in_scope = self.scope.is_empty()
            || from
                .strip_prefix(&self.scope)
                .is_some_and(|rest| rest.starts_with('/'));
        let star = if self.pattern.contains('*') {
            starred(&self.pattern, specifier)
        } else {
            (specifier == self.pattern).then_some("")
        };
        let star = star.filter(|_| in_scope)?;
        Some(
            self.targets
                .iter()
                .map(move |target| target.replacen('*', star, 1)),
        )
    }
}

/// Returns what a star stands for when a pattern fits.
pub(super) fn starred<'t>(pattern: &str, text: &'t str) -> Option<&'t str> {
    let (before, after) = pattern.split_once('*')?;
    text.strip_prefix(before)?.strip_suffix(after)
}

/// Reads the aliases of all configurations, the nearest to the files first; `package` finds the folder of a package.
pub(super) fn read_all(
    sources: Sources<'_>,
    package: impl Fn(&str) -> Option<String>,
) -> Vec<Alias> {
    let mut aliases: Vec<Alias> = sources
        .tree
        .files
        .iter()
        .filter(|file| {
            let name = name_of(&file.path);
            (name.starts_with("tsconfig") || name == "jsconfig.json")
                && name.strip_suffix(".json").is_some()
        })
        .take(MAX_CONFIGS)
        .flat_map(|file| effective(sources, &file.path, &package))
        .collect();
    // The nearest configuration wins, then what leaves least to the star.
    aliases.sort_by_key(|alias| {
        let before_star = alias.pattern.find('*').unwrap_or(usize::MAX);
        std::cmp::Reverse((alias.scope.len(), before_star))
    });
    aliases
}

/// Collects the aliases of one configuration from it and those that it extends.
fn effective(
    sources: Sources<'_>,
    config: &str,
    package: &impl Fn(&str) -> Option<String>,
) -> Vec<Alias> {
    let mut open = vec![config.to_owned()];
    let mut seen = HashSet::new();
    // Where each is set first, with the folder to which it is relative.
    let mut paths: Option<(Map<String, Value>, String)> = None;
    let mut base: Option<String> = None;
    while let Some(path) = open.pop() {
        if seen.len() > MAX_CHAIN || !seen.insert(path.clone()) {
            continue;
        }
        let Some(config) = sources.text(&path).and_then(|text| parsed(&text)) else {
            continue;
        };
        let folder = folder_of(&path);
        let options = config.get("compilerOptions");
        let option = |name: &str| options.and_then(|options| options.get(name));
        if base.is_none() {
            let url = option("baseUrl").and_then(Value::as_str);
            base = url.and_then(|url| join(folder, url));
        }
        if paths.is_none() {
            let map = option("paths").and_then(Value::as_object);
            paths = map.map(|map| (map.clone(), folder.to_owned()));
        }
        let extended = match config.get("extends") {
            Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(one)) => vec![one.as_str()],
            _ => Vec::new(),
        };
        // The last one wins over those before it.
        open.extend(
            extended
                .into_iter()
                .filter_map(|name| located(sources, folder, name, package)),
        );
    }
    let scope = folder_of(config);
    let mut aliases = Vec::new();
    if let Some((map, folder)) = paths {
        let from = base.as_deref().unwrap_or(&folder);
        aliases.extend(map.into_iter().map(|(pattern, targets)| {
            let targets = targets.as_array().into_iter().flatten();
            Alias {
                scope: scope.to_owned(),
                pattern,
                targets: targets
                    .filter_map(|target| join(from, target.as_str()?))
                    .collect(),
            }
        }));
    }
    if let Some(base) = base {
        aliases.push(Alias {
            scope: scope.to_owned(),
            pattern: "*".to_owned(),
            targets: join(&base, "*").into_iter().collect(),
        });
    }
    aliases
}

/// Finds the configuration that `extends` names.
fn located(
    sources: Sources<'_>,
    folder: &str,
    name: &str,
    package: &impl Fn(&str) -> Option<String>,
) -> Option<String> {
    let path = if name.starts_with('.') {
        join(folder, name)?
    } else {
        let parts = if name.starts_with('@') { 2 } else { 1 };
        let end = name
            .match_indices('/')
            .nth(parts - 1)
            .map_or(name.len(), |(at, _)| at);
        join(&package(&name[..end])?, &name[end..])?
    };
    ["", ".json", "/tsconfig.json"]
        .iter()
        .map(|end| format!("{path}{end}"))
        .find(|path| sources.has(path))
}

/// Parses JSON with comments and trailing commas.
fn parsed(text: &str) -> Option<Value> {
    let bytes = without_comments(text.as_bytes(), named("JSON5")?.grammar());
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
    serde_json::from_slice(&clean).ok()
}

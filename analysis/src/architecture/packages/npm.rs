//! npm packages: workspaces, scripts, binaries.

use serde_json::{Map, Value};

use super::{Found, Sources, join};
use crate::architecture::commands::purpose_of;
use crate::paths::{folder_of, name_of};
use crate::report::architecture::{Ecosystem, EntryKind, FoundCommand};
use crate::text::shortened;

/// Reads a `package.json`.
pub(super) fn read(sources: Sources<'_>, path: &str) -> Option<Found> {
    let manifest: Map<String, Value> = serde_json::from_str(&sources.text(path)?).ok()?;
    let folder = folder_of(path).to_owned();
    let text = |key: &str| manifest.get(key).and_then(Value::as_str);
    let name = text("name").map_or_else(
        || {
            if folder.is_empty() {
                "(top)".to_owned()
            } else {
                name_of(&folder).to_owned()
            }
        },
        str::to_owned,
    );
    let mut found = Found::new(Ecosystem::Npm, path, name.clone());
    found.describe(text("version"), text("description"));
    found.license = text("license").map(str::to_owned);
    found.import_name = text("name").map(str::to_owned);
    let workspaces = match manifest.get("workspaces") {
        Some(Value::Object(object)) => object.get("packages"),
        other => other,
    };
    found.members = workspaces
        .and_then(Value::as_array)
        .map(|members| {
            members
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect()
        })
        .unwrap_or_default();
    if let Some(pnpm) = join(&folder, "pnpm-workspace.yaml").and_then(|path| sources.text(&path)) {
        found.members.extend(pnpm_members(&pnpm));
    }
    for kind in [
        "dependencies",
        "devDependencies",
        "peerDependencies",
        "optionalDependencies",
    ] {
        if let Some(dependencies) = manifest.get(kind).and_then(Value::as_object) {
            found.dependencies.extend(dependencies.keys().cloned());
        }
    }
    let own_file = |path: &str| join(&folder, path).and_then(|path| source_of(sources, &path));
    match manifest.get("bin") {
        Some(Value::String(path)) => {
            if let Some(path) = own_file(path) {
                found.entry(EntryKind::Binary, &name, path, "package.json");
            }
        }
        Some(Value::Object(binaries)) => {
            for (name, path) in binaries {
                if let Some(path) = path.as_str().and_then(own_file) {
                    found.entry(EntryKind::Binary, name, path, "package.json");
                }
            }
        }
        _ => {}
    }
    let main = ["module", "main", "types"]
        .iter()
        .find_map(|key| text(key).and_then(own_file))
        .or_else(|| {
            [
                "src/index.ts",
                "src/index.tsx",
                "src/main.ts",
                "src/main.tsx",
                "src/index.js",
                "index.ts",
                "index.js",
            ]
            .iter()
            .find_map(|path| own_file(path))
        });
    if let Some(path) = main {
        found.entry(EntryKind::Library, &name, path, "package.json");
    }
    if let Some(scripts) = manifest.get("scripts").and_then(Value::as_object) {
        let runner = runner(sources, &folder);
        for (script, runs) in scripts.iter().take(60) {
            let Some(runs) = runs.as_str() else { continue };
            found.commands.push(FoundCommand {
                purpose: purpose_of(script, runs),
                command: shortened(&format!("{runner} {script}"), 120),
                source: path.to_owned(),
                runs: Some(shortened(runs, 160)),
            });
        }
    }
    Some(found)
}

/// Finds the source of a built file: `dist/x.js` is usually made of `src/x.ts`.
fn source_of(sources: Sources<'_>, path: &str) -> Option<String> {
    if sources.has(path) {
        return Some(path.to_owned());
    }
    let (stem, _) = path.rsplit_once('.')?;
    let stem = stem.trim_end_matches(".d");
    ["dist/", "lib/", "build/", "out/"]
        .iter()
        .find_map(|built| {
            let stem = stem.replacen(built, "src/", 1);
            ["ts", "tsx", "js", "jsx", "mts"]
                .iter()
                .map(|extension| format!("{stem}.{extension}"))
                .find(|path| sources.has(path))
        })
}

fn runner(sources: Sources<'_>, folder: &str) -> &'static str {
    for folder in [folder, ""] {
        for (lock, runner) in [
            ("pnpm-lock.yaml", "pnpm run"),
            ("yarn.lock", "yarn run"),
            ("bun.lock", "bun run"),
            ("bun.lockb", "bun run"),
        ] {
            if join(folder, lock).is_some_and(|path| sources.has(&path)) {
                return runner;
            }
        }
    }
    "npm run"
}

/// Reads the list below `packages:`.
fn pnpm_members(text: &str) -> Vec<String> {
    text.lines()
        .skip_while(|line| !line.starts_with("packages:"))
        .skip(1)
        .map_while(|line| {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                return Some(String::new());
            }
            Some(
                line.strip_prefix('-')?
                    .trim()
                    .trim_matches(['"', '\''])
                    .to_owned(),
            )
        })
        .filter(|member| !member.is_empty())
        .collect()
}

//! npm packages: workspaces, scripts, binaries.

use serde_json::{Map, Value};

use super::{FoundPackage, Sources, join};
use crate::paths::{folder_of, name_of};
use crate::report::architecture::{Ecosystem, EntryKind};

/// Reads a `package.json`.
pub(super) fn read(sources: Sources<'_>, path: &str) -> Option<FoundPackage> {
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
    let mut found = FoundPackage::new(Ecosystem::Npm, path, name.clone());
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
        let members = pnpm_members(&pnpm);
        // To pnpm the top is a member like the others.
        found.package.workspace_member = !members.is_empty();
        found.members.extend(members);
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
    // A private package that names nothing to import is an application.
    let is_library = manifest.get("private") != Some(&Value::Bool(true))
        || ["module", "main", "types", "exports"]
            .iter()
            .any(|key| manifest.contains_key(*key));
    let main = ["module", "main", "types"]
        .iter()
        .find_map(|key| text(key).and_then(own_file))
        .filter(|_| is_library)
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
            .filter(|_| is_library)
        });
    if let Some(path) = main {
        found.entry(EntryKind::Library, &name, path, "package.json");
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
            let member = line.strip_prefix('-')?.split(" #").next()?;
            Some(member.trim().trim_matches(['"', '\'']).to_owned())
        })
        .filter(|member| !member.is_empty())
        .collect()
}

//! Packages installed in `node_modules` by npm, yarn and pnpm.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{inside, is_real_folder, names_in, text_of, tidy};

/// A folder `node_modules`.
#[derive(Default)]
pub(super) struct Modules {
    folder: Option<PathBuf>,
    /// Folders of pnpm, by package and version as pnpm writes them; it adds what they were built with.
    stores: HashMap<String, String>,
}

impl Modules {
    /// Looks beside a lock file.
    pub(super) fn of(folder: &Path) -> Self {
        let folder = folder.join("node_modules");
        if !is_real_folder(&folder) {
            return Self::default();
        }
        let mut stores = HashMap::new();
        if is_real_folder(&folder.join(".pnpm")) {
            for store in names_in(&folder.join(".pnpm")) {
                let bare = store.split(['(', '_']).next().unwrap_or(&store).to_owned();
                stores.insert(bare, store);
            }
        }
        Self {
            folder: Some(folder),
            stores,
        }
    }

    pub(super) fn licence(&self, name: &str, version: &str) -> Option<String> {
        let folder = self.folder.as_deref()?;
        let stored = self
            .stores
            .get(&format!("{}@{version}", name.replace('/', "+")));
        let stored = stored.and_then(|store| {
            let parts = [".pnpm", store.as_str(), "node_modules"];
            inside(
                folder,
                parts
                    .into_iter()
                    .chain(name.split('/'))
                    .chain(["package.json"]),
            )
        });
        let plain = inside(folder, name.split('/').chain(["package.json"]));
        [stored, plain]
            .into_iter()
            .flatten()
            .find_map(|path| stated(&path, name, version))
    }
}

/// Reads the licence in a `package.json`, if it is that of this version.
fn stated(path: &Path, name: &str, version: &str) -> Option<String> {
    let document: Value = serde_json::from_str(&text_of(path)?).ok()?;
    let text = |key: &str| document.get(key).and_then(Value::as_str);
    if text("name") != Some(name) || text("version") != Some(version) {
        return None;
    }
    let of_type = |value: &'_ Value| value.get("type").and_then(Value::as_str).map(str::to_owned);
    let licence = text("license")
        .map(str::to_owned)
        .or_else(|| document.get("license").and_then(of_type))
        .or_else(|| {
            // A list was the custom before there were expressions; any may be chosen.
            let list = document.get("licenses").and_then(Value::as_array)?;
            let names: Vec<String> = list.iter().filter_map(of_type).collect();
            Some(names.join(" OR "))
        })?;
    tidy(&licence)
}

//! `package.json` projects: the test runner and the package manager that calls it.

use std::path::Path;

use serde_json::Value;

use super::{Profile, ProfileName};
use shared::file;
use shared::model::toolchain::PackageManager;

const MAX_PACKAGE_BYTES: u64 = 1 << 20;

/// Returns the test runner: a dependency, else the one that the test script calls, else Node's own.
pub(super) fn runner(root: &Path) -> ProfileName {
    let package = file::read(&root.join("package.json"), MAX_PACKAGE_BYTES)
        .ok()
        .and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok())
        .unwrap_or_default();
    let depends = |name: &str| {
        ["devDependencies", "dependencies"]
            .iter()
            .any(|group| package[group].get(name).is_some())
    };
    let script = package["scripts"]["test"].as_str().unwrap_or_default();
    if depends("vitest") || script.contains("vitest") {
        ProfileName::Vitest
    } else if depends("jest") || script.contains("jest") {
        ProfileName::Jest
    } else {
        ProfileName::Node
    }
}

/// Calls the project's own tools, through the package manager whose lock file is nearest.
pub(super) fn adapt(profile: &mut Profile) {
    let start: &[&str] = match nearest_manager(&profile.root) {
        Some(PackageManager::Pnpm) => &["pnpm", "exec"],
        Some(PackageManager::Yarn) => &["yarn", "run"],
        Some(PackageManager::Npm | PackageManager::Bun) | None => &["npx", "--no-install"],
    };
    let through = |words: &[String]| -> Vec<String> {
        start
            .iter()
            .map(|word| (*word).to_owned())
            .chain(words.iter().cloned())
            .collect()
    };
    if profile.name != ProfileName::Node {
        for words in &mut profile.tests {
            *words = through(words);
        }
    }
    if profile.root.join("tsconfig.json").is_file() {
        let words = ["tsc", "--noEmit"].map(str::to_owned);
        profile.compile = vec![through(&words)];
        profile.compile_production.clone_from(&profile.compile);
    }
}

/// Looks for a lock file here and above: a workspace has one for all its packages.
fn nearest_manager(root: &Path) -> Option<PackageManager> {
    let mut folders = root.ancestors().take(8);
    folders.find_map(|folder| PackageManager::of_lock_file(|name| folder.join(name).is_file()))
}

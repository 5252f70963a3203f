//! Projects with a `package.json`: which runner, and through which package manager.

use std::path::Path;

use serde_json::Value;

use super::detect::read_bounded;
use super::{Profile, ProfileName};

/// Says which runner a project uses: what it depends on, else what its test script calls, else Node's own.
pub(super) fn runner(root: &Path) -> ProfileName {
    let package = read_bounded(&root.join("package.json"))
        .and_then(|text| serde_json::from_str::<Value>(&text).ok())
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
    let start: &[&str] = match nearest_lock(&profile.root) {
        Some("pnpm-lock.yaml") => &["pnpm", "exec"],
        Some("yarn.lock") => &["yarn", "run"],
        _ => &["npx", "--no-install"],
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
    }
}

/// Looks for a lock file here and above: a workspace has one for all its packages.
fn nearest_lock(root: &Path) -> Option<&'static str> {
    root.ancestors().take(8).find_map(|folder| {
        ["pnpm-lock.yaml", "yarn.lock", "package-lock.json"]
            .into_iter()
            .find(|name| folder.join(name).is_file())
    })
}

//! Distributions of Python that are installed beside the repository's code or on the machine.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::super::names::normalised;
use super::{inside, is_real_folder, names_in, starting_with, text_of, tidy};

/// Names of virtual environments in a repository.
const ENVIRONMENTS: [&str; 3] = [".venv", "venv", "env"];

/// Installed distributions by normalised name and version.
#[derive(Default)]
pub(super) struct Distributions(HashMap<(String, String), PathBuf>);

impl Distributions {
    pub(super) fn of(root: &Path, machine: &[PathBuf]) -> Self {
        let environments = ENVIRONMENTS.iter().map(|name| root.join(name));
        let mut folders: Vec<PathBuf> = environments
            .filter(|environment| is_real_folder(environment))
            .flat_map(|environment| site_packages(&environment))
            .collect();
        folders.extend_from_slice(machine);
        let mut found = HashMap::new();
        for folder in folders {
            for name in names_in(&folder) {
                let Some((distribution, version)) = name
                    .strip_suffix(".dist-info")
                    .and_then(|stem| stem.rsplit_once('-'))
                else {
                    continue;
                };
                let key = (normalised(distribution), version.to_owned());
                if let Some(path) = inside(&folder, [name.as_str(), "METADATA"]) {
                    found.entry(key).or_insert(path);
                }
            }
        }
        Self(found)
    }

    pub(super) fn licence(&self, name: &str, version: &str) -> Option<String> {
        let path = self.0.get(&(normalised(name), version.to_owned()))?;
        let text = text_of(path)?;
        // The description follows the first empty line.
        let fields: Vec<(&str, &str)> = text
            .lines()
            .take_while(|line| !line.is_empty())
            .filter_map(|line| line.split_once(": "))
            .collect();
        let field = |wanted: &str| {
            let found = fields.iter().find(|(name, _)| *name == wanted);
            found.and_then(|(_, value)| tidy(value))
        };
        field("License-Expression")
            .or_else(|| field("License"))
            .or_else(|| {
                let classifiers = fields.iter().filter(|(name, _)| *name == "Classifier");
                let named: Vec<&str> = classifiers
                    .filter_map(|(_, value)| value.strip_prefix("License :: OSI Approved :: "))
                    .collect();
                tidy(&named.join(", "))
            })
    }
}

/// Returns the folders of distributions below a prefix, of any version of Python.
pub(super) fn site_packages(prefix: &Path) -> Vec<PathBuf> {
    let library = prefix.join("lib");
    if !is_real_folder(&library) {
        return Vec::new();
    }
    starting_with(&library, "python3")
        .iter()
        .filter(|version| is_real_folder(version))
        .flat_map(|version| ["site-packages", "dist-packages"].map(|name| version.join(name)))
        .filter(|folder| is_real_folder(folder))
        .collect()
}

//! Crates unpacked in the registry of Cargo.

use std::path::{Path, PathBuf};

use toml::de::DeTable;

use super::super::cargo::{string, table};
use super::{inside, starting_with, text_of, tidy};

/// The folders with the sources of crates.io.
pub(super) struct Sources(Vec<PathBuf>);

impl Sources {
    pub(super) fn of(cache: Option<&Path>) -> Self {
        let indexes = ["index.crates.io-", "github.com-"];
        let found = cache
            .iter()
            .flat_map(|cache| indexes.iter().flat_map(|index| starting_with(cache, index)));
        Self(found.collect())
    }

    pub(super) fn licence(&self, name: &str, version: &str) -> Option<String> {
        let folder = format!("{name}-{version}");
        self.0.iter().find_map(|index| {
            let text = text_of(&inside(index, [folder.as_str(), "Cargo.toml"])?)?;
            let document = DeTable::parse(&text).ok()?;
            let package = table(document.get_ref(), "package")?;
            let is_it = string(package, "name") == Some(name);
            tidy(string(package, "license").filter(|_| is_it)?)
        })
    }
}

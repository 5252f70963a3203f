//! Trust in what a repository brings along: its settings, prompts and TDD profile.
//!
//! A person trusts exact contents, kept in the state folder and never in the repository. A file that
//! has changed since counts as untrusted again, as with direnv and mise.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{ConfigError, Environment, REPOSITORY_FILE};
use crate::file;

/// The folder of a repository's own prompts.
pub const PROMPT_FOLDER: &str = ".claude-codex/prompts";

/// The repository's TDD profile, whose commands are run.
const PROFILE_FILE: &str = ".claude-codex/tdd.json";

/// Files below the repository's top level that matter to trust, by their path there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RepositoryFiles(BTreeMap<String, String>);

impl RepositoryFiles {
    /// Reads them; those that are not there are left out.
    pub fn read(root: &Path) -> Result<Self, ConfigError> {
        let mut names = vec![REPOSITORY_FILE.to_owned(), PROFILE_FILE.to_owned()];
        let entries = std::fs::read_dir(root.join(PROMPT_FOLDER));
        for entry in entries.into_iter().flatten().flatten() {
            let is_prompt = entry.path().extension().is_some_and(|it| it == "md");
            if let Ok(name) = entry.file_name().into_string()
                && is_prompt
            {
                names.push(format!("{PROMPT_FOLDER}/{name}"));
            }
        }
        let mut files = BTreeMap::new();
        for name in names {
            let read =
                file::read_inside(root, &name).map_err(|source| ConfigError::Unreadable {
                    path: root.join(&name),
                    source,
                })?;
            if let Some(text) = read {
                files.insert(name, text);
            }
        }
        Ok(Self(files))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let files = self.0.iter();
        files.map(|(name, text)| (name.as_str(), text.as_str()))
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

/// What the person has trusted, of all repositories.
#[derive(Debug, Clone, Default)]
pub struct Trust {
    file: PathBuf,
    repositories: BTreeMap<String, Record>,
}

/// One trusted repository.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Record {
    files: BTreeMap<String, String>,
}

impl Trust {
    /// Reads what was trusted. Without a readable record nothing is.
    pub fn load(environment: &Environment) -> Result<Self, ConfigError> {
        let file = environment.state_dir()?.join("trust.json");
        let repositories = records(&file);
        Ok(Self { file, repositories })
    }

    /// Tells whether the person has trusted the repository at all.
    pub fn is_given(&self, root: &Path) -> bool {
        self.repositories.contains_key(&key(root))
    }

    /// Tells whether the person has trusted exactly this text in this file.
    pub fn covers(&self, root: &Path, name: &str, text: &str) -> bool {
        let record = self.repositories.get(&key(root));
        record
            .and_then(|record| record.files.get(name))
            .is_some_and(|trusted| trusted == text)
    }

    /// Returns the text of a file that was trusted last.
    pub fn last(&self, root: &Path, name: &str) -> Option<&str> {
        let record = self.repositories.get(&key(root))?;
        record.files.get(name).map(String::as_str)
    }

    /// Trusts a repository with exactly these files.
    pub fn give(&mut self, root: &Path, files: &RepositoryFiles) -> Result<(), ConfigError> {
        let files = files.0.clone();
        self.change(|repositories| {
            repositories.insert(key(root), Record { files });
            true
        })?;
        Ok(())
    }

    /// Takes the trust back; says whether there was any.
    pub fn revoke(&mut self, root: &Path) -> Result<bool, ConfigError> {
        self.change(|repositories| repositories.remove(&key(root)).is_some())
    }

    /// Changes the record as it is now, one process at a time: it was read before a person thought about an answer, and
    /// what they took back meanwhile must not come back. `edit` says whether there is anything to write.
    fn change(
        &mut self,
        edit: impl FnOnce(&mut BTreeMap<String, Record>) -> bool,
    ) -> Result<bool, ConfigError> {
        let unwritable = |source| ConfigError::Unwritable {
            path: self.file.clone(),
            source,
        };
        let lock = file::create_private(&self.file.with_extension("lock")).map_err(unwritable)?;
        lock.lock().map_err(unwritable)?;
        self.repositories = records(&self.file);
        if !edit(&mut self.repositories) {
            return Ok(false);
        }
        serde_json::to_vec_pretty(&self.repositories)
            .map_err(Into::into)
            .and_then(|text| file::replace(&self.file, text, Some(0o600)))
            .map_err(unwritable)?;
        Ok(true)
    }
}

fn records(file: &Path) -> BTreeMap<String, Record> {
    let bytes = std::fs::read(file).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

fn key(root: &Path) -> String {
    root.to_string_lossy().into_owned()
}

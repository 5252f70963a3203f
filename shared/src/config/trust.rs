//! Trust in what a repository brings along: its settings, prompts and TDD profile.
//!
//! A person trusts exact contents, kept in the state folder and never in the repository. A file that
//! has changed since counts as untrusted again, as with direnv and mise.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, Permissions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{ConfigError, Environment, REPOSITORY_FILE};

/// The folder of a repository's own prompts.
pub const PROMPT_FOLDER: &str = ".claude-codex/prompts";

/// The repository's TDD profile, whose commands are run.
const PROFILE_FILE: &str = ".claude-codex/tdd.json";

/// No settings file or prompt that anybody wrote is larger.
const LARGEST: u64 = 256 << 10;

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
            if let Some(text) = read_inside(root, &name)? {
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

/// Reads a file of a repository that may be hostile: no link out of it, no device, bounded.
fn read_inside(root: &Path, name: &str) -> Result<Option<String>, ConfigError> {
    let path = root.join(name);
    let unreadable = |source: std::io::Error| ConfigError::Unreadable {
        path: path.clone(),
        source,
    };
    let refused = |why: &str| unreadable(std::io::Error::new(ErrorKind::InvalidInput, why));
    let found = match path.canonicalize() {
        Ok(found) => found,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(unreadable(error)),
    };
    let root = root.canonicalize().map_err(unreadable)?;
    if !found.starts_with(&root) {
        return Err(refused("it is a link that leads out of the repository"));
    }
    if !found.is_file() {
        return Err(refused("it is not a file"));
    }
    let mut text = String::new();
    let file = File::open(&found).map_err(unreadable)?;
    let read = file.take(LARGEST + 1).read_to_string(&mut text);
    if read.map_err(unreadable)? as u64 > LARGEST {
        return Err(refused("it is larger than 256 KiB"));
    }
    Ok(Some(text))
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
        let repositories = std::fs::read(&file)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default();
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
        self.repositories.insert(key(root), Record { files });
        self.save()
    }

    /// Takes the trust back; says whether there was any.
    pub fn revoke(&mut self, root: &Path) -> Result<bool, ConfigError> {
        let was_given = self.repositories.remove(&key(root)).is_some();
        if was_given {
            self.save()?;
        }
        Ok(was_given)
    }

    fn save(&self) -> Result<(), ConfigError> {
        let unwritable = |source| ConfigError::Unwritable {
            path: self.file.clone(),
            source,
        };
        if let Some(folder) = self.file.parent() {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(folder)
                .map_err(unwritable)?;
        }
        let fresh = self.file.with_extension(std::process::id().to_string());
        let write = || {
            let mut file = File::options()
                .write(true)
                .create(true)
                .truncate(true)
                .mode(0o600)
                .open(&fresh)?;
            file.set_permissions(Permissions::from_mode(0o600))?;
            file.write_all(&serde_json::to_vec_pretty(&self.repositories)?)?;
            file.sync_all()?;
            std::fs::rename(&fresh, &self.file)
        };
        write().map_err(unwritable)
    }
}

fn key(root: &Path) -> String {
    root.to_string_lossy().into_owned()
}

//! Settings from five layers, and the only place that reads the environment.
//!
//! Defaults < user file < repository file < `CODEX_*` variables < flags. A key that does not exist is
//! an error that names the nearest one, and every value knows where it came from.

mod classes;
mod environment;
mod foreign;
mod forwarded;
mod layers;
mod settings;
mod trust;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use classes::Reason;
pub use environment::Environment;
pub use layers::{IgnoredKey, Layered, Origin, Value};
pub use settings::{
    AgentSettings, Cleanup, CodingSettings, DashboardSettings, ForgeKind, ForgeSettings,
    NotifySettings, PlanningSettings, ResourceSettings, RetentionSettings, ReviewSettings,
    Settings, TmuxSettings,
};
pub use trust::{PROMPT_FOLDER, RepositoryFiles, Trust};

/// Where a repository keeps its settings, below its top level.
pub const REPOSITORY_FILE: &str = ".claude-codex/config.toml";

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("cannot read {path}: {source}")]
    Unreadable {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("cannot write {path}: {source}")]
    Unwritable {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{origin} is not valid TOML: {source}")]
    Syntax {
        origin: Origin,
        source: Box<toml::de::Error>,
    },
    #[error("{origin} has the unknown key `{key}`")]
    UnknownKey {
        origin: Origin,
        key: String,
        nearest: Option<String>,
    },
    #[error("{origin} has a value for `{key}` that does not fit: {reason}")]
    WrongValue {
        origin: Origin,
        key: String,
        reason: String,
    },
    #[error("there is no home directory to keep state in")]
    NoHome,
    #[error("{variable} names a {scheme} address, and it takes the path of a file or folder")]
    NotAPath {
        variable: &'static str,
        scheme: String,
    },
}

impl ConfigError {
    /// Says what to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownKey {
                nearest: Some(nearest),
                ..
            } => Some(format!("Did you mean `{nearest}`?")),
            Self::UnknownKey { nearest: None, .. } => {
                Some("`claude-codex config` lists every key.".to_owned())
            }
            Self::NotAPath { variable, .. } => Some(format!(
                "Set {variable} to a path, or unset it. The database is an SQLite file; no database server is needed."
            )),
            Self::NoHome => Some("Set HOME or CODEX_STATE_DIR.".to_owned()),
            Self::Unreadable { .. } => Some("Make the file readable, or remove it.".to_owned()),
            Self::Unwritable { .. } => Some("Make the folder writable for you.".to_owned()),
            Self::Syntax { .. } => None,
            Self::WrongValue { .. } => {
                Some("`claude-codex config` shows each key with its present value.".to_owned())
            }
        }
    }
}

/// All settings, and where each came from.
#[derive(Debug, Clone)]
pub struct Config {
    pub settings: Settings,
    /// Each key with its value and origin, sorted; what `claude-codex config` prints.
    pub values: Vec<Value>,
    /// The repository's own prompts that the person has trusted, by file name.
    pub prompts: BTreeMap<String, String>,
    /// What of the repository's files is ignored because the person has not trusted it.
    pub ignored: Ignored,
}

/// What is ignored of a repository's own files until the person trusts it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ignored {
    pub keys: Vec<IgnoredKey>,
    /// Prompts and the TDD profile, by their path in the repository.
    pub files: Vec<String>,
}

impl Ignored {
    /// Says what is ignored, and how to change that; nothing if nothing is.
    pub fn notice(&self) -> Option<String> {
        let keys = self.keys.iter().map(|ignored| ignored.key.as_str());
        let names: Vec<&str> = keys.chain(self.files.iter().map(String::as_str)).collect();
        if names.is_empty() {
            return None;
        }
        Some(format!(
            "this repository's own {} {} ignored until you have looked at it with `claude-codex trust`",
            names.join(", "),
            crate::model::plural(names.len(), "is", "are"),
        ))
    }
}

impl Config {
    /// Reads all layers. `repository` is the top level of the repository at hand, if there is one.
    pub fn load(
        environment: &Environment,
        repository: Option<&Path>,
        flags: &[(String, String)],
    ) -> Result<Self, ConfigError> {
        let mut layered = Layered::of_person(environment)?;
        let mut ignored = Ignored::default();
        let mut prompts = BTreeMap::new();
        if let Some(root) = repository {
            let files = RepositoryFiles::read(root)?;
            let trust = if files.is_empty() {
                Trust::default()
            } else {
                Trust::load(environment)?
            };
            for (name, text) in files.iter() {
                let trusted = trust.covers(root, name, text);
                if name == REPOSITORY_FILE {
                    ignored.keys = layered.add_repository_file(&root.join(name), text, trusted)?;
                } else if !trusted {
                    ignored.files.push(name.to_owned());
                } else if let Some((PROMPT_FOLDER, file)) = name.rsplit_once('/') {
                    prompts.insert(file.to_owned(), text.to_owned());
                }
            }
        }
        for (variable, value) in environment.codex_variables() {
            layered.add_variable(variable, value)?;
        }
        for (key, value) in flags {
            layered.add_flag(key, value)?;
        }
        let (settings, mut values) = layered.finish()?;
        for value in &mut values {
            let of_key = |ignored: &&IgnoredKey| ignored.key == value.key;
            let ignored = ignored.keys.iter().find(of_key);
            value.ignored = ignored.map(|ignored| ignored.value.clone());
        }
        Ok(Self {
            settings,
            values,
            prompts,
            ignored,
        })
    }
}

#[cfg(test)]
mod tests;

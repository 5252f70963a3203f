//! Settings from five layers, and the only place that reads the environment.
//!
//! Defaults < user file < repository file < `CODEX_*` variables < flags. A key that does not exist is
//! an error that names the nearest one, and every value knows where it came from.

mod environment;
mod foreign;
mod layers;
mod settings;

use std::path::{Path, PathBuf};

pub use environment::Environment;
pub use layers::{Layered, Origin, Value};
pub use settings::{
    AgentSettings, Cleanup, CodingSettings, DashboardSettings, ForgeKind, ForgeSettings,
    PermissionMode, PlanningSettings, ResourceSettings, ReviewSettings, Settings, TmuxSettings,
};

/// Where a repository keeps its settings, below its top level.
pub const REPOSITORY_FILE: &str = ".claude-codex/config.toml";

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("cannot read {path}: {source}")]
    Unreadable {
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
}

impl Config {
    /// Reads all layers. `repository` is the top level of the repository at hand, if there is one.
    pub fn load(
        environment: &Environment,
        repository: Option<&Path>,
        flags: &[(String, String)],
    ) -> Result<Self, ConfigError> {
        let mut layered = Layered::defaults();
        if let Some(path) = environment.user_config_file() {
            layered.add_file(&path)?;
        }
        if let Some(repository) = repository {
            layered.add_file(&repository.join(REPOSITORY_FILE))?;
        }
        for (variable, value) in environment.codex_variables() {
            layered.add_variable(variable, value)?;
        }
        for (key, value) in flags {
            layered.add_flag(key, value)?;
        }
        let (settings, values) = layered.finish()?;
        Ok(Self { settings, values })
    }
}

#[cfg(test)]
mod tests;

//! The process environment: variables, home and XDG folders, working directory.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::ConfigError;
use crate::fault;
use crate::model::{InstanceId, InvalidId, secrets};

/// The environment as it was when the process began.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    variables: BTreeMap<String, String>,
    directory: PathBuf,
    executable: Option<PathBuf>,
}

impl Environment {
    /// Takes the environment of this process. Variables that are not UTF-8 are none of ours.
    pub fn current() -> Self {
        let text = |part: OsString| part.into_string().ok();
        let environment = Self {
            variables: std::env::vars_os()
                .filter_map(|(name, value)| Some((text(name)?, text(value)?)))
                .collect(),
            directory: std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/")),
            executable: std::env::current_exe().ok(),
        };
        let variable = environment.get(fault::VARIABLE);
        fault::arm(variable, environment.executable.as_deref());
        secrets::remember(&environment.variables);
        environment
    }

    /// Makes an environment from parts, for tests and for commands that act elsewhere.
    pub fn new(variables: BTreeMap<String, String>, directory: PathBuf) -> Self {
        Self {
            variables,
            directory,
            executable: None,
        }
    }

    /// Leaves out the variables whose names are so.
    #[must_use]
    pub fn without(mut self, unwanted: impl Fn(&str) -> bool) -> Self {
        self.variables.retain(|name, _| !unwanted(name));
        self
    }

    /// Sets variables.
    #[must_use]
    pub fn with<'n>(mut self, changes: impl IntoIterator<Item = (&'n str, String)>) -> Self {
        let changes = changes.into_iter();
        self.variables
            .extend(changes.map(|(name, value)| (name.to_owned(), value)));
        self
    }

    /// Stands in another folder.
    #[must_use]
    pub fn moved_to(mut self, directory: PathBuf) -> Self {
        self.directory = directory;
        self
    }

    /// Returns all variables, for handing on to an agent.
    pub fn variables(&self) -> &BTreeMap<String, String> {
        &self.variables
    }

    /// Returns a variable that is set and not empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// Finds a program of ours: beside the one that runs, else on PATH.
    pub fn own_program(&self, name: &str) -> Option<PathBuf> {
        let beside = self.executable.as_ref().and_then(|path| path.parent());
        let search = self.get("PATH").unwrap_or_default();
        beside
            .map(Path::to_owned)
            .into_iter()
            .chain(std::env::split_paths(search).filter(|folder| folder.is_absolute()))
            .map(|folder| folder.join(name))
            .find(|path| path.is_file())
    }

    /// Returns the folder in which Claude Code keeps its own state, if it was moved.
    pub fn claude_config_dir(&self) -> Option<PathBuf> {
        self.path("CLAUDE_CONFIG_DIR")
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the folder that holds database, logs and agent files.
    pub fn state_dir(&self) -> Result<PathBuf, ConfigError> {
        if let Some(folder) = self.state_path("CODEX_STATE_DIR")? {
            return Ok(folder);
        }
        let base = match self.absolute("XDG_STATE_HOME") {
            Some(folder) => folder,
            None => self.home()?.join(".local/state"),
        };
        Ok(base.join("claude-codex"))
    }

    pub fn database(&self) -> Result<PathBuf, ConfigError> {
        match self.state_path("CODEX_DB")? {
            Some(file) => Ok(file),
            None => Ok(self.state_dir()?.join("codex.db")),
        }
    }

    /// Returns the instance that this process acts for, if it was launched for one.
    pub fn instance_id(&self) -> Result<Option<InstanceId>, InvalidId> {
        self.get("CODEX_INSTANCE_ID").map(str::parse).transpose()
    }

    /// Returns the session of the Claude Code that started this process.
    pub fn claude_session_id(&self) -> Option<&str> {
        self.get("CLAUDE_CODE_SESSION_ID")
    }

    /// Returns the Claude Code process whose Bash tool or hook has started this one, or something above it.
    ///
    /// MCP servers get the session's id from their Claude Code, but not this (seen in 2.1.325).
    pub fn claude_of_command(&self) -> Option<u32> {
        self.get("CLAUDE_PID")?.parse().ok()
    }

    /// Returns the tmux pane this process runs in.
    pub fn tmux_pane(&self) -> Option<&str> {
        self.get("TMUX_PANE")
    }

    /// Returns the tmux server this process runs in: its socket, process and session.
    pub fn tmux_server(&self) -> Option<&str> {
        self.get("TMUX")
    }

    pub fn log_filter(&self) -> Option<&str> {
        self.get("CODEX_LOG")
    }

    pub(super) fn user_config_file(&self) -> Option<PathBuf> {
        let base = self
            .absolute("XDG_CONFIG_HOME")
            .or_else(|| Some(self.home().ok()?.join(".config")))?;
        Some(base.join("claude-codex/config.toml"))
    }

    pub(super) fn codex_variables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables
            .iter()
            .filter(|(name, value)| name.starts_with("CODEX_") && !value.is_empty())
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    pub fn home(&self) -> Result<PathBuf, ConfigError> {
        self.absolute("HOME").ok_or(ConfigError::NoHome)
    }

    /// Returns where state is kept. The address of a database server would become a folder named `postgres:`.
    fn state_path(&self, name: &'static str) -> Result<Option<PathBuf>, ConfigError> {
        // The scheme alone: what follows may hold a password.
        match self.get(name).and_then(|value| value.split_once("://")) {
            Some((scheme, _)) => Err(ConfigError::NotAPath {
                variable: name,
                scheme: scheme.to_owned(),
            }),
            None => Ok(self.path(name)),
        }
    }

    /// Relative paths count as unset, as XDG demands: the folder would be one that a clone has brought.
    fn absolute(&self, name: &str) -> Option<PathBuf> {
        self.get(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    }

    /// Relative paths are taken from the working directory, so that they mean one thing all along.
    fn path(&self, name: &str) -> Option<PathBuf> {
        self.get(name).map(|value| self.directory.join(value))
    }
}

//! Forwarded variables: the `CODEX_*` variables that reach agents and their servers.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::layers::is_own_variable;
use super::{ConfigError, Environment};

/// Variables that belong to one agent and must not reach another.
const OF_ONE_AGENT: &[&str] = &[
    "CODEX_INSTANCE_ID",
    "CODEX_LAUNCH_ID",
    "CODEX_DETACHED",
    "CODEX_ROLE",
    "CODEX_PROMPT_FILE",
    "CODEX_MCP_CONFIG",
];

impl Environment {
    /// Returns the `CODEX_*` variables that agents and their servers need to find the same place.
    pub fn forwarded_variables(&self) -> Result<BTreeMap<String, String>, ConfigError> {
        let mut handed: BTreeMap<String, String> = self
            .codex_variables()
            // Other programs' variables of that prefix may be secrets: `CODEX_API_KEY`.
            .filter(|(name, _)| is_own_variable(name) && !OF_ONE_AGENT.contains(name))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        handed.insert("CODEX_STATE_DIR".to_owned(), text(self.state_dir()?));
        handed.insert("CODEX_DB".to_owned(), text(self.database()?));
        Ok(handed)
    }
}

//! Paths of the MCP server programs.

use std::path::PathBuf;

use shared::config::Environment;
use shared::error::{Code, Error};
use shared::model::InstanceKind;

/// Returns the absolute path of the server for one kind of agent.
pub(crate) fn find(kind: InstanceKind, environment: &Environment) -> Result<PathBuf, Error> {
    let name = kind.server_name();
    environment.own_program(name).ok_or_else(|| {
        Error::new(
            Code::ServerMissing,
            format!("`{name}` is neither beside claude-codex nor on PATH"),
        )
        .hint("Install all programs of Claude Codex into the same folder.")
    })
}

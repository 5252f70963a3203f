//! Where the programs of Claude Codex are, and how files that a repository shares name them.

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

/// Returns how a shared file names a program of ours: without a path if PATH leads to it, so that the file is right for others, too.
pub(crate) fn shared_name(name: &str, environment: &Environment) -> Option<PathBuf> {
    let own = environment.own_program(name)?;
    let search = environment.get("PATH").unwrap_or_default();
    let found = std::env::split_paths(search)
        .map(|folder| folder.join(name))
        .find(|path| path.is_file());
    let is_on_path = found.is_some_and(|path| path.canonicalize().ok() == own.canonicalize().ok());
    Some(if is_on_path { name.into() } else { own })
}

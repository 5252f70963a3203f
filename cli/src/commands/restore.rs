//! `claude-codex restore`

use std::path::{Path, PathBuf};

use clap::Args;
use shared::config::Environment;
use shared::error::Error;
use shared::store;

use super::backup::FOLDER;
use crate::failure::Failure;
use crate::output::{NAME, Output, WARNING};
use crate::text::{count, harmless};

const EXAMPLES: &str = "\
Examples:
  claude-codex restore ~/.local/state/claude-codex/backups/codex-20260728-123456.db
  claude-codex restore --empty                 start with an empty database

The current database is kept under another name, which is printed; `claude-codex restore` with
that name undoes the restore. Running servers switch over by themselves. Agents that were
started after the backup are unknown to it: their sessions, worktrees and branches stay as they
are, and `claude-codex doctor` lists them.";

/// Replace the database by a backup or by an empty one
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RestoreArgs {
    /// A file made by `claude-codex backup`, or one that was set aside
    #[arg(required_unless_present = "empty")]
    file: Option<PathBuf>,
    /// Start with an empty database
    #[arg(long, conflicts_with = "file")]
    empty: bool,
}

pub(crate) async fn restore(args: &RestoreArgs, output: Output) -> Result<(), Failure> {
    let environment = Environment::current();
    let database = environment.database().map_err(Error::from)?;
    let file = args.file.as_ref();
    let file = file.map(|file| environment.directory().join(file));
    let restored = store::restore(&database, file.as_deref()).map_err(Error::from)?;
    if output.is_json() {
        return output.document(&restored);
    }
    let rows: u64 = restored.database.rows.values().sum();
    let shown = |path: &Path| harmless(&path.display().to_string());
    output.print(&format!(
        "{NAME}{}{NAME:#}: {}, version {}\n",
        shown(&database),
        count(rows, "row", "rows"),
        restored.database.version
    ))?;
    if let Some(aside) = &restored.set_aside {
        output.print(&format!("The previous database is now {}\n", shown(aside)))?;
    }
    if !restored.unknown_agents.is_empty() {
        let text = format!(
            "agents that were started after the backup are unknown now and keep running: {}. `claude-codex doctor` lists their sessions and worktrees",
            restored.unknown_agents.join(", ")
        );
        output.note("warning", WARNING, &text);
    }
    Ok(())
}

/// Returns the newest backup in the state folder.
pub(super) fn newest(environment: &Environment) -> Option<PathBuf> {
    let folder = environment.state_dir().ok()?.join(FOLDER);
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "db"))
        .collect();
    // The date is in the name.
    files.sort();
    files.pop()
}

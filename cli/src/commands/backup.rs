//! `claude-codex backup`

use std::path::PathBuf;

use clap::Args;
use shared::config::Environment;
use shared::error::Error;
use shared::store;

use crate::failure::Failure;
use crate::output::{NAME, Output};
use crate::text::harmless;

/// Where backups are that were given no name, below the state folder.
pub(super) const FOLDER: &str = "backups";

const EXAMPLES: &str = "\
Examples:
  claude-codex backup                          a copy with the date in its name, in the state folder
  claude-codex backup /media/disk/codex.db     one elsewhere
  claude-codex backup --json | jq -r .path

Agents and servers may go on meanwhile. The copy is checked before it gets its name. It has the database alone:
worktrees, branches and Claude Code's transcripts are where they are. `claude-codex restore FILE` is the way back.";

/// Copy the database to a file while everything goes on
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BackupArgs {
    /// Where to; a file with the date in its name in the state folder if left out
    file: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

pub(crate) fn backup(args: BackupArgs, output: Output) -> Result<(), Failure> {
    let environment = Environment::of_process();
    let database = environment.database().map_err(Error::from)?;
    let file = if let Some(file) = args.file {
        environment.directory().join(file)
    } else {
        let folder = environment.state_dir().map_err(Error::from)?.join(FOLDER);
        let stamp = store::stamp().map_err(Error::from)?;
        folder.join(format!("codex-{stamp}.db"))
    };
    let copied = store::back_up(&database, &file, args.force).map_err(Error::from)?;
    if output.is_json() {
        return output.document(&copied);
    }
    let rows: u64 = copied.rows.values().sum();
    output.print(&format!(
        "{NAME}{}{NAME:#}: {} KiB, {rows} rows, version {}\n",
        harmless(&copied.path.display().to_string()),
        copied.bytes.div_ceil(1024),
        copied.version,
    ))
}

//! `claude-codex backup`

use std::path::PathBuf;

use clap::Args;
use shared::config::Environment;
use shared::error::Error;
use shared::store;

use crate::failure::Failure;
use crate::output::{NAME, Output};
use crate::text::{count, harmless};

/// The folder of backups that were given no name, below the state folder.
pub(super) const FOLDER: &str = "backups";

const EXAMPLES: &str = "\
Examples:
  claude-codex backup                          a copy named by date, in the state folder
  claude-codex backup /media/disk/codex.db     a copy elsewhere
  claude-codex backup --json | jq -r .path

Agents and servers keep running. The copy is checked before it gets its name. It contains only
the database: worktrees, branches and transcripts of Claude Code are not copied. `claude-codex
restore FILE` restores it.";

/// Copy the database to a file while agents keep working
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BackupArgs {
    /// The file to write [default: one with the date in its name, in the state folder]
    file: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

pub(crate) async fn backup(args: BackupArgs, output: Output) -> Result<(), Failure> {
    let environment = Environment::current();
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
        "{NAME}{}{NAME:#}: {} KiB, {}, version {}\n",
        harmless(&copied.path.display().to_string()),
        copied.bytes.div_ceil(1024),
        count(rows, "row", "rows"),
        copied.version,
    ))
}

//! `claude-codex sync`

use clap::Args;
use serde_json::json;
use shared::workflow::{self, Synced};

use crate::failure::Failure;
use crate::output::{NAME, Output, WARNING};
use crate::progress::Progress;
use crate::session::{self, Record};

const EXAMPLES: &str = "\
Examples:
  claude-codex sync                   what became of the pull requests?

Agents whose pull request was merged or closed are put away, their worktrees by
resources.cleanup and never with work that exists nowhere else. A task whose pull
request was merged is done. Cheap enough to be run every minute.";

/// Follow this repository's pull requests: merged, closed or reopened
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SyncArgs {}

pub(crate) async fn sync(output: Output) -> Result<(), Failure> {
    let context = session::open(output).await?;
    let (run, progress) = Progress::start(output);
    let record = Record::begin("sync", json!({}));
    let result = workflow::sync(&context, &run).await;
    progress.finish(&result);
    let summary = |synced: &Vec<Synced>| json!({ "moved": synced.len() });
    // Looking changes nothing and is not worth a row.
    if result.as_ref().map_or(true, |synced| !synced.is_empty()) || !run.changes().is_empty() {
        record
            .end(&context, &run, None, &result, summary, output)
            .await;
    }
    let synced = result?;
    if output.is_json() {
        return output.document(&synced);
    }
    if synced.is_empty() {
        return output.print("Nothing has changed.\n");
    }
    moved(&synced, output)
}

/// Says which agents moved with their pull requests.
pub(super) fn moved(synced: &[Synced], output: Output) -> Result<(), Failure> {
    for one in synced {
        output.print(&format!(
            "{NAME}{}{NAME:#} is {} → {} (#{})\n",
            one.id, one.from, one.to, one.pr_number
        ))?;
        if let Some(kept) = &one.kept {
            output.note("note", WARNING, kept);
        }
    }
    Ok(())
}

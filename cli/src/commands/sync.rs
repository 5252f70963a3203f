//! `claude-codex sync`

use clap::Args;
use serde_json::json;
use shared::model::{counted, plural};
use shared::workflow::{self, Synced};

use crate::command_context::{self, EventRecord};
use crate::failure::Failure;
use crate::output::{NAME, Output, WARNING};
use crate::progress::Progress;

const EXAMPLES: &str = "\
Examples:
  claude-codex sync                   update agents and tasks from the pull requests

Agents whose pull request was merged or closed are ended. Their worktrees are removed
as resources.cleanup says, but never with work that exists nowhere else. A task whose
pull request was merged is done. Open pull requests that lack commits of their branch
are named. Cheap enough to run every minute.";

/// Update agents and tasks whose pull requests were merged, closed or reopened
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SyncArgs {}

pub(crate) async fn sync(output: Output) -> Result<(), Failure> {
    let context = command_context::open(output).await?;
    let (run, progress) = Progress::start(output);
    let record = EventRecord::begin("sync", json!({}));
    let result = workflow::sync(&context, &run).await;
    progress.finish(&result);
    let moved = |synced: &Vec<Synced>| synced.iter().filter(|one| one.has_moved()).count();
    let summary = move |synced: &Vec<Synced>| json!({ "moved": moved(synced) });
    // Only changes are recorded.
    if result.as_ref().map_or(true, |synced| moved(synced) > 0) || !run.changes().is_empty() {
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
    print_synced(&synced, output)
}

/// Prints the agents whose status changed with their pull requests.
pub(super) fn print_synced(synced: &[Synced], output: Output) -> Result<(), Failure> {
    for one in synced {
        if one.new_commits > 0 {
            output.print(&outdated(one))?;
            continue;
        }
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

fn outdated(one: &Synced) -> String {
    let (number, commits) = (one.pr_number, one.new_commits);
    let them = plural(commits, "it", "them");
    let commits = counted(commits, "commit", "commits");
    format!(
        "{NAME}#{number}{NAME:#} lacks {commits} of its branch: `claude-codex pr update {number}` brings {them} in\n"
    )
}

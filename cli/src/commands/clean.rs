//! `claude-codex clean`

use clap::Args;
use serde_json::json;
use shared::model::InstanceId;
use shared::workflow::{self, CleanMode};

use super::discard::discard;
use super::several;
use crate::command_context::{self, EventRecord};
use crate::completion;
use crate::failure::Failure;
use crate::output::{NAME, Output, PLAIN, WARNING};
use crate::progress::Progress;
use crate::text::harmless;

const EXAMPLES: &str = "\
Examples:
  claude-codex clean --dry-run        show what would be removed
  claude-codex clean                  remove it
  claude-codex clean work-42 work-43  only what these agents have left
  claude-codex clean --discard work-42     also delete work that exists nowhere else

Without --discard, uncommitted and unpushed work is kept and listed.";

/// Remove worktrees, branches, sessions and files of ended agents; unsaved work only with --discard
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CleanArgs {
    /// Only these agents: their ids, or unique beginnings of them
    #[arg(value_name = "ID", add = completion::ended_agents())]
    ids: Vec<InstanceId>,
    /// Only show what would be removed
    #[arg(long)]
    dry_run: bool,
    /// Delete the work of these agents too, also what exists nowhere else; asks once
    #[arg(long, requires = "ids", conflicts_with = "dry_run")]
    discard: bool,
    /// Do not ask before deleting
    #[arg(long, short, requires = "discard")]
    yes: bool,
}

pub(crate) async fn clean(args: &CleanArgs, output: Output) -> Result<(), Failure> {
    let context = command_context::open(output).await?;
    let mode = if args.dry_run {
        CleanMode::Preview
    } else {
        CleanMode::Remove
    };
    let ids = several::find(&context, &args.ids).await?;
    if args.discard {
        workflow::check_ended(&context, &ids).await?;
        return discard(&context, &ids, args.yes, output).await;
    }
    let (run, progress) = Progress::start(output);
    let record = EventRecord::begin("clean", json!({ "ids": ids, "dryRun": args.dry_run }));
    let result = workflow::clean(&context, &run, mode, &ids).await;
    progress.finish(&result);
    let summary = |cleaned: &Vec<_>| json!({ "items": cleaned.len() });
    // A preview changes nothing, so it is not recorded.
    if !args.dry_run && result.as_ref().map_or(true, |cleaned| !cleaned.is_empty()) {
        record
            .end(&context, &run, None, &result, summary, output)
            .await;
    }
    let cleaned = result?;
    if output.is_json() {
        return output.document(&cleaned);
    }
    if cleaned.is_empty() {
        return output.print("There is nothing to clean.\n");
    }
    for item in &cleaned {
        // Without --dry-run the text itself says what was done.
        let word = match (args.dry_run, item.kept) {
            (true, true) => "would keep ",
            (true, false) => "would remove ",
            (false, _) => "",
        };
        let style = if item.kept { WARNING } else { PLAIN };
        let what = harmless(&item.what);
        output.print(&format!(
            "{NAME}{}{NAME:#}: {style}{word}{what}{style:#}\n",
            item.id
        ))?;
    }
    Ok(())
}

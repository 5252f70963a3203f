//! `claude-codex clean`

use clap::Args;
use serde_json::json;
use shared::workflow;

use crate::failure::Failure;
use crate::output::{NAME, Output, PLAIN, WARNING};
use crate::progress::Progress;
use crate::session::{self, Record};
use crate::text::harmless;

const EXAMPLES: &str = "\
Examples:
  claude-codex clean --dry-run        what would be removed
  claude-codex clean                  remove worktrees, branches, sessions and files of ended agents

Uncommitted and unpushed work is kept, and named.";

/// Remove what ended agents left behind, but never unsaved work
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CleanArgs {
    /// Only say what would be removed
    #[arg(long)]
    dry_run: bool,
}

pub(crate) async fn clean(args: &CleanArgs, output: Output) -> Result<(), Failure> {
    let context = session::open(output).await?;
    let (run, progress) = Progress::start(output);
    let record = Record::begin("clean", json!({ "dryRun": args.dry_run }));
    let result = workflow::clean(&context, &run, args.dry_run).await;
    progress.finish(&result);
    let summary = |cleaned: &Vec<_>| json!({ "items": cleaned.len() });
    // Looking changes nothing and is not worth a row.
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
        // What was really done says so itself.
        let word = match (args.dry_run, item.kept) {
            (true, true) => "would keep ",
            (true, false) => "would remove ",
            (false, _) => "",
        };
        let style = if item.kept { WARNING } else { PLAIN };
        let what = harmless(&item.what);
        output.print(&format!(
            "{NAME}{}{NAME:#}: {style}{word}{what}{style:#}
",
            item.id
        ))?;
    }
    Ok(())
}

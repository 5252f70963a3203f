//! `claude-codex resume`

use clap::Args;
use serde_json::json;
use shared::model::{Instance, InstanceId};
use shared::workflow;

use super::code::next_steps;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Progress;
use crate::session::{self, Record};

const EXAMPLES: &str = "\
Examples:
  claude-codex resume work-42-a1      it goes on where its conversation ended";

/// Bring a failed or stopped agent back, with its worktree and its conversation
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ResumeArgs {
    /// The agent
    id: InstanceId,
}

pub(crate) async fn resume(args: &ResumeArgs, output: Output) -> Result<(), Failure> {
    let context = session::open(output).await?;
    let (run, progress) = Progress::start(output);
    let record = Record::begin("resume", json!({ "id": args.id }));
    let result = workflow::resume(&context, &run, &args.id).await;
    progress.finish(&result);
    let summary = |instance: &Instance| json!({ "status": instance.status });
    record
        .end(&context, &run, Some(&args.id), &result, summary, output)
        .await;
    let instance = result?;
    if output.is_json() {
        return output.document(&instance);
    }
    output.print(&next_steps(&instance))
}

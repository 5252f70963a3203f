//! `claude-codex review`

use clap::Args;
use serde_json::json;
use shared::model::InstanceId;
use shared::workflow::{self, RunningReview};

use super::started::next_steps;
use crate::command_context::{self, EventRecord};
use crate::completion;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Progress;

/// The description that a coder would otherwise write.
const DESCRIPTION: &str = "A person asked for this review; the coder has not described the work.";

const EXAMPLES: &str = "\
Examples:
  claude-codex review work-42-a1";

/// Launch a reviewer for the work that a coding agent has committed so far
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReviewArgs {
    /// The id of the coding agent, or a unique beginning of it
    #[arg(value_name = "INSTANCE", add = completion::reviewable_agents())]
    id: InstanceId,
}

pub(crate) async fn review(args: &ReviewArgs, output: Output) -> Result<(), Failure> {
    let context = command_context::open(output).await?;
    let id = &workflow::find_instance(&context, &args.id).await?;
    let (run, progress) = Progress::start(output);
    let record = EventRecord::begin("review", json!({ "id": id }));
    let result = workflow::request_review(&context, &run, id, DESCRIPTION).await;
    progress.finish(&result);
    let summary = |review: &RunningReview| json!({ "reviewInstanceId": review.reviewer.id });
    record
        .end(&context, &run, Some(id), &result, summary, output)
        .await;
    let reviewer = result?.reviewer;
    if output.is_json() {
        return output.document(&reviewer);
    }
    output.print(&next_steps(&context, &reviewer).await?)
}

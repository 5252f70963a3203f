//! `claude-codex review`

use clap::Args;
use serde_json::json;
use shared::model::InstanceId;
use shared::workflow::{self, RunningReview};

use super::code::next_steps;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Progress;
use crate::session::{self, Record};

/// What stands in place of a coder's own words.
const DESCRIPTION: &str = "A person asked for this review; the coder has said nothing about it.";

const EXAMPLES: &str = "\
Examples:
  claude-codex review work-42-a1";

/// Launch a review of what a coding agent has done so far
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReviewArgs {
    /// The coding agent
    #[arg(value_name = "INSTANCE")]
    id: InstanceId,
}

pub(crate) async fn review(args: &ReviewArgs, output: Output) -> Result<(), Failure> {
    let context = session::open(output).await?;
    let (run, progress) = Progress::start(output);
    let record = Record::begin("review", json!({ "id": args.id }));
    let result = workflow::request_review(&context, &run, &args.id, DESCRIPTION).await;
    progress.finish(&result);
    let summary = |review: &RunningReview| json!({ "reviewInstanceId": review.reviewer.id });
    record
        .end(&context, &run, Some(&args.id), &result, summary, output)
        .await;
    let reviewer = result?.reviewer;
    if output.is_json() {
        return output.document(&reviewer);
    }
    output.print(&next_steps(&reviewer))
}

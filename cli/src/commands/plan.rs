//! `claude-codex plan`

use clap::Args;
use shared::model::InstanceKind;
use shared::workflow::LaunchRequest;

use super::code::{launch, read_prompt};
use crate::failure::Failure;
use crate::output::Output;
use crate::session;

const EXAMPLES: &str = "\
Examples:
  claude-codex plan \"Split the monolith into services\"
  claude-codex plan - < goals.md               the prompt from standard input
  claude-codex plan                            what should be done next?";

/// What a planner is asked when nobody says more.
const DEFAULT_PROMPT: &str =
    "Look at this repository as a whole and plan the work that should come next.";

/// Launch a planning agent, which looks at the repository and makes tasks
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PlanArgs {
    /// What is to be planned; `-` reads it from standard input
    prompt: Option<String>,
}

pub(crate) async fn plan(args: PlanArgs, output: Output) -> Result<(), Failure> {
    let prompt = match args.prompt {
        Some(given) => read_prompt(given)?,
        None => DEFAULT_PROMPT.to_owned(),
    };
    let context = session::open(output).await?;
    let request = LaunchRequest {
        kind: InstanceKind::Planning,
        prompt,
        issue: None,
        task: None,
        base: None,
        branch: None,
        require_review: None,
        max_reviews: None,
    };
    launch(&context, "plan", request, output).await
}

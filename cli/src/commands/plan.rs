//! `claude-codex plan`

use clap::Args;
use shared::model::InstanceKind;
use shared::workflow::LaunchRequest;

use super::code::{launch, read_prompt};
use crate::command_context;
use crate::failure::Failure;
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  claude-codex plan \"Split the monolith into services\"
  claude-codex plan - < goals.md               read the prompt from standard input
  claude-codex plan                            plan what should come next";

/// Launch a planning agent, which analyses the repository and creates tasks
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PlanArgs {
    /// What to plan; `-` reads it from standard input
    prompt: Option<String>,
}

pub(crate) async fn plan(args: PlanArgs, output: Output) -> Result<(), Failure> {
    let prompt = args.prompt.map(read_prompt).transpose()?;
    let context = command_context::open(output).await?;
    let request = LaunchRequest {
        prompt,
        ..LaunchRequest::new(InstanceKind::Planning)
    };
    launch(&context, "plan", request, output).await
}

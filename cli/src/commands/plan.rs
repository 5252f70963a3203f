//! `claude-codex plan`

use clap::Args;
use shared::model::InstanceKind;
use shared::workflow::{self, Order};

use super::code::{launch, read_prompt};
use crate::failure::Failure;
use crate::output::Output;
use crate::session;

const EXAMPLES: &str = "\
Examples:
  claude-codex plan \"Split the monolith into services\"
  claude-codex plan - < goals.md               the prompt from standard input
  claude-codex plan                            what should be done next?";

/// Launch a planning agent, which looks at the repository and makes tasks
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PlanArgs {
    /// What is to be planned; `-` reads it from standard input
    prompt: Option<String>,
}

pub(crate) async fn plan(args: PlanArgs, output: Output) -> Result<(), Failure> {
    let prompt = args.prompt.map(read_prompt).transpose()?;
    let context = session::open(output).await?;
    let order = Order {
        prompt,
        ..Order::of(InstanceKind::Planning)
    };
    let request = workflow::prepare(&context, order).await?;
    launch(&context, "plan", request, output).await
}

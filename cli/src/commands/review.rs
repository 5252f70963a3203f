//! `claude-codex review`

use clap::Args;
use shared::error::{Code, Error};
use shared::model::InstanceId;

use crate::failure::Failure;
use crate::output::Output;
use crate::session;

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
    let id = args.id.clone();
    context.store.read(move |r| r.instance(&id)).await?;
    Err(
        Error::new(Code::NotAvailable, "this version can't launch reviews")
            .hint("Update Claude Codex.")
            .into(),
    )
}

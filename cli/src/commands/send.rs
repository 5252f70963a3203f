//! `claude-codex send`

use clap::Args;
use shared::error::{Code, Error};
use shared::model::InstanceId;

use super::code::read_prompt;
use crate::failure::Failure;
use crate::output::Output;
use crate::session;

const EXAMPLES: &str = "\
Examples:
  claude-codex send work-42-a1 \"Use the new API instead\"
  claude-codex send work-42-a1 - < notes.md";

/// Hand a text to an agent, as soon as it can take it
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SendArgs {
    /// The agent
    id: InstanceId,
    /// What to tell it; `-` reads it from standard input
    text: String,
}

pub(crate) async fn send(args: &SendArgs, output: Output) -> Result<(), Failure> {
    read_prompt(args.text.clone())?;
    let context = session::open(output).await?;
    let id = args.id.clone();
    context.store.read(move |r| r.instance(&id)).await?;
    let attach = format!("Type it yourself: claude-codex attach {}.", args.id);
    Err(Error::new(
        Code::NotAvailable,
        "this version can't hand texts to agents",
    )
    .hint(attach)
    .into())
}

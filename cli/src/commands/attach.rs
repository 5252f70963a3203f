//! `claude-codex attach`

use std::io::{self, IsTerminal};
use std::os::unix::process::CommandExt;
use std::process::Command;

use clap::Args;
use shared::error::{Code, Error};
use shared::model::InstanceId;
use shared::workflow;

use crate::failure::Failure;
use crate::output::Output;
use crate::session;

const EXAMPLES: &str = "\
Examples:
  claude-codex attach work-42-a1      look over its shoulder, or answer its question

Ctrl-b d leaves; the agent goes on.";

/// Show an agent's terminal in this one
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AttachArgs {
    /// The agent
    id: InstanceId,
}

pub(crate) async fn attach(args: &AttachArgs, output: Output) -> Result<(), Failure> {
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        return Err(
            Error::new(Code::InvalidArguments, "attach needs a terminal")
                .hint("`claude-codex logs ID` prints what the agent's terminal shows.")
                .into(),
        );
    }
    let context = session::open(output).await?;
    let id = args.id.clone();
    let instance = context.store.read(move |r| r.instance(&id)).await?;
    let command = workflow::attach_argv(&context, &instance)?;
    let Some((program, arguments)) = command.split_first() else {
        return Err(Error::new(Code::Internal, "there is nothing to run").into());
    };
    let error = Command::new(program).args(arguments).exec();
    Err(Error::new(
        Code::TmuxMissing,
        format!("cannot start {}: {error}", program.to_string_lossy()),
    )
    .into())
}

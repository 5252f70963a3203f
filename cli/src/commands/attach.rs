//! `claude-codex attach`

use std::io::{self, IsTerminal};
use std::os::unix::process::CommandExt;
use std::process::Command;

use clap::Args;
use shared::error::{Code, Error};
use shared::model::InstanceId;
use shared::workflow;

use crate::command_context;
use crate::completion;
use crate::failure::Failure;
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  claude-codex attach work-42-a1      watch it, or answer its question

Ctrl-b d detaches; the agent keeps working.";

/// Show an agent's terminal in this one
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AttachArgs {
    /// The id of the agent, or a unique beginning of it
    #[arg(add = completion::live_agents())]
    id: InstanceId,
}

pub(crate) async fn attach(args: &AttachArgs, output: Output) -> Result<(), Failure> {
    let context = command_context::open(output).await?;
    let id = workflow::find_instance(&context, &args.id).await?;
    let instance = context.store.read(move |r| r.instance(&id)).await?;
    workflow::check_terminal(&context, &instance).await?;
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        return Err(
            Error::new(Code::InvalidArguments, "attach needs a terminal")
                .hint(format!(
                    "`claude-codex logs {}` prints the contents of the agent's terminal.",
                    instance.id
                ))
                .into(),
        );
    }
    let command = workflow::attach_argv(&context, &instance)?;
    let Some((program, arguments)) = command.split_first() else {
        return Err(Error::new(Code::Internal, "the attach command is empty").into());
    };
    let error = Command::new(program).args(arguments).exec();
    Err(Error::new(
        Code::TmuxMissing,
        format!("cannot start {}: {error}", program.to_string_lossy()),
    )
    .into())
}

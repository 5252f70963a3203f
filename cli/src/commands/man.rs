//! `claude-codex man`, for packagers.

use clap::Args;
use shared::error::Error;

use crate::failure::Failure;
use crate::output::Output;

/// Print the man page of the program, or of one command
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    command: Option<String>,
}

pub(crate) async fn man(args: &ManArgs, mut program: clap::Command) -> Result<(), Failure> {
    program.build();
    let command = match &args.command {
        None => program,
        Some(name) => {
            let found = program.find_subcommand(name).cloned();
            found.ok_or_else(|| Error::argument("COMMAND", "is not a command"))?
        }
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    Output::new(false).print(&String::from_utf8_lossy(&page))
}

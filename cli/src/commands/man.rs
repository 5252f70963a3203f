//! `claude-codex man`, for those who make packages.

use clap::{Args, CommandFactory};
use shared::error::Error;

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::output::Output;

/// Print the man page of the program, or of one command
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    command: Option<String>,
}

pub(crate) fn man(args: &ManArgs) -> Result<(), Failure> {
    let mut program = Arguments::command();
    program.build();
    let command = match &args.command {
        None => program,
        Some(name) => {
            let found = program.find_subcommand(name).cloned();
            found.ok_or_else(|| Error::argument("COMMAND", "is not one"))?
        }
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    Output::new(false).print(&String::from_utf8_lossy(&page))
}

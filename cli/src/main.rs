//! The `claude-codex` program: parses arguments, runs the command, prints the error and its hint.

mod agent_log;
mod arguments;
mod atomic_write;
mod board_table;
mod command_context;
mod commands;
mod completion;
mod demo;
mod failure;
#[cfg(test)]
mod hint_commands;
mod live_region;
mod output;
mod progress;
mod server_paths;
mod table;
mod text;

use std::process::ExitCode;

use arguments::{Arguments, Command};
use clap::{CommandFactory, Parser};
use failure::Failure;
use output::Output;
use shared::error::{Code, Error};

fn main() -> ExitCode {
    // Hooks come first: exit code 2, which the parser returns for wrong usage, would block an agent.
    if std::env::args_os()
        .nth(1)
        .is_some_and(|word| word == "hook")
    {
        return commands::hook::hook();
    }
    if let Some(exit) = completion::answer(Arguments::command) {
        return exit;
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return output::usage(&error),
    };
    let output = Output::new(arguments.json);
    match run(arguments.command, output) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => output.failure(&failure),
    }
}

fn run(command: Command, output: Output) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| Error::new(Code::Internal, format!("cannot start: {source}")))?;
    runtime.block_on(command.run(output))
}

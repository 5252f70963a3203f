//! The command line: parse, dispatch, print the error and its hint.

mod action_lines;
mod arguments;
mod commands;
mod demo;
mod failure;
mod file;
mod live;
mod output;
mod progress;
mod servers;
mod session;
mod table;
mod text;
mod time;

use std::process::ExitCode;

use arguments::{Arguments, Command};
use clap::Parser;
use failure::Failure;
use output::Output;
use shared::error::{Code, Error};

fn main() -> ExitCode {
    // Before all else: the status that a parser gives for wrong usage, 2, would block an agent.
    if std::env::args_os()
        .nth(1)
        .is_some_and(|word| word == "hook")
    {
        return commands::hook::hook();
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return output::usage(&error),
    };
    let output = Output::new(arguments.json);
    match dispatch(arguments.command, output) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => output.failure(&failure),
    }
}

fn dispatch(command: Command, output: Output) -> Result<(), Failure> {
    match command {
        Command::Completions(args) => return commands::completions::completions(&args),
        Command::Man(args) => return commands::man::man(&args),
        Command::DemoAgent(args) => return demo::demo_agent(&args),
        Command::StartAgent(args) => return commands::start_agent::start_agent(&args),
        Command::Backup(args) => return commands::backup::backup(args, output),
        Command::Restore(args) => return commands::restore::restore(&args, output),
        // Answered in `main`; here only for `--help`.
        Command::Hook(_) => return Ok(()),
        Command::Attach(_)
        | Command::Clean(_)
        | Command::Code(_)
        | Command::Config(_)
        | Command::Dashboard(_)
        | Command::Demo(_)
        | Command::Doctor(_)
        | Command::Events(_)
        | Command::ExecAgent(_)
        | Command::FinishInstance(_)
        | Command::HostAgent(_)
        | Command::Init(_)
        | Command::List(_)
        | Command::Logs(_)
        | Command::Phase(_)
        | Command::Plan(_)
        | Command::Pr(_)
        | Command::Resume(_)
        | Command::Review(_)
        | Command::Send(_)
        | Command::Show(_)
        | Command::Stop(_)
        | Command::Sync(_)
        | Command::Tasks(_)
        | Command::Tdd(_)
        | Command::Trust(_) => {}
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| Error::new(Code::Internal, format!("cannot begin: {source}")))?;
    runtime.block_on(dispatch_async(command, output))
}

async fn dispatch_async(command: Command, output: Output) -> Result<(), Failure> {
    match command {
        Command::Attach(args) => commands::attach::attach(&args, output).await,
        Command::Clean(args) => commands::clean::clean(&args, output).await,
        Command::Code(args) => commands::code::code(args, output).await,
        Command::Config(_) => commands::config::config(output).await,
        Command::Dashboard(args) => commands::dashboard::dashboard(args, output).await,
        Command::Demo(args) => demo::demo(&args, output).await,
        Command::Doctor(arguments) => commands::doctor::doctor(&arguments, output).await,
        Command::Events(args) => commands::events::events(args, output).await,
        Command::ExecAgent(args) => commands::exec_agent::exec_agent(&args).await,
        Command::FinishInstance(args) => commands::finish_instance::finish_instance(&args).await,
        Command::HostAgent(args) => commands::host_agent::host_agent(&args, output).await,
        Command::Init(args) => commands::init::init(&args, output).await,
        Command::List(args) => commands::list::list(&args, output).await,
        Command::Logs(args) => commands::logs::logs(&args, output).await,
        Command::Phase(args) => commands::phase::phase(&args, output).await,
        Command::Plan(args) => commands::plan::plan(args, output).await,
        Command::Pr(args) => commands::pr::pr(&args, output).await,
        Command::Resume(args) => commands::resume::resume(&args, output).await,
        Command::Review(args) => commands::review::review(&args, output).await,
        Command::Send(args) => commands::send::send(&args, output).await,
        Command::Show(args) => commands::show::show(&args, output).await,
        Command::Stop(args) => commands::stop::stop(&args, output).await,
        Command::Sync(_) => commands::sync::sync(output).await,
        Command::Tasks(args) => commands::tasks::tasks(&args, output).await,
        Command::Tdd(args) => commands::tdd::tdd(args, output).await,
        Command::Trust(args) => commands::trust::trust(&args, output).await,
        Command::Backup(_)
        | Command::Completions(_)
        | Command::DemoAgent(_)
        | Command::Hook(_)
        | Command::Man(_)
        | Command::Restore(_)
        | Command::StartAgent(_) => Ok(()),
    }
}

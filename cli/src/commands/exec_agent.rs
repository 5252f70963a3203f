//! `claude-codex exec-agent`: becomes the agent that a launch file describes.
//!
//! A terminal session runs this, because a tmux command line is short and readable by others; the
//! file is neither.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use shared::agent::{FROM_THE_PANE, Launch};
use shared::config::Environment;
use shared::error::{Code, Error};

use crate::failure::Failure;

/// Become the agent that a launch file describes
#[derive(Debug, Args)]
pub(crate) struct ExecAgentArgs {
    file: PathBuf,
}

pub(crate) fn exec_agent(args: &ExecAgentArgs) -> Result<(), Failure> {
    let launch = Launch::take(&args.file).map_err(Error::from)?;
    let Some((program, arguments)) = launch.argv.split_first() else {
        return Err(failed(&args.file, "names no program").into());
    };
    if !launch.directory.is_dir() {
        let problem = format!(
            "names the folder {}, which is gone",
            launch.directory.display()
        );
        return Err(failed(&args.file, &problem).into());
    }
    let environment = Environment::of_process();
    let pane = FROM_THE_PANE
        .iter()
        .filter_map(|name| Some((*name, environment.get(name)?)));
    let error = Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(&launch.environment)
        .envs(pane)
        .current_dir(&launch.directory)
        .exec();
    let message = format!("cannot start the agent `{program}`: {error}");
    Err(Error::new(Code::AgentFailed, message)
        .hint("Correct agent.command or CODEX_AGENT_COMMAND, then `claude-codex resume ID`.")
        .into())
}

fn failed(file: &Path, problem: &str) -> Error {
    Error::new(
        Code::AgentFailed,
        format!("the launch file {} {problem}", file.display()),
    )
}

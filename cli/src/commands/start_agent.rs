//! `claude-codex start-agent`: waits until its process group is in the foreground of the terminal, then execs the agent.
//!
//! Only the parent can put a group into the foreground, and only after the group exists. A program that reads from the
//! terminal before that gets EIO, because a session without a shell has no job control.

use std::ffi::OsString;
use std::io::{IsTerminal, stdin};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::{Duration, Instant};

use clap::Args;
use shared::error::{Code, Error};

use crate::failure::Failure;

/// A parent that has died or lost its terminal never puts us into the foreground.
const FOREGROUND_TIMEOUT: Duration = Duration::from_secs(5);
const POLL_INTERVAL: Duration = Duration::from_micros(500);

/// Exec an agent (started by exec-agent)
#[derive(Debug, Args)]
pub(crate) struct StartAgentArgs {
    program: OsString,
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

pub(crate) async fn start_agent(args: &StartAgentArgs) -> Result<(), Failure> {
    let deadline = Instant::now() + FOREGROUND_TIMEOUT;
    while stdin().is_terminal() && !is_in_foreground() && Instant::now() < deadline {
        std::thread::sleep(POLL_INTERVAL);
    }
    let error = Command::new(&args.program).args(&args.arguments).exec();
    let message = format!(
        "cannot start the agent `{}`: {error}",
        args.program.display()
    );
    let hint = "Correct agent.command or CODEX_AGENT_COMMAND, then start the agent again.";
    Err(Error::new(Code::AgentFailed, message).hint(hint).into())
}

fn is_in_foreground() -> bool {
    rustix::termios::tcgetpgrp(stdin()).is_ok_and(|group| group == rustix::process::getpgrp())
}

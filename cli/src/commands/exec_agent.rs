//! `claude-codex exec-agent`: runs the agent that a launch file describes, and ends what it leaves.
//!
//! A terminal session runs this, because a tmux command line is short and readable by others; the
//! file is neither. The agent gets a process group of its own in the foreground of the terminal, so that
//! keys, resizes and hang-ups reach it as if it were alone. Whatever it starts and abandons becomes a
//! child of this process, which ends it when the agent has ended.

use std::io::stdin;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use clap::Args;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, kill_process_group};
use shared::agent::{DETACHED, FROM_THE_PANE, LAUNCH_ID, Launch};
use shared::config::Environment;
use shared::error::{Code, Error};
use shared::process::{self, Family, Grace};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, sleep_until};

use crate::failure::Failure;

/// What an agent leaves may end by itself so long (its servers do), then gets SIGTERM, then SIGKILL.
const LEFTOVERS: Grace = Grace {
    unasked: Duration::from_millis(500),
    asked: Duration::from_secs(1),
};
/// The terminal hangs up on the foreground group by itself; this is for an agent that is not in it.
const HANG_UP: [(Duration, Signal); 3] = [
    (Duration::from_millis(200), Signal::HUP),
    (Duration::from_secs(2), Signal::TERM),
    (Duration::from_secs(1), Signal::KILL),
];

/// Run the agent that a launch file describes
#[derive(Debug, Args)]
pub(crate) struct ExecAgentArgs {
    file: PathBuf,
}

pub(crate) async fn exec_agent(args: &ExecAgentArgs) -> Result<(), Failure> {
    let launch = Launch::take(&args.file).map_err(Error::from)?;
    if launch.argv.is_empty() {
        return Err(failed(&args.file, "names no program").into());
    }
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
    process::adopt_orphans();
    let kinds = [
        SignalKind::child(),
        SignalKind::hangup(),
        SignalKind::terminate(),
        // Only taken, so that they don't end us: keys reach the agent alone.
        SignalKind::interrupt(),
        SignalKind::quit(),
    ];
    let [
        Ok(mut child),
        Ok(mut hangup),
        Ok(mut terminate),
        _int,
        _quit,
    ] = kinds.map(signal)
    else {
        return Err(failed(&args.file, "can't be run: no signals can be had").into());
    };
    let Some(own_program) = environment.own_program("claude-codex") else {
        return Err(failed(&args.file, "can't be run: `claude-codex` is gone").into());
    };
    let spawned = Command::new(own_program)
        .arg("start-agent")
        .args(&launch.argv)
        .env_clear()
        .envs(&launch.environment)
        .envs(pane)
        .current_dir(&launch.directory)
        .process_group(0)
        .spawn();
    let agent = spawned.map_err(|error| failed(&args.file, &format!("can't be run: {error}")))?;
    let Some(agent) = Pid::from_raw(agent.id().cast_signed()) else {
        return Err(failed(&args.file, "gave an agent without a process id").into());
    };
    // Without a terminal there is no foreground.
    let _ = rustix::termios::tcsetpgrp(stdin(), agent);

    let mut steps = HANG_UP.into_iter();
    let mut next: Option<(Instant, Signal)> = None;
    let after = |step: Option<(Duration, Signal)>| {
        step.map(|(time, signal)| (Instant::now() + time, signal))
    };
    let status = loop {
        if let Some(status) = reap(agent) {
            break status;
        }
        let wait = async {
            match next {
                Some((at, signal)) => {
                    sleep_until(at).await;
                    signal
                }
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = child.recv() => {}
            _ = hangup.recv() => {
                if next.is_none() {
                    next = after(steps.next());
                }
            }
            _ = terminate.recv() => {
                let _ = kill_process(agent, Signal::TERM);
            }
            signal = wait => {
                let _ = kill_process_group(agent, signal);
                next = after(steps.next());
            }
        }
    };
    end_leftovers(&environment).await;
    // As a shell says it.
    let code = status
        .exit_status()
        .or(status.terminating_signal().map(|signal| 128 + signal))
        .unwrap_or(1);
    std::process::exit(code)
}

/// Ends what the agent has started and left behind.
pub(super) async fn end_leftovers(environment: &Environment) {
    let family = Family {
        roots: vec![std::process::id()],
        variable: LAUNCH_ID,
        mark: environment.get(LAUNCH_ID),
        spared: DETACHED,
    };
    let found = family.members();
    family.end(found, LEFTOVERS).await;
    // Not every container has an `init` that would do it.
    while let Ok(Some(_)) = rustix::process::wait(WaitOptions::NOHANG) {}
}

/// Waits for children that have ended, and returns how the agent did.
///
/// One that was stopped goes on: there is no shell here that could continue it.
fn reap(agent: Pid) -> Option<WaitStatus> {
    let options = WaitOptions::NOHANG | WaitOptions::UNTRACED;
    while let Ok(Some((pid, status))) = rustix::process::wait(options) {
        if pid == agent && status.stopped() {
            let _ = kill_process_group(agent, Signal::CONT);
        } else if pid == agent {
            return Some(status);
        }
    }
    None
}

fn failed(file: &Path, problem: &str) -> Error {
    Error::new(
        Code::AgentFailed,
        format!("the launch file {} {problem}", file.display()),
    )
}

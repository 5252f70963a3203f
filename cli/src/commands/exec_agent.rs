//! `claude-codex exec-agent`: runs the agent of a launch file, and ends the processes it leaves behind.
//!
//! The tmux session runs this instead of the agent itself, because a tmux command line is limited in length and readable by
//! other users; the file is neither. The agent gets its own process group in the foreground of the terminal, so keys,
//! resizes and hang-ups reach it directly. Its orphaned processes are reparented to this process (subreaper), which ends
//! them when the agent has ended.

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
use shared::workflow::notify_in_background;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, sleep_until};

use crate::agent_log::log_problem;
use crate::failure::Failure;

/// Processes left behind get time to exit (its servers do), then SIGTERM, then SIGKILL.
const LEFTOVERS: Grace = Grace {
    unasked: Duration::from_millis(500),
    asked: Duration::from_secs(1),
};
/// The terminal hangs up on its foreground group by itself; this is for an agent outside of it.
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
    let environment = Environment::current();
    let pane = FROM_THE_PANE
        .iter()
        .filter_map(|name| Some((*name, environment.get(name)?)));
    process::adopt_orphans();
    let kinds = [
        SignalKind::child(),
        SignalKind::hangup(),
        SignalKind::terminate(),
        // Caught only so that they do not end this process: keys are for the agent.
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
        return Err(failed(
            &args.file,
            "cannot be run: signal handlers cannot be installed",
        )
        .into());
    };
    let Some(own_program) = environment.own_program("claude-codex") else {
        return Err(failed(&args.file, "cannot be run: `claude-codex` was not found").into());
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
    let agent = spawned.map_err(|error| failed(&args.file, &format!("cannot be run: {error}")))?;
    let Some(agent) = Pid::from_raw(agent.id().cast_signed()) else {
        return Err(failed(&args.file, "started an agent without a process id").into());
    };
    // Fails without a terminal, where there is no foreground group.
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
    tell_of_end(&environment, &launch);
    // The exit code that a shell would report.
    let code = status
        .exit_status()
        .or(status.terminating_signal().map(|signal| 128 + signal))
        .unwrap_or(1);
    std::process::exit(code)
}

/// Has the person told if the agent was not done: nobody else may look for hours.
fn tell_of_end(environment: &Environment, launch: &Launch) {
    let ours = launch.environment.iter();
    let environment = environment
        .clone()
        .with(ours.map(|(name, value)| (name.as_str(), value.clone())));
    let Ok(Some(id)) = environment.instance_id() else {
        return;
    };
    if let Err(error) = notify_in_background(&environment, Some(&id)) {
        log_problem(&environment, id.as_str(), &error.to_string());
    }
}

/// Ends the processes that the agent has started and left behind.
pub(super) async fn end_leftovers(environment: &Environment) {
    let family = Family {
        roots: vec![std::process::id()],
        variable: LAUNCH_ID,
        mark: environment.get(LAUNCH_ID),
        spared: DETACHED,
    };
    let found = family.members();
    family.end(found, LEFTOVERS).await;
    // Reap them here: not every container has an `init` that does.
    while let Ok(Some(_)) = rustix::process::wait(WaitOptions::NOHANG) {}
}

/// Reaps children that have ended, and returns the status of the agent if it is among them.
///
/// An agent that was stopped (Ctrl-Z) is continued, because no shell here could do that.
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

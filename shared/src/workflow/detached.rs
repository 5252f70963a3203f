//! Detached processes of ours, which outlive whoever starts them: `notify`, `finish-instance`, TDD runs.

use std::path::Path;
use std::process::{Child, Stdio};

use crate::agent;
use crate::config::{Config, Environment};
use crate::error::{Code, Error};
use crate::model::InstanceId;

/// Starts a command of ours in its own process group without standard streams, so that it outlives this process.
pub(super) fn start_detached(
    environment: &Environment,
    arguments: &[&str],
    folder: &Path,
) -> Result<Child, Error> {
    let program = environment.own_program("claude-codex").ok_or_else(|| {
        Error::new(
            Code::ServerMissing,
            "`claude-codex` is neither beside this program nor on PATH",
        )
        .hint("Install claude-codex and its three servers into one folder.")
    })?;
    let mut command = std::process::Command::new(&program);
    command
        .args(arguments)
        .env_clear()
        .envs(environment.variables())
        .env_remove("CODEX_INSTANCE_ID")
        .env_remove(agent::LAUNCH_ID)
        .env(agent::DETACHED, "1")
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn().map_err(|source| {
        Error::new(
            Code::AgentFailed,
            format!("{} can't be started: {source}", program.display()),
        )
    })
}

/// Starts a process that tells the person of what needs them, about one agent or all; nothing if they want no notifications.
pub fn notify_in_background(
    environment: &Environment,
    only: Option<&InstanceId>,
) -> Result<(), Error> {
    // Never by the settings of a repository: those of the person decide who is told and how.
    if !Config::load(environment, None, &[])?
        .settings
        .notify
        .is_wanted()
    {
        return Ok(());
    }
    let mut arguments = vec!["notify"];
    arguments.extend(only.map(InstanceId::as_str));
    let mut notifier = start_detached(environment, &arguments, Path::new("/"))?;
    // A dashboard lives long: what has ended must not stay in the process table.
    std::thread::spawn(move || notifier.wait());
    Ok(())
}

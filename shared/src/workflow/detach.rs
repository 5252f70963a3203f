//! Ending an agent from inside its own session: by a process that outlives it.

use std::path::Path;
use std::process::{Child, Stdio};

use super::finish::end;
use super::headless::{has_turn_under_way, tdd_run_of};
use super::terminal::claude_state;
use super::{Context, Run};
use crate::agent::{self, AgentState};
use crate::error::{Code, Error};
use crate::model::InstanceId;
use crate::process;

/// How long an agent may take to end its turn after its verdict.
const LAST_TURN: std::time::Duration = std::time::Duration::from_secs(20);
/// The least time an answer needs to get from a server to its agent.
const ANSWER: std::time::Duration = std::time::Duration::from_millis(500);

/// Starts a command of ours that goes on whatever becomes of this process: in a group of its own, with nobody listening.
pub(super) fn start_detached(
    context: &Context,
    arguments: &[&str],
    folder: &Path,
) -> Result<Child, Error> {
    let program = context.own_program("claude-codex")?;
    let mut command = std::process::Command::new(&program);
    command
        .args(arguments)
        .env_clear()
        .envs(context.environment.variables())
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

/// Starts a process of its own group that puts an agent away once its turn is over.
///
/// Killing the session kills the server that asks for it, so it can't do that itself.
pub(super) async fn finish_later(context: &Context, id: &InstanceId) -> Result<(), Error> {
    let arguments = ["finish-instance", id.as_str()];
    let child = start_detached(context, &arguments, Path::new("/")).map_err(|error| {
        Error::new(
            Code::AgentFailed,
            format!("cannot start the process that ends {id}: {}", error.message),
        )
        .hint("`claude-codex clean` puts it away.")
    })?;
    // From now on the row is that process's: if it dies, `reconcile` goes on.
    if let Some(owner) = process::mark(child.id()) {
        let id = id.clone();
        context
            .store
            .write(move |w| w.set_owner(&id, Some(&owner)))
            .await?;
    }
    Ok(())
}

/// Waits until the agent has had its answer, then puts it away.
pub async fn finish_when_done(context: &Context, id: &InstanceId) -> Result<(), Error> {
    let wanted = id.clone();
    let instance = context.store.read(move |r| r.instance(&wanted)).await?;
    tokio::time::sleep(ANSWER).await;
    if tdd_run_of(context, id).await?.is_some() {
        let deadline = tokio::time::Instant::now() + LAST_TURN;
        while has_turn_under_way(context, id)? && tokio::time::Instant::now() < deadline {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        end(context, &Run::unattended(), id, None, None).await?;
        return Ok(());
    }
    let deadline = tokio::time::Instant::now() + LAST_TURN;
    while claude_state(context, &instance)? == AgentState::Busy
        && tokio::time::Instant::now() < deadline
    {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    end(context, &Run::unattended(), id, None, None).await?;
    Ok(())
}

//! Early death: watches the first moments of a started agent, so that a launch whose agent dies at once fails and says why.

use std::time::Duration;

use tokio::time::Instant;

use super::ending::{details, read_ending};
use super::reconcile::reconcile_to_act;
use crate::error::{Code, Error};
use crate::model::ending::{ended_in_words, last_lines};
use crate::model::{Instance, InstanceId, ProcessMark, SessionMode};
use crate::process;
use crate::store::NewEnding;
use crate::tmux::{Life, PaneState};
use crate::workflow::Context;
use crate::workflow::instance::facts::session_name;

const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How long tmux gets to notice that the process in a pane has ended.
const NOTICE_TIMEOUT: Duration = Duration::from_secs(2);
/// How many lines of the screen the error says; its details have all.
const MAX_SHOWN_LINES: usize = 12;

/// Waits until the agent's server has connected or the time is up. An error if its program ends before that: it has failed.
///
/// A program of another kind that ends well has not: it may have done all that it was asked to.
pub(super) async fn watch_first_moments(
    context: &Context,
    instance: &Instance,
    agent: Option<&ProcessMark>,
) -> Result<(), Error> {
    let is_claude = instance.claude_session_id.is_some();
    let most = Duration::from_secs(context.settings().agent.start_timeout_seconds);
    // The turns of a headless agent say themselves how they ended.
    if most.is_zero() || instance.session_mode == SessionMode::Headless {
        return Ok(());
    }
    let deadline = Instant::now() + most;
    while agent.is_some_and(|agent| !process::has_ended(agent)) {
        if Instant::now() >= deadline || !is_awaited(context, instance).await? {
            return Ok(());
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    if !is_awaited(context, instance).await? {
        return Ok(());
    }
    let Some(pane) = pane_at_its_end(context, instance).await? else {
        return Ok(());
    };
    match pane.life {
        Life::Running => Ok(()),
        Life::Exited { status: 0 } if !is_claude => Ok(()),
        Life::Exited { .. } | Life::Killed { .. } | Life::Ended => {
            let ending = read_ending(context, instance, &pane).await?;
            Err(died(instance, &ending))
        }
    }
}

/// Returns the pane of an agent whose process has ended, once tmux has noticed it, too.
async fn pane_at_its_end(
    context: &Context,
    instance: &Instance,
) -> Result<Option<PaneState>, Error> {
    let (tmux, name) = (context.terminals(instance), session_name(instance)?);
    let deadline = Instant::now() + NOTICE_TIMEOUT;
    loop {
        let pane = tmux.pane(&name).await?;
        let is_late = pane.as_ref().is_some_and(|pane| pane.life == Life::Running);
        if !is_late || Instant::now() >= deadline {
            return Ok(pane);
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Returns an agent that was just started as it is now: one that has done all that it was asked to has ended already.
pub(super) async fn settled(context: &Context, id: &InstanceId) -> Result<Instance, Error> {
    let read = |wanted: InstanceId| context.store.read(move |r| r.instance(&wanted));
    let instance = read(id.clone()).await?;
    let has_ended = instance.agent.as_ref().is_some_and(process::has_ended);
    if !instance.status.is_live() || !has_ended {
        return Ok(instance);
    }
    pane_at_its_end(context, &instance).await?;
    // The next pass would do it, too: a failure must not fail what stands.
    if let Err(error) = Box::pin(reconcile_to_act(context)).await {
        tracing::warn!(instance = %id, %error, "an agent that has ended can't be put in order yet");
    }
    Ok(read(id.clone()).await?)
}

/// Tells whether nothing was heard of the agent: its server has not connected, and nobody has ended it.
async fn is_awaited(context: &Context, instance: &Instance) -> Result<bool, Error> {
    let (id, launch) = (instance.id.clone(), instance.launch_id.clone());
    let awaited = context.store.read(move |r| {
        let now = r.instance(&id)?;
        Ok(now.status.is_live() && now.server.is_none() && now.launch_id == launch)
    });
    Ok(awaited.await?)
}

fn died(instance: &Instance, ending: &NewEnding) -> Error {
    let how = match (ending.exit_status, ending.signal) {
        (None, None) => "ended".to_owned(),
        (status, signal) => ended_in_words(status, signal),
    };
    let told = last_lines(&ending.screen, MAX_SHOWN_LINES).join("\n");
    let message = if told.is_empty() {
        format!(
            "the agent of `{}` {how} right after its start, and said nothing",
            instance.id
        )
    } else {
        format!(
            "the agent of `{}` {how} right after its start; the last lines of its terminal:\n{told}",
            instance.id
        )
    };
    Error::new(Code::AgentFailed, message)
        .hint("Correct what the agent says, and try again; `claude-codex doctor` checks its program and login.")
        .details(details(ending))
}

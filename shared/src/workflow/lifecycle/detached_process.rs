//! Detached process that finishes an agent: a server inside the session would be killed together with it.

use std::path::Path;
use std::time::Duration;

use super::finish::finish;
use crate::agent::AgentState;
use crate::error::{Code, Error};
use crate::model::{InstanceId, SessionMode};
use crate::process;
use crate::workflow::detached::start_detached;
use crate::workflow::instance::headless::has_turn_under_way;
use crate::workflow::terminal::pane::claude_state;
use crate::workflow::{Context, Run};

const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// How long an agent may take to end its turn after its verdict.
const LAST_TURN_TIMEOUT: Duration = Duration::from_secs(20);
/// Time for a tool's reply to get from the server to its agent.
const ANSWER_GRACE: Duration = Duration::from_millis(500);

/// Starts a detached process that finishes an agent once its turn is over.
///
/// Killing the session would kill the calling server with it.
pub(crate) async fn finish_after_turn(context: &Context, id: &InstanceId) -> Result<(), Error> {
    let arguments = ["finish-instance", id.as_str()];
    let child =
        start_detached(&context.environment, &arguments, Path::new("/")).map_err(|error| {
            Error::new(
                Code::AgentFailed,
                format!("cannot start the process that ends {id}: {}", error.message),
            )
            .hint("`claude-codex clean` removes it.")
        })?;
    // That process owns the row from now on: if it dies, `reconcile` continues.
    if let Some(owner) = process::mark(child.id()) {
        let id = id.clone();
        context
            .store
            .write(move |w| w.set_owner(&id, Some(&owner)))
            .await?;
    }
    Ok(())
}

/// Waits until the agent has received the tool's reply and ended its turn, then finishes it.
pub async fn finish_when_idle(context: &Context, id: &InstanceId) -> Result<(), Error> {
    let wanted = id.clone();
    let instance = context.store.read(move |r| r.instance(&wanted)).await?;
    tokio::time::sleep(ANSWER_GRACE).await;
    let in_turn = || match instance.session_mode {
        SessionMode::Headless => has_turn_under_way(context, id),
        SessionMode::Interactive => Ok(claude_state(context, &instance)? == AgentState::Busy),
    };
    let deadline = tokio::time::Instant::now() + LAST_TURN_TIMEOUT;
    while in_turn()? && tokio::time::Instant::now() < deadline {
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    finish(context, &Run::unattended(), id, None, None).await?;
    Ok(())
}

//! Message delivery: at most one attempt at a time, no message lost, none typed twice.
//!
//! A message is marked as typed *before* it is typed, and as taken only on proof from the agent's side. A message in
//! state *typed* is never simply typed again: a deliverer first checks the transcript for it. `lease`: who may act,
//! `claude` and `other`: how, `settle`: what is recorded, `end_of_turn`: delivery by a Stop hook.

use std::time::Duration;

use super::proof::is_in_conversation;
use super::settle::{Delivery, Outcome, settle};
use super::{claude, other};
use crate::error::Error;
use crate::model::{InstanceId, MessageState, Origin};
use crate::process;
use crate::workflow::Context;
use crate::workflow::identity::adopt::in_present_session;
use crate::workflow::terminal::pane::{is_claude, with_present_session};

/// How long one pass delivers in place of dead servers, so that a command is not held up by a long queue.
const DEAD_SERVERS_TIMEOUT: Duration = Duration::from_secs(5);

/// Tries to deliver the oldest message that an instance is owed. Later ones wait, so that the order is kept.
pub async fn deliver(context: &Context, id: &InstanceId) -> Result<Delivery, Error> {
    let wanted = id.clone();
    let (instance, message) = context
        .store
        .read(move |r| Ok((r.instance(&wanted)?, r.next_message(&wanted)?)))
        .await?;
    let Some(message) = message else {
        return Ok(Delivery::Nothing);
    };
    let instance = match message.state {
        // A typed message can only be in the conversation that it was typed into, so the recorded session is the one to check.
        MessageState::Typed if is_in_conversation(context, &instance, &message).await? => instance,
        _ => {
            let instance = with_present_session(context, instance).await?;
            in_present_session(context, instance).await?
        }
    };
    let claude = is_claude(&instance);
    let outcome = match message.state {
        MessageState::Owed if claude => {
            Box::pin(claude::attempt(context, &instance, &message)).await?
        }
        MessageState::Owed => Box::pin(other::attempt(context, &instance, &message)).await?,
        MessageState::Typed if claude => {
            Box::pin(claude::recheck(context, &instance, &message)).await?
        }
        MessageState::Typed => Box::pin(other::recheck(context, &instance, &message)).await?,
        MessageState::Taken | MessageState::Unconfirmed | MessageState::Dropped => {
            Outcome::SomebodyElse
        }
    };
    settle(context, &instance, &message, outcome).await
}

/// Delivers to launched agents whose own server is dead or stopped: Claude Code does not restart a server.
///
/// Costs one query when nothing is owed. A message that cannot be delivered now waits for the next pass. Returns
/// whether anything was delivered.
pub async fn deliver_for_dead_servers(context: &Context) -> Result<bool, Error> {
    let began = tokio::time::Instant::now();
    let mut any = false;
    let owed = context
        .store
        .read(|r| {
            let ids = r.owed_instances()?;
            ids.iter()
                .map(|id| r.instance(id))
                .collect::<Result<Vec<_>, _>>()
        })
        .await?;
    for instance in owed {
        let served = instance.server.as_ref().is_some_and(process::is_running);
        if served || instance.origin != Origin::Launched || !instance.status.is_live() {
            continue;
        }
        while began.elapsed() < DEAD_SERVERS_TIMEOUT {
            match deliver(context, &instance.id).await {
                // There may be more.
                Ok(Delivery::Taken | Delivery::Unconfirmed) => any = true,
                Ok(Delivery::Nothing | Delivery::Waiting) => break,
                Err(error) => {
                    tracing::warn!(code = %error.code, %error, id = %instance.id, "cannot deliver for a dead server");
                    break;
                }
            }
        }
    }
    Ok(any)
}

//! Handing messages over: never lost, never twice, never typed where it does harm.
//!
//! A message is marked as typed *before* it is typed, and taken only on proof from the agent's side. In between,
//! whoever looks at it finds out what happened instead of typing again. `lease`: who may act, `claude` and `other`:
//! how, `settle`: what is written down, `end_of_turn`: what a Stop hook hands over.

mod claude;
mod end_of_turn;
mod lease;
mod other;
mod settle;

use std::time::Duration;

use super::Context;
use super::adopt::in_present_session;
use super::terminal::{claude_session, is_claude, with_present_session};
use crate::agent::{self, Found, TranscriptEnds};
use crate::error::Error;
use crate::model::{Instance, InstanceId, Message, MessageState, Origin};
use crate::process;
use crate::store::Reader;

pub use end_of_turn::take_at_end_of_turn;
use settle::{Outcome, settle};

/// How long a look at everything goes on handing over in place of dead servers.
const FOR_THE_UNSERVED: Duration = Duration::from_secs(5);

/// What became of the oldest message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// Nothing is owed.
    Nothing,
    Taken,
    /// It was typed, and nothing proves that the agent has it. It is not typed again.
    Unconfirmed,
    /// It waits; the row says for what.
    Waiting,
}

/// Tries to hand over the oldest message that an instance is owed.
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
        // What was typed is in the conversation that it was typed into, or nowhere.
        MessageState::Typed if is_in_conversation(context, &instance, &message).await? => instance,
        _ => {
            let instance = with_present_session(context, instance).await?;
            in_present_session(context, instance).await?
        }
    };
    let claude = is_claude(&instance);
    let outcome = match message.state {
        MessageState::Owed if claude => {
            Box::pin(claude::hand_over(context, &instance, &message)).await?
        }
        MessageState::Owed => Box::pin(other::hand_over(context, &instance, &message)).await?,
        MessageState::Typed if claude => {
            Box::pin(claude::look_again(context, &instance, &message)).await?
        }
        MessageState::Typed => Box::pin(other::look_again(context, &instance, &message)).await?,
        MessageState::Taken | MessageState::Unconfirmed | MessageState::Dropped => {
            Outcome::SomebodyElse
        }
    };
    settle(context, &instance, &message, outcome).await
}

/// Hands over to launched agents whose server is dead, because Claude Code does not start it again, or stopped.
///
/// Costs one query when nothing is owed. What can't be handed over now waits for the next look. Returns whether
/// anything was handed over.
pub async fn deliver_for_unserved(context: &Context) -> Result<bool, Error> {
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
        while began.elapsed() < FOR_THE_UNSERVED {
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

/// Tells whether the session has a transcript.
fn has_transcript(context: &Context, instance: &Instance) -> Result<bool, Error> {
    let Some(session) = claude_session(instance) else {
        return Ok(false);
    };
    let folder = context.claude_folder()?;
    Ok(agent::transcript_path(&folder, &instance.worktree_path, session).is_file())
}

/// Tells whether the session has written to its transcript since a message was handed over. One that does not write down what it is told
/// (`CLAUDE_CODE_SKIP_PROMPT_HISTORY`) may have a transcript of before.
async fn has_written_since(
    context: &Context,
    instance: &Instance,
    message: &Message,
) -> Result<bool, Error> {
    let Some(session) = claude_session(instance) else {
        return Ok(false);
    };
    let folder = context.claude_folder()?;
    let transcript = agent::transcript_path(&folder, &instance.worktree_path, session);
    let Some(ago) = agent::written_ago(&transcript) else {
        return Ok(false);
    };
    let id = message.id.clone();
    let is_newer = move |r: &Reader<'_>| r.typed_longer_ago(&id, ago.as_secs_f64());
    Ok(context.store.read(is_newer).await?)
}

/// Tells whether a message has reached the agent: in the session that it has now, or in one that it had when the message was
/// handed over. Dearer than [`is_in_conversation`]; to be asked before a message is typed again.
async fn has_arrived(
    context: &Context,
    instance: &Instance,
    message: &Message,
) -> Result<bool, Error> {
    let Some(session) = claude_session(instance) else {
        return Ok(false);
    };
    let folder = context.claude_folder()?;
    let transcript = agent::transcript_path(&folder, &instance.worktree_path, session);
    let (reader, needle) = (
        context.transcripts.clone(),
        agent::named_by(&message.body).to_owned(),
    );
    let id = message.id.clone();
    let ends = context.store.read(move |r| r.transcript_ends(&id)).await?;
    let looking = tokio::task::spawn_blocking(move || {
        if let Some(ends) = ends {
            reader.begin_at(&TranscriptEnds::parse(&ends), &needle);
        }
        reader.was_taken_here_or_before(&transcript, &needle)
    });
    // It ends early only with the whole runtime.
    Ok(looking.await.unwrap_or(Ok(false))?)
}

/// Returns where the agent's transcripts end now.
async fn transcript_ends(context: &Context, instance: &Instance) -> Result<Option<String>, Error> {
    let Some(session) = claude_session(instance) else {
        return Ok(None);
    };
    let (folder, worktree) = (context.claude_folder()?, instance.worktree_path.clone());
    let looking = tokio::task::spawn_blocking(move || {
        TranscriptEnds::now(&agent::transcript_path(&folder, &worktree, session)).to_text()
    });
    Ok(looking.await.ok())
}

/// Tells whether the model has, or gets with its next request, a message.
pub(super) async fn is_in_conversation(
    context: &Context,
    instance: &Instance,
    message: &Message,
) -> Result<bool, Error> {
    let Some(session) = claude_session(instance) else {
        return Ok(false);
    };
    let found = context
        .transcripts
        .find(
            context.claude_folder()?,
            instance.worktree_path.clone(),
            session,
            agent::named_by(&message.body).to_owned(),
        )
        .await?;
    Ok(found == Found::Taken)
}

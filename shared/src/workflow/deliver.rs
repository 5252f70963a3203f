//! Handing messages over: never lost, never twice, never typed where it does harm.
//!
//! A message is marked as typed *before* it is typed, and taken only on proof from the agent's side:
//! its transcript (for other agents than Claude Code: its screen). In between, whoever looks at it
//! finds out what happened instead of typing again.

use std::time::Duration;

use serde_json::json;
use uuid::Uuid;

use super::Context;
use super::terminal::{DRAFTED, Place, Terminal, ready};
use crate::agent::{self, AgentState, Draft, Found, Screen};
use crate::error::Error;
use crate::model::{
    Instance, InstanceId, Message, MessageId, MessageKind, MessageState, ProcessMark, Status,
    StatusEvent, TakenBy,
};
use crate::process;
use crate::store::{NewEvent, Store, StoreError};
use crate::tmux::InputOutcome;

/// Longer than one hand-over takes; a deliverer that dies blocks the message no longer than this.
const LEASE_SECONDS: u32 = 15;
/// Between paste and Enter: without it, one Enter in 68 was swallowed.
const SETTLE: Duration = Duration::from_millis(60);
/// How long proof is waited for before the message is looked at again later.
const PROOF: Duration = Duration::from_secs(3);
const POLL: Duration = Duration::from_millis(40);
/// When Enter seems to have been swallowed.
const SECOND_ENTER: Duration = Duration::from_millis(700);
/// A message that an idle agent has not got after this was never handed over.
const NOT_HANDED_OVER_SECONDS: f64 = 10.0;
/// How long an agent may take to show what was sent with Enter.
const SHOWN: Duration = Duration::from_secs(2);

/// What became of the oldest message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// Nothing is owed.
    Nothing,
    Taken,
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
    let outcome = match message.state {
        MessageState::Owed => hand_over(context, &instance, &message).await?,
        MessageState::Typed => look_again(context, &instance, &message).await?,
        MessageState::Taken | MessageState::Dropped => return Ok(Delivery::Nothing),
    };
    match outcome {
        Outcome::Proven(by) => {
            acknowledge(context, &instance, &message, by).await?;
            Ok(Delivery::Taken)
        }
        Outcome::NotHandedOver => {
            let id = message.id.clone();
            context.store.write(move |w| w.owe_again(&id)).await?;
            Ok(Delivery::Waiting)
        }
        Outcome::Waiting(reason) => {
            // Written only when it changes: a busy agent may keep a message waiting for hours.
            if message.waiting_for.as_deref() != Some(reason) {
                let id = message.id.clone();
                context
                    .store
                    .write(move |w| w.release(&id, Some(reason)))
                    .await?;
            }
            Ok(Delivery::Waiting)
        }
        Outcome::SomebodyElse => Ok(Delivery::Waiting),
    }
}

enum Outcome {
    Proven(TakenBy),
    NotHandedOver,
    Waiting(&'static str),
    SomebodyElse,
}

/// Types an owed message, if this is a moment at which it can do no harm.
async fn hand_over(
    context: &Context,
    instance: &Instance,
    message: &Message,
) -> Result<Outcome, Error> {
    let terminal = match ready(context, instance).await? {
        Ok(terminal) => terminal,
        Err(reason) => return Ok(Outcome::Waiting(reason)),
    };
    let (id, holder) = (message.id.clone(), holder());
    let how = if is_claude(instance) {
        TakenBy::Transcript
    } else {
        TakenBy::Screen
    };
    let mine = context
        .store
        .write(move |w| {
            Ok(w.lease(&id, &holder, None, LEASE_SECONDS)?
                && w.begin_handing_over(&id, how, &holder)?)
        })
        .await?;
    if !mine {
        return Ok(Outcome::SomebodyElse);
    }
    let typed = terminal.paste(&message.body).await?;
    if typed != InputOutcome::Typed {
        return Ok(Outcome::NotHandedOver);
    }
    tokio::time::sleep(SETTLE).await;
    terminal.press_enter().await?;

    let deadline = tokio::time::Instant::now() + PROOF;
    let mut second_enter = Some(tokio::time::Instant::now() + SECOND_ENTER);
    loop {
        if let Some(by) = proof(context, instance, &message.id, &terminal.place).await? {
            return Ok(Outcome::Proven(by));
        }
        let now = tokio::time::Instant::now();
        if now >= deadline {
            return Ok(Outcome::Waiting("proof that the agent has it"));
        }
        if second_enter.is_some_and(|at| now >= at) && is_claude(instance) {
            second_enter = None;
            press_enter_if_still_drafted(context, instance, &terminal).await?;
        }
        tokio::time::sleep(POLL).await;
    }
}

/// Finds out what became of a message that was typed, or given to a hook, by whoever it was.
async fn look_again(
    context: &Context,
    instance: &Instance,
    message: &Message,
) -> Result<Outcome, Error> {
    let Some(place) = Place::of(context, instance)? else {
        // A hook of a session whose terminal we can't reach took it; its transcript tells.
        return Ok(
            if is_in_conversation(context, instance, &message.id).await? {
                Outcome::Proven(message.taken_by.unwrap_or(TakenBy::StopHook))
            } else {
                Outcome::Waiting("proof that the agent has it")
            },
        );
    };
    if !is_claude(instance)
        && let Some(outcome) = finish_for_the_dead(context, instance, message, &place).await?
    {
        return Ok(outcome);
    }
    if let Some(by) = proof(context, instance, &message.id, &place).await? {
        let by = match message.taken_by {
            Some(TakenBy::StopHook) => TakenBy::StopHook,
            Some(_) | None => by,
        };
        return Ok(Outcome::Proven(by));
    }
    let id = message.id.clone();
    let old = context
        .store
        .read(move |r| r.typed_longer_ago(&id, NOT_HANDED_OVER_SECONDS))
        .await?;
    if !old {
        return Ok(Outcome::SomebodyElse);
    }
    let (id, holder) = (message.id.clone(), holder());
    let mine = context
        .store
        .write(move |w| w.lease(&id, &holder, None, LEASE_SECONDS))
        .await?;
    if !mine {
        return Ok(Outcome::SomebodyElse);
    }
    match ready(context, instance).await? {
        // At its prompt, with an empty box, and never heard of it: it was not handed over.
        Ok(_) => Ok(Outcome::NotHandedOver),
        Err(DRAFTED) if is_claude(instance) => {
            if let Some(terminal) = place.into_terminal().await? {
                press_enter_if_still_drafted(context, instance, &terminal).await?;
            }
            Ok(Outcome::Waiting("proof that the agent has it"))
        }
        Err(reason) => Ok(Outcome::Waiting(reason)),
    }
}

/// Goes on where a deliverer was killed, with an agent whose input box can't be read.
///
/// It may have died between paste and Enter. Enter sends what lies in the box, and does nothing to an
/// empty one; only a text that is nowhere to be seen after that was never pasted.
async fn finish_for_the_dead(
    context: &Context,
    instance: &Instance,
    message: &Message,
    place: &Place,
) -> Result<Option<Outcome>, Error> {
    let id = message.id.clone();
    let Some(dead) = context.store.read(move |r| r.lease_holder(&id)).await? else {
        return Ok(None);
    };
    if is_living(&dead) {
        return Ok(None);
    }
    let terminal = match ready(context, instance).await? {
        Ok(terminal) => terminal,
        Err(reason) => return Ok(Some(Outcome::Waiting(reason))),
    };
    let (id, me) = (message.id.clone(), holder());
    let mine = context
        .store
        .write(move |w| w.lease(&id, &me, Some(&dead), LEASE_SECONDS))
        .await?;
    if !mine {
        return Ok(Some(Outcome::SomebodyElse));
    }
    terminal.press_enter().await?;
    let deadline = tokio::time::Instant::now() + SHOWN;
    loop {
        if let Some(by) = proof(context, instance, &message.id, place).await? {
            return Ok(Some(Outcome::Proven(by)));
        }
        if tokio::time::Instant::now() >= deadline {
            return Ok(Some(Outcome::NotHandedOver));
        }
        tokio::time::sleep(POLL).await;
    }
}

/// Presses Enter once more, if the text is still in the box and nothing else would take the key.
async fn press_enter_if_still_drafted(
    context: &Context,
    instance: &Instance,
    terminal: &Terminal,
) -> Result<(), Error> {
    let captured = terminal.place.shown().await?;
    let drafted = agent::screen(&captured) == Screen::Prompt
        && agent::draft(&captured) == Draft::Text
        && (captured.contains("[claude-codex m-") || captured.contains("[Pasted text"));
    if drafted && claude_state(context, instance)? == AgentState::Idle {
        terminal.press_enter().await?;
    }
    Ok(())
}

/// Looks for the message on the agent's side.
async fn proof(
    context: &Context,
    instance: &Instance,
    id: &MessageId,
    place: &Place,
) -> Result<Option<TakenBy>, Error> {
    if is_claude(instance) {
        let found = is_in_conversation(context, instance, id).await?;
        return Ok(found.then_some(TakenBy::Transcript));
    }
    let seen = place.ever_shown(id.as_str()).await;
    Ok(seen.then_some(TakenBy::Screen))
}

/// Tells whether the model has, or gets with its next request, a message.
pub(super) async fn is_in_conversation(
    context: &Context,
    instance: &Instance,
    id: &MessageId,
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
            id.to_string(),
        )
        .await?;
    Ok(found == Found::Taken)
}

pub(super) fn is_claude(instance: &Instance) -> bool {
    instance.claude_session_id.is_some()
}

fn claude_session(instance: &Instance) -> Option<Uuid> {
    instance.claude_session_id.as_deref()?.parse().ok()
}

pub(super) fn claude_state(context: &Context, instance: &Instance) -> Result<AgentState, Error> {
    Ok(match claude_session(instance) {
        Some(session) => agent::state(&context.claude_folder()?, session),
        None => AgentState::Unknown,
    })
}

fn holder() -> String {
    let me = process::this_process();
    format!("{}:{}", me.pid, me.started)
}

/// Tells whether the process that calls itself so is alive; one that can't be read is taken for it.
fn is_living(holder: &str) -> bool {
    let mark = holder.split_once(':').and_then(|(pid, started)| {
        Some(ProcessMark {
            pid: pid.parse().ok()?,
            started: started.to_owned(),
        })
    });
    mark.is_none_or(|mark| process::is_alive(&mark))
}

/// Records the proof; feedback that was taken puts its coder back to work.
async fn acknowledge(
    context: &Context,
    instance: &Instance,
    message: &Message,
    by: TakenBy,
) -> Result<(), Error> {
    let (message, instance) = (message.clone(), instance.id.clone());
    context
        .store
        .write(move |w| {
            if !w.taken(&message.id, by)? {
                return Ok(());
            }
            let status = w.instance(&instance)?.status;
            let mut changes = Vec::new();
            if message.kind == MessageKind::Feedback && status == Status::FeedbackReceived {
                changes.push(w.transition(&instance, StatusEvent::FeedbackTaken)?);
            }
            let mut event = NewEvent::system(&instance, "delivered", changes);
            event.parameters = json!({ "messageId": message.id, "kind": message.kind, "by": by });
            w.insert_event(&event)?;
            w.touch(&instance)
        })
        .await?;
    Ok(())
}

/// Returns what a Stop hook hands to its agent at the end of a turn; marked as handed over first.
pub fn take_at_end_of_turn(
    store: &Store,
    instance: &InstanceId,
) -> Result<Option<String>, StoreError> {
    let holder = holder();
    store.write_now(|w| {
        let Some(message) = w.next_message(instance)? else {
            return Ok(None);
        };
        let mine = message.state == MessageState::Owed
            && w.begin_handing_over(&message.id, TakenBy::StopHook, &holder)?;
        Ok(mine.then_some(message.body))
    })
}

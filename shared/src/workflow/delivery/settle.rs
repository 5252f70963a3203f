//! Records the outcome of a delivery attempt. Message state and agent status change in one transaction.

use serde_json::json;

use super::lease::Lease;
use crate::error::Error;
use crate::model::{
    Instance, InstanceId, Message, MessageKind, Status, StatusEvent, TakenBy, WaitReason,
};
use crate::store::{NewEvent, StoreError, Writer};
use crate::workflow::Context;

/// Outcome of a delivery, for the caller.
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

/// After this many attempts a message becomes unconfirmed: a hook of the user's own may refuse it every time.
pub(super) const MAX_ATTEMPTS: u32 = 5;

/// Outcome of one attempt or recheck.
pub(super) enum Outcome {
    /// The agent has it, by its own word.
    Proven(TakenBy),
    /// The terminal showed it after the Enter of this attempt.
    Shown(Lease),
    /// It was typed, and nothing shows what became of it.
    Unconfirmed(Lease),
    /// This attempt has typed nothing.
    NothingTyped(Lease, Option<WaitReason>),
    /// What was typed did not reach the agent.
    NotHandedOver(Lease),
    Waiting(WaitReason, Option<Lease>),
    /// Another process is working on it, or has taken over.
    SomebodyElse,
}

/// Records the outcome.
pub(super) async fn settle(
    context: &Context,
    instance: &Instance,
    message: &Message,
    outcome: Outcome,
) -> Result<Delivery, Error> {
    let id = message.id.clone();
    match outcome {
        Outcome::Proven(by) => conclude(context, instance, message, Ended::Taken(by, None)).await,
        Outcome::Shown(lease) => {
            let ended = Ended::Taken(TakenBy::Screen, Some(lease.epoch));
            conclude(context, instance, message, ended).await
        }
        Outcome::Unconfirmed(lease) => {
            conclude(context, instance, message, Ended::Unconfirmed(lease.epoch)).await
        }
        Outcome::NotHandedOver(lease) if message.attempts >= MAX_ATTEMPTS => {
            conclude(context, instance, message, Ended::Unconfirmed(lease.epoch)).await
        }
        Outcome::NotHandedOver(lease) => {
            context
                .store
                .write(move |w| w.owe_again(&id, lease.epoch))
                .await?;
            Ok(Delivery::Waiting)
        }
        Outcome::NothingTyped(lease, reason) => {
            context
                .store
                .write(move |w| w.nothing_typed(&id, lease.epoch, reason))
                .await?;
            Ok(Delivery::Waiting)
        }
        Outcome::Waiting(reason, lease) => {
            // Written only when it changes: a busy agent may keep a message waiting for hours.
            if lease.is_some() || message.waiting_for != Some(reason) {
                let epoch = lease.map(|lease| lease.epoch);
                context
                    .store
                    .write(move |w| w.wait(&id, epoch, reason))
                    .await?;
            }
            Ok(Delivery::Waiting)
        }
        Outcome::SomebodyElse => Ok(Delivery::Waiting),
    }
}

/// How a message leaves the queue.
#[derive(Clone, Copy)]
pub(super) enum Ended {
    /// Taken. With an epoch: known to one attempt alone, so it counts only while that attempt's lease is the newest.
    Taken(TakenBy, Option<u64>),
    Unconfirmed(u64),
}

async fn conclude(
    context: &Context,
    instance: &Instance,
    message: &Message,
    ended: Ended,
) -> Result<Delivery, Error> {
    let (message, instance) = (message.clone(), instance.id.clone());
    let delivery = context
        .store
        .write(move |w| record(w, &instance, &message, ended))
        .await?;
    Ok(delivery)
}

/// Delivered feedback puts its coder back to work, even without proof that it was taken.
pub(super) fn record(
    writer: &Writer<'_>,
    instance: &InstanceId,
    message: &Message,
    ended: Ended,
) -> Result<Delivery, StoreError> {
    let (is_news, delivery) = match ended {
        Ended::Taken(by, None) => (writer.taken(&message.id, by)?, Delivery::Taken),
        Ended::Taken(by, Some(epoch)) => {
            let lease = writer.message_lease(&message.id)?;
            let mine = lease.is_some_and(|lease| lease.epoch == epoch);
            (mine && writer.taken(&message.id, by)?, Delivery::Taken)
        }
        Ended::Unconfirmed(epoch) => (
            writer.unconfirmed(&message.id, epoch)?,
            Delivery::Unconfirmed,
        ),
    };
    if !is_news {
        return Ok(Delivery::Waiting);
    }
    let mut changes = Vec::new();
    if message.kind == MessageKind::Feedback
        && writer.instance(instance)?.status == Status::FeedbackReceived
    {
        changes.push(writer.transition(instance, StatusEvent::FeedbackTaken)?);
    }
    let (name, by) = match ended {
        Ended::Taken(by, _) => ("delivered", Some(by)),
        Ended::Unconfirmed(_) => ("unconfirmed", None),
    };
    let mut event = NewEvent::system(instance, name, changes);
    event.parameters = json!({ "messageId": message.id, "kind": message.kind, "by": by });
    writer.insert_event(&event)?;
    writer.touch(instance)?;
    Ok(delivery)
}

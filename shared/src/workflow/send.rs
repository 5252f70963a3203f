//! `send`: a message from a person to an agent, delivered like feedback.

use crate::error::Error;
use crate::model::hidden::drop_hidden;
use crate::model::text::check_block;
use crate::model::{Instance, InstanceId, MessageId, MessageKind, SessionMode, Status, WaitReason};
use crate::store::NewMessage;
use crate::workflow::delivery::receipt::{Receipt, await_receipt};
use crate::workflow::ended_agent::ended;
use crate::workflow::instance::ownership::wait_until_unowned;
use crate::workflow::put_to_work::put_to_work;
use crate::workflow::review::send_back::PERSON;
use crate::workflow::{Context, Run, Step, agent_messages};

/// The longest message to an agent.
pub const MAX_MESSAGE_CHARS: usize = 100_000;

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sent {
    pub message_id: MessageId,
    pub delivered: bool,
    /// It was typed, and nothing proves that the agent has it.
    pub unconfirmed: bool,
    pub waiting_for: Option<WaitReason>,
}

impl Sent {
    fn new(message_id: MessageId, receipt: Receipt) -> Self {
        Self {
            message_id,
            delivered: receipt == Receipt::Taken,
            unconfirmed: receipt == Receipt::Unconfirmed,
            waiting_for: match receipt {
                Receipt::Waiting(reason) => reason,
                Receipt::Taken | Receipt::Unconfirmed => None,
            },
        }
    }
}

/// Owes an agent a text and waits a moment for it to be taken.
pub async fn send(
    context: &Context,
    run: &Run,
    id: &InstanceId,
    text: &str,
) -> Result<Sent, Error> {
    check_block(&drop_hidden(text), MAX_MESSAGE_CHARS)
        .map_err(|problem| Error::argument("text", problem))?;
    let wanted = id.clone();
    let instance = context.store.read(move |r| r.instance(&wanted)).await?;
    if instance.status == Status::PrCreated && instance.session_mode == SessionMode::Interactive {
        return send_to_published(context, run, &instance, text).await;
    }
    let message = MessageId::random();
    let new = NewMessage {
        body: agent_messages::note(&message, text),
        id: message.clone(),
        instance: id.clone(),
        sender: PERSON.to_owned(),
        kind: MessageKind::Note,
    };
    run.step(Step::DeliveringMessage)?;
    let target = id.clone();
    let now = context
        .store
        .write(move |w| {
            let now = w.instance(&target)?;
            if now.status.is_live() {
                w.insert_message(&new)?;
            }
            Ok(now)
        })
        .await?;
    if !now.status.is_live() {
        return Err(ended(&now));
    }
    let receipt = await_receipt(context, id, &message).await?;
    Ok(Sent::new(message, receipt))
}

/// Sends an agent whose pull request is open back to work; its session is started again if it has ended.
async fn send_to_published(
    context: &Context,
    run: &Run,
    instance: &Instance,
    text: &str,
) -> Result<Sent, Error> {
    // Its session may be ending right now, because it has just published.
    wait_until_unowned(context, run, &instance.id).await?;
    let message = MessageId::random();
    let new = NewMessage {
        body: agent_messages::note_to_published(
            &message,
            text,
            instance.pr_number.unwrap_or_default(),
        ),
        id: message.clone(),
        instance: instance.id.clone(),
        sender: PERSON.to_owned(),
        // Taken feedback puts the agent back to work.
        kind: MessageKind::Feedback,
    };
    run.step(Step::DeliveringMessage)?;
    put_to_work(context, run, &instance.id, &message, move |w, _| {
        w.insert_message(&new)
    })
    .await?;
    let receipt = await_receipt(context, &instance.id, &message).await?;
    Ok(Sent::new(message, receipt))
}

/// Types an unconfirmed message once more, because a person has seen that the agent does not have it.
pub async fn send_again(
    context: &Context,
    run: &Run,
    id: &InstanceId,
    message: &MessageId,
) -> Result<Sent, Error> {
    run.step(Step::DeliveringMessage)?;
    let (target, wanted) = (id.clone(), message.clone());
    let (now, owed) = context
        .store
        .write(move |w| {
            let now = w.instance(&target)?;
            let owed = now.status.is_live() && w.owe_unconfirmed(&target, &wanted)?;
            Ok((now, owed))
        })
        .await?;
    if !now.status.is_live() {
        return Err(ended(&now));
    }
    if !owed {
        return Err(Error::argument(
            "again",
            format!("names no unconfirmed message of `{id}`: {message}"),
        )
        .hint(format!("`claude-codex show {id}` lists them.")));
    }
    let receipt = await_receipt(context, id, message).await?;
    Ok(Sent::new(message.clone(), receipt))
}

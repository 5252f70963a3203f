//! A person's message to an agent, by the same path as feedback.

use super::request_changes::{Receipt, await_receipt};
use super::{Context, Run, wording};
use crate::error::{Code, Error};
use crate::model::hidden::drop_hidden;
use crate::model::text::check_block;
use crate::model::{InstanceId, MessageId, MessageKind, Status, WaitReason};
use crate::store::NewMessage;

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
    check_block(&drop_hidden(text), 100_000).map_err(|problem| Error::argument("text", problem))?;
    let message = MessageId::random();
    let new = NewMessage {
        body: wording::note(&message, text),
        id: message.clone(),
        instance: id.clone(),
        sender: "person".to_owned(),
        kind: MessageKind::Note,
    };
    run.step("Handing the message over")?;
    let target = id.clone();
    let status = context
        .store
        .write(move |w| {
            let status = w.instance(&target)?.status;
            if status.is_live() {
                w.insert_message(&new)?;
            }
            Ok(status)
        })
        .await?;
    if !status.is_live() {
        return Err(ended(id, status));
    }
    let receipt = await_receipt(context, id, &message).await?;
    Ok(Sent::new(message, receipt))
}

/// Types an unconfirmed message once more, because a person has seen that the agent does not have it.
pub async fn send_again(
    context: &Context,
    run: &Run,
    id: &InstanceId,
    message: &MessageId,
) -> Result<Sent, Error> {
    run.step("Handing the message over")?;
    let (target, wanted) = (id.clone(), message.clone());
    let (status, owed) = context
        .store
        .write(move |w| {
            let status = w.instance(&target)?.status;
            let owed = status.is_live() && w.owe_unconfirmed(&target, &wanted)?;
            Ok((status, owed))
        })
        .await?;
    if !status.is_live() {
        return Err(ended(id, status));
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

fn ended(id: &InstanceId, status: Status) -> Error {
    Error::new(Code::AgentEnded, format!("`{id}` has ended ({status})"))
        .hint("`claude-codex resume ID` brings a failed or stopped agent back.")
}

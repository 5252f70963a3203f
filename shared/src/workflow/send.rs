//! A person's message to an agent, by the same path as feedback.

use super::request_changes::await_receipt;
use super::{Context, Run, wording};
use crate::error::{Code, Error};
use crate::model::text::check_block;
use crate::model::{InstanceId, MessageId, MessageKind};
use crate::store::NewMessage;

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sent {
    pub message_id: MessageId,
    pub delivered: bool,
    pub waiting_for: Option<String>,
}

/// Owes an agent a text and waits a moment for it to be taken.
pub async fn send(
    context: &Context,
    run: &Run,
    id: &InstanceId,
    text: &str,
) -> Result<Sent, Error> {
    check_block(&wording::harmless(text), 100_000)
        .map_err(|problem| Error::argument("text", problem))?;
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
        return Err(
            Error::new(Code::AgentEnded, format!("`{id}` has ended ({status})"))
                .hint("`claude-codex resume ID` brings a failed or stopped agent back."),
        );
    }
    let (delivered, waiting_for) = await_receipt(context, id, &message).await?;
    Ok(Sent {
        message_id: message,
        delivered,
        waiting_for,
    })
}

//! Receipt of a message: waits a moment for the agent to take it.

use std::time::Duration;

use super::deliver::deliver;
use crate::error::Error;
use crate::model::{InstanceId, MessageId, MessageState, SessionMode, WaitReason};
use crate::process;
use crate::workflow::Context;

/// How long `request_changes` waits for the coder to take the feedback before it says "queued".
const RECEIPT_TIMEOUT: Duration = Duration::from_secs(5);
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// What is known of a message a moment after it was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Receipt {
    Taken,
    /// It was typed, and nothing proves that the agent has it.
    Unconfirmed,
    /// It is stored and waits, if that is known for what.
    Waiting(Option<WaitReason>),
}

/// Waits for the coder to take a message, delivering in its server's stead if that is gone.
pub(crate) async fn await_receipt(
    context: &Context,
    coder: &InstanceId,
    message: &MessageId,
) -> Result<Receipt, Error> {
    let deadline = tokio::time::Instant::now() + RECEIPT_TIMEOUT;
    loop {
        let (id, target) = (message.clone(), coder.clone());
        let (found, instance) = context
            .store
            .read(move |r| Ok((r.message(&id)?, r.instance(&target)?)))
            .await?;
        if instance.session_mode == SessionMode::Headless {
            // A headless agent gets it at the end of its turn or with its next prompt, which may take minutes.
            return Ok(Receipt::Waiting(Some(WaitReason::NextTurn)));
        }
        let Some(found) = found else {
            return Ok(Receipt::Waiting(None));
        };
        match found.state {
            MessageState::Taken => return Ok(Receipt::Taken),
            MessageState::Unconfirmed => return Ok(Receipt::Unconfirmed),
            MessageState::Owed | MessageState::Typed | MessageState::Dropped => {}
        }
        if tokio::time::Instant::now() >= deadline {
            return Ok(Receipt::Waiting(found.waiting_for));
        }
        if !instance.server.as_ref().is_some_and(process::is_running) {
            deliver(context, coder).await?;
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

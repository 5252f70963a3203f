//! Messages that a transcript does not have, or has twice.

use super::{Context, Invariant, InvariantViolation};
use crate::agent;
use crate::error::Error;
use crate::model::{Instance, Message, MessageState};
use crate::workflow::terminal::claude_session;

pub(super) async fn violations(
    context: &Context,
    instances: &[Instance],
) -> Result<Vec<InvariantViolation>, Error> {
    let mut found = Vec::new();
    for instance in instances {
        let Some(session) = claude_session(instance) else {
            continue;
        };
        let id = instance.id.clone();
        let messages = context.store.read(move |r| r.messages(&id)).await?;
        let folder = context.claude_folder()?;
        let transcript = agent::transcript_path(&folder, &instance.worktree_path, session);
        // Claude Code deletes old ones; then nobody can tell any more.
        if messages.is_empty() || !transcript.is_file() {
            continue;
        }
        for message in messages {
            let name = message.id.to_string();
            let path = transcript.clone();
            let counted = tokio::task::spawn_blocking(move || agent::times_taken(&path, &name));
            let Ok(times) = counted.await else {
                continue;
            };
            if let Some(problem) = problem(&message, times?) {
                found.push(InvariantViolation::new(
                    Invariant::DeliveredOnce,
                    message.id.to_string(),
                    format!("to {}: {problem}", instance.id),
                ));
            }
        }
    }
    Ok(found)
}

fn problem(message: &Message, times: usize) -> Option<String> {
    match (message.state, times) {
        (_, 2..) => Some(format!("is in the transcript {times} times")),
        (MessageState::Taken, 0) => Some("is taken, but not in the transcript".to_owned()),
        (MessageState::Owed, 1) => Some("is owed, but in the transcript".to_owned()),
        (
            MessageState::Owed
            | MessageState::Typed
            | MessageState::Taken
            | MessageState::Unconfirmed
            | MessageState::Dropped,
            _,
        ) => None,
    }
}

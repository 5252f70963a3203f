//! Messages that a transcript does not have, or has twice.

use super::violation::{Invariant, InvariantViolation};
use crate::agent::{self, TranscriptEnds};
use crate::error::Error;
use crate::model::{Instance, Message, MessageState};
use crate::workflow::Context;
use crate::workflow::terminal::pane::claude_session;

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
        // `/clear`, `/branch` and `--resume` begin another one in the same folder.
        let mut paths = agent::all_transcripts_beside(&transcript);
        paths.insert(0, transcript);
        let names: Vec<String> = messages.iter().map(|one| one.id.to_string()).collect();
        let counted = tokio::task::spawn_blocking(move || agent::times_taken(&paths, &names));
        let Ok(counts) = counted.await else {
            continue;
        };
        for (message, times) in messages.iter().zip(counts?) {
            let is_gone = times == 0 && had_transcripts_that_are_gone(context, message).await?;
            if let Some(problem) = problem(message, times).filter(|_| !is_gone) {
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

/// Tells whether Claude Code has deleted a transcript that there was when the message was handed over.
async fn had_transcripts_that_are_gone(
    context: &Context,
    message: &Message,
) -> Result<bool, Error> {
    let id = message.id.clone();
    let ends = context.store.read(move |r| r.transcript_ends(&id)).await?;
    let ends = TranscriptEnds::parse(&ends.unwrap_or_default());
    Ok(ends.paths().any(|path| !path.exists()))
}

fn problem(message: &Message, times: usize) -> Option<String> {
    match (message.state, times) {
        (_, 2..) => Some(format!("is in its transcripts {times} times")),
        (MessageState::Taken, 0) => Some("is taken, but in no transcript".to_owned()),
        (MessageState::Owed, 1) => Some("is owed, but in a transcript".to_owned()),
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

//! Proof of delivery: what an agent's transcripts say about a message.

use crate::agent::{self, MessagePresence, TranscriptEnds};
use crate::error::Error;
use crate::model::{Instance, Message};
use crate::store::Reader;
use crate::workflow::Context;
use crate::workflow::terminal::pane::claude_session;

/// Tells whether the session has a transcript.
pub(super) fn has_transcript(context: &Context, instance: &Instance) -> Result<bool, Error> {
    let Some(session) = claude_session(instance) else {
        return Ok(false);
    };
    let folder = context.claude_folder()?;
    Ok(agent::transcript_path(&folder, &instance.worktree_path, session).is_file())
}

/// Tells whether the session has written to its transcript since a message was typed. A session that does not record prompts
/// (`CLAUDE_CODE_SKIP_PROMPT_HISTORY`) may still have an older transcript.
pub(super) async fn has_written_since(
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
    let is_newer = move |r: &Reader<'_>| r.typed_before(&id, ago.as_secs_f64());
    Ok(context.store.read(is_newer).await?)
}

/// Tells whether a message has reached the agent: in the session that it has now, or in one that it had when the message was
/// typed. Costs more than [`is_in_conversation`]; asked before a message is typed again.
pub(super) async fn has_arrived(
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
pub(super) async fn transcript_ends(
    context: &Context,
    instance: &Instance,
) -> Result<Option<String>, Error> {
    let Some(session) = claude_session(instance) else {
        return Ok(None);
    };
    let (folder, worktree) = (context.claude_folder()?, instance.worktree_path.clone());
    let looking = tokio::task::spawn_blocking(move || {
        TranscriptEnds::now(&agent::transcript_path(&folder, &worktree, session)).to_text()
    });
    Ok(looking.await.ok())
}

/// Tells whether a message is in the conversation: the model has it, or gets it with its next request.
pub(crate) async fn is_in_conversation(
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
    Ok(found == MessagePresence::Taken)
}

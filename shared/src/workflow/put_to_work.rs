//! `put_to_work`: gives a coder more to do, also one whose work is published; an ended session is started again.

use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Code, Error};
use crate::model::{Instance, InstanceId, MessageId, Origin, Status, StatusChange, StatusEvent};
use crate::process;
use crate::store::{StoreError, Writer};
use crate::tmux::Life;
use crate::workflow::instance::ownership::{owned_by_another, wait_until_unowned};
use crate::workflow::lifecycle::resume::start_again;
use crate::workflow::overruled_review::{end_overruled, overrule_review};
use crate::workflow::terminal::panes::{PaneLife, Panes};
use crate::workflow::{Context, Run};

/// How often a coder is tried that another process takes over while it is looked at.
const TRIES: u32 = 3;

/// Moves a coder back to work; `record` stores the message for it in the same transaction. A review of it ends: the person has
/// overruled it. Returns whether its session had ended and was started again.
///
/// A process that owns the row, because it ends the session or publishes, is waited for.
pub(crate) async fn put_to_work(
    context: &Context,
    run: &Run,
    coder: &InstanceId,
    message: &MessageId,
    record: impl FnOnce(&Writer<'_>, &InstanceId) -> Result<(), StoreError> + Send + 'static,
) -> Result<bool, Error> {
    let mut record = record;
    for _ in 0..TRIES {
        wait_until_unowned(context, run, coder).await?;
        let wanted = coder.clone();
        let now = context.store.read(move |r| r.instance(&wanted)).await?;
        if has_ended(context, &now).await {
            match restart(context, run, &now, message, record).await? {
                Restarted::Yes => return Ok(true),
                Restarted::ByAnother(unused) => record = unused,
            }
            continue;
        }
        match tell(context, run, coder, record).await? {
            Told::Moved => return Ok(false),
            Told::Owned(unused) => record = unused,
        }
    }
    Err(owned_by_another(coder))
}

/// What became of a restart.
enum Restarted<R> {
    Yes,
    /// Somebody else has started the coder in the meantime, or is about to; nothing was recorded.
    ByAnother(R),
}

/// Starts a coder again whose session had ended when it was read. Of two who do so at once, one starts it and the other tells it.
async fn restart<R>(
    context: &Context,
    run: &Run,
    read: &Instance,
    message: &MessageId,
    record: R,
) -> Result<Restarted<R>, Error>
where
    R: FnOnce(&Writer<'_>, &InstanceId) -> Result<(), StoreError> + Send + 'static,
{
    let unused = Arc::new(Mutex::new(Some(record)));
    let (slot, last_launch) = (Arc::clone(&unused), read.launch_id.clone());
    let begin = move |w: &Writer<'_>, id: &InstanceId| {
        let now = w.instance(id)?;
        let back = match now.status {
            _ if now.launch_id != last_launch => return Ok(None),
            Status::PrCreated => StatusEvent::SentBack,
            Status::Failed | Status::Terminated => StatusEvent::Resumed,
            _ => return Ok(None),
        };
        let Some(record) = slot.lock().unwrap_or_else(PoisonError::into_inner).take() else {
            return Ok(None);
        };
        let change = w.transition(id, back)?;
        record(w, id)?;
        Ok(Some(change))
    };
    let started = Box::pin(start_again(context, run, &read.id, begin)).await;
    let unused = unused.lock().unwrap_or_else(PoisonError::into_inner).take();
    match (started, unused) {
        (Ok(Some(_)), _) => Ok(Restarted::Yes),
        (Ok(None), Some(record)) => Ok(Restarted::ByAnother(record)),
        (Err(error), Some(record)) if error.code == Code::NotAvailable => {
            Ok(Restarted::ByAnother(record))
        }
        (Ok(None), None) => Err(owned_by_another(&read.id)),
        (Err(error), _) => Err(stored_all_the_same(context, &read.id, message, error).await),
    }
}

/// What became of a message to a coder whose session runs.
enum Told<R> {
    Moved,
    /// Another process has begun to publish the work or to end the session; nothing was recorded.
    Owned(R),
}

/// Records a message to a coder whose session runs, and moves it.
async fn tell<R>(
    context: &Context,
    run: &Run,
    coder: &InstanceId,
    record: R,
) -> Result<Told<R>, Error>
where
    R: FnOnce(&Writer<'_>, &InstanceId) -> Result<(), StoreError> + Send + 'static,
{
    let id = coder.clone();
    let told = context.store.write(move |w| {
        let now = w.instance(&id)?;
        let is_owned = now
            .owner
            .is_some_and(|owner| owner != process::this_process() && process::is_alive(&owner));
        // A message to one that is only starting can wait for it.
        if is_owned && now.status != Status::Started {
            return Ok(Err(record));
        }
        let overruled = overrule_review(w, &id)?;
        let mut changes: Vec<StatusChange> = sent_back(w, &id)?.into_iter().collect();
        let reviewer = overruled.map(|(reviewer, ended)| {
            changes.extend(ended);
            reviewer
        });
        record(w, &id)?;
        Ok(Ok((reviewer, changes)))
    });
    let (reviewer, changes) = match told.await? {
        Ok(moved) => moved,
        Err(record) => return Ok(Told::Owned(record)),
    };
    for change in changes {
        run.changed(change);
    }
    if let Some(reviewer) = reviewer {
        end_overruled(context, run, &reviewer, "a person has sent the work back").await;
    }
    Ok(Told::Moved)
}

/// Tells whether the session of an agent has to be started again. That of a person's own session is theirs to start.
async fn has_ended(context: &Context, coder: &Instance) -> bool {
    let is_over = matches!(
        coder.status,
        Status::PrCreated | Status::Failed | Status::Terminated
    );
    if !is_over || coder.origin == Origin::Adopted {
        return false;
    }
    // With `resources.cleanup` other than auto, a published agent keeps running.
    let life = Panes::of(context, &[coder]).await.life(coder);
    !matches!(life, PaneLife::Known(Life::Running) | PaneLife::Unreachable)
}

/// Moves a coder back whose session runs. One that is only starting is told and stays where it is.
fn sent_back(writer: &Writer<'_>, id: &InstanceId) -> Result<Option<StatusChange>, StoreError> {
    match writer.instance(id)?.status {
        Status::Started
        | Status::FeedbackReceived
        // A person's own session, which may come back.
        | Status::Failed
        | Status::Terminated => Ok(None),
        _ => writer.transition(id, StatusEvent::SentBack).map(Some),
    }
}

/// Adds to an error that the feedback is not lost, if it was stored before the restart failed.
async fn stored_all_the_same(
    context: &Context,
    coder: &InstanceId,
    message: &MessageId,
    error: Error,
) -> Error {
    let wanted = message.clone();
    let stored = context.store.read(move |r| r.message(&wanted)).await;
    if !stored.is_ok_and(|stored| stored.is_some()) {
        return error;
    }
    let before = error.hint.clone().map(|hint| format!("{hint} "));
    error.hint(format!(
        "{}The feedback is stored: `claude-codex resume {coder}` starts the agent again and hands it over.",
        before.unwrap_or_default()
    ))
}

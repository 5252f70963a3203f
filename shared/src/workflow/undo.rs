//! Taking a launch back, in reverse, from wherever it stopped.

use super::finish::{end, end_session, still_in_use};
use super::instance_facts::record_step;
use super::put_away::{PutAway, keep_or_remove_worktree};
use super::review_round::lose_review;
use super::{Context, Run, agent_files};
use crate::error::{Code, Error};
use crate::model::{Instance, InstanceId, InstanceKind, LaunchStep, StatusEvent, TaskStatus};
use crate::process;
use crate::store::StoreError;

/// Removes what an unfinished launch has made, and its row. Safe to do twice.
pub(super) async fn undo(context: &Context, id: &InstanceId) -> Result<(), Error> {
    let wanted = id.clone();
    let instance = match context.store.read(move |r| r.instance(&wanted)).await {
        Ok(instance) => instance,
        Err(StoreError::InstanceNotFound { .. }) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    if !instance.status.is_live() {
        // A person has ended it meanwhile; what was made since then goes by the same rules.
        end(context, &Run::unattended(), id, None, None).await?;
        return Ok(());
    }
    let me = process::this_process();
    let owner = instance.owner.as_ref();
    if owner.is_some_and(|owner| *owner != me && process::is_alive(owner)) {
        // And another process has taken it up again.
        return Ok(());
    }
    let kept = match instance.launch_step {
        LaunchStep::Row => None,
        LaunchStep::Worktree | LaunchStep::Files | LaunchStep::Session | LaunchStep::Ready => {
            end_everything(context, &instance).await?;
            record_step(context, &instance, LaunchStep::Files).await?;
            agent_files::forget_trust(context, &instance).await?;
            agent_files::remove(context, id)?;
            record_step(context, &instance, LaunchStep::Worktree).await?;
            let kept = match keep_or_remove_worktree(context, &instance).await? {
                PutAway::Gone => None,
                PutAway::Kept(text) => Some(text),
                PutAway::Later(_) => return leave_for_later(context, id).await,
            };
            if instance.launch_step == LaunchStep::Session {
                // A tmux that outlived a killed launcher may have made it only now.
                end_everything(context, &instance).await?;
            }
            kept
        }
    };
    forget(context, instance, kept).await
}

/// Leaves the row, with its steps, to whoever reconciles next: the repository is locked.
async fn leave_for_later(context: &Context, id: &InstanceId) -> Result<(), Error> {
    let id = id.clone();
    let nobody = process::nobody();
    context
        .store
        .write(move |w| w.set_owner(&id, Some(&nobody)))
        .await?;
    Ok(())
}

/// Ends the session; what can't be ended leaves the rest to the next `reconcile`.
async fn end_everything(context: &Context, instance: &Instance) -> Result<(), Error> {
    let survivors = end_session(context, instance).await?;
    if survivors.is_empty() {
        return Ok(());
    }
    Err(Error::new(
        Code::AgentFailed,
        still_in_use(instance, &survivors),
    ))
}

async fn forget(context: &Context, instance: Instance, kept: Option<String>) -> Result<(), Error> {
    let id = instance.id.clone();
    let task = instance.task_id.clone();
    context
        .store
        .write(move |w| {
            if let Some(task) = &task {
                w.set_task_status(task, TaskStatus::Open)?;
            }
            if instance.kind == InstanceKind::Review {
                lose_review(w, &instance, "it could not be started")?;
            }
            match &kept {
                None => w.delete_instance(&id),
                // An agent that had begun to work before its launch was given up.
                Some(note) => {
                    w.transition(&id, StatusEvent::Failed)?;
                    w.set_note(&id, Some(note))?;
                    w.set_launch_step(&id, LaunchStep::Ready)?;
                    w.set_owner(&id, None)
                }
            }
        })
        .await?;
    Ok(())
}

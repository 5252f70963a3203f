//! Undo: rolls back an incomplete launch, in reverse order, from the last recorded step.

use super::finish::{finish, kill_session, still_in_use};
use super::remove_worktree::{Removal, remove_worktree_and_branch};
use crate::error::{Code, Error};
use crate::model::{
    Instance, InstanceId, InstanceKind, Kept, LaunchStep, Note, StatusEvent, TaskStatus,
};
use crate::process;
use crate::store::StoreError;
use crate::workflow::instance::agent_files;
use crate::workflow::instance::facts::record_step;
use crate::workflow::review_round::mark_review_lost;
use crate::workflow::{Context, Run};

/// Removes everything that an incomplete launch created, and its row. Idempotent.
pub(crate) async fn undo(context: &Context, id: &InstanceId) -> Result<(), Error> {
    let wanted = id.clone();
    let instance = match context.store.read(move |r| r.instance(&wanted)).await {
        Ok(instance) => instance,
        Err(StoreError::InstanceNotFound { .. }) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    if !instance.status.is_live() {
        // It was stopped meanwhile: finishing removes whatever was created since.
        finish(context, &Run::unattended(), id, None, None).await?;
        return Ok(());
    }
    let me = process::this_process();
    let owner = instance.owner.as_ref();
    if owner.is_some_and(|owner| *owner != me && process::is_alive(owner)) {
        // Another process has resumed it.
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
            let mut removal = remove_worktree_and_branch(context, &instance).await?;
            if instance.launch_step == LaunchStep::Session {
                // A tmux that outlived a killed launcher may have created the session only now, and its agent may have kept
                // the worktree from being removed.
                end_everything(context, &instance).await?;
                if matches!(removal, Removal::Kept(Kept::InUse { .. })) {
                    removal = remove_worktree_and_branch(context, &instance).await?;
                }
            }
            match removal {
                Removal::Done => None,
                Removal::Kept(kept) => Some(kept),
                Removal::Deferred(_) => return leave_for_later(context, id).await,
            }
        }
    };
    forget(context, instance, kept).await
}

/// Leaves the row and its steps to the next reconcile, because the repository is locked.
async fn leave_for_later(context: &Context, id: &InstanceId) -> Result<(), Error> {
    let id = id.clone();
    let nobody = process::nobody();
    context
        .store
        .write(move |w| w.set_owner(&id, Some(&nobody)))
        .await?;
    Ok(())
}

/// Ends the session. An error, which leaves the rest to the next `reconcile`, if a process cannot be ended.
async fn end_everything(context: &Context, instance: &Instance) -> Result<(), Error> {
    let survivors = kill_session(context, instance).await?;
    if survivors.is_empty() {
        return Ok(());
    }
    Err(Error::new(
        Code::AgentFailed,
        still_in_use(instance, &survivors).to_string(),
    ))
}

async fn forget(context: &Context, instance: Instance, kept: Option<Kept>) -> Result<(), Error> {
    let id = instance.id.clone();
    let task = instance.task_id.clone();
    context
        .store
        .write(move |w| {
            if let Some(task) = &task {
                w.set_task_status(task, TaskStatus::Open)?;
            }
            if instance.kind == InstanceKind::Review {
                mark_review_lost(w, &instance, "it could not be started")?;
            }
            match &kept {
                None => w.delete_instance(&id),
                // The agent had begun to work before its launch failed.
                Some(kept) => {
                    w.transition(&id, StatusEvent::Failed)?;
                    let kept = Some(kept.clone());
                    w.set_note(&id, &Note { reason: None, kept })?;
                    w.set_launch_step(&id, LaunchStep::Ready)?;
                    w.set_owner(&id, None)
                }
            }
        })
        .await?;
    Ok(())
}

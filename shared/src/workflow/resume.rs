//! Bringing an ended agent back, with its conversation.

use super::agent_files::Briefing;
use super::headless::tdd_run_of;
use super::instance_facts::is_own_worktree;
use super::launch::{SessionStart, make_worktree, start_agent};
use super::reconcile::reconcile_to_act;
use super::sync::until_left_alone;
use super::{Context, Run, agent_files, deliver};
use crate::error::{Code, Error};
use crate::git::{Checkout, GitError, Repository};
use crate::model::{Instance, InstanceId, MessageId, MessageState, StatusEvent, TaskStatus};
use crate::process;

/// Starts an ended agent again in its worktree, which is made anew if it was removed.
pub async fn resume(context: &Context, run: &Run, id: &InstanceId) -> Result<Instance, Error> {
    if let Some(tdd) = tdd_run_of(context, id).await? {
        return Err(Error::new(
            Code::NotAvailable,
            format!("`{id}` belongs to the TDD run {}", tdd.task_id),
        )
        .hint(format!(
            "`claude-codex tdd resume {}` takes the run up where it was.",
            tdd.task_id
        )));
    }
    take_up(context, run, id).await
}

/// Starts any ended agent again; one that is headless gets its session, and waits for its turn.
pub(super) async fn take_up(
    context: &Context,
    run: &Run,
    id: &InstanceId,
) -> Result<Instance, Error> {
    let wanted = id.clone();
    let instance = context.store.read(move |r| r.instance(&wanted)).await?;
    let context = &context.of(&instance.repository).await?;
    agent_files::check(context, instance.kind).await?;
    // Whoever is putting it away would take the worktree from under it.
    until_left_alone(context, run, id).await?;
    reconcile_to_act(context).await?;
    let repository = context.repository()?.clone();
    run.step("Taking it up again")?;
    let unproven = unproven(context, &instance).await?;
    let (wanted, me) = (id.clone(), process::this_process());
    let limit = context.settings().resources.max_concurrent_instances;
    let change = context
        .store
        .write(move |w| {
            let owner = w.instance(&wanted)?.owner;
            if let Some(other) = owner.filter(|owner| *owner != me && process::is_alive(owner)) {
                return Ok(Err(other));
            }
            w.check_limit(limit)?;
            let change = w.transition(&wanted, StatusEvent::Resumed)?;
            w.set_owner(&wanted, Some(&me))?;
            w.set_note(&wanted, None)?;
            for message in &unproven {
                let lease = w.message_lease(message)?;
                w.owe_again(message, lease.map_or(0, |lease| lease.epoch))?;
            }
            if let Some(task) = &w.instance(&wanted)?.task_id {
                w.set_task_status(task, TaskStatus::InProgress)?;
            }
            Ok(Ok(change))
        })
        .await?
        .map_err(|other| {
            let pid = other.pid;
            Error::new(
                Code::NotAvailable,
                format!("`{id}` is just being started or put away by process {pid}"),
            )
            .hint("Try again when that has ended.")
        })?;
    run.changed(change);
    let started = restart(context, run, &repository, &instance).await;
    let wanted = id.clone();
    if let Err(error) = started {
        give_up(context, &instance).await?;
        return Err(error);
    }
    Ok(context.store.read(move |r| r.instance(&wanted)).await?)
}

/// Returns the messages that were typed but never reached the conversation: they died with the process.
async fn unproven(context: &Context, instance: &Instance) -> Result<Vec<MessageId>, Error> {
    let id = instance.id.clone();
    let messages = context.store.read(move |r| r.messages(&id)).await?;
    let typed = messages
        .into_iter()
        .filter(|message| message.state == MessageState::Typed);
    let mut unproven = Vec::new();
    for message in typed {
        if !deliver::is_in_conversation(context, instance, &message).await? {
            unproven.push(message.id);
        }
    }
    Ok(unproven)
}

async fn restart(
    context: &Context,
    run: &Run,
    repository: &Repository,
    instance: &Instance,
) -> Result<(), Error> {
    repository.restore_worktree(&instance.worktree_path).await?;
    let path = &instance.worktree_path;
    if !is_own_worktree(repository, instance)? {
        return Err(GitError::PathTaken { path: path.clone() }.into());
    }
    // Only an empty folder goes by this.
    let _ = std::fs::remove_dir(path);
    if path.exists() {
        // The repository may have been replaced by another clone: git in the folder would fail, or act on a repository around it.
        if !repository.has_worktree(path)? {
            return Err(GitError::NotALinkedWorktree { path: path.clone() }.into());
        }
    } else {
        let base = instance
            .base_commit
            .clone()
            .unwrap_or_else(|| instance.base_branch.clone());
        let checkout = match &instance.branch_name {
            Some(name) if repository.branch_exists(name).await? => {
                Checkout::ExistingBranch { name: name.clone() }
            }
            Some(name) => Checkout::NewBranch {
                name: name.clone(),
                at: base,
            },
            None => Checkout::Detached { at: base },
        };
        make_worktree(context, run, repository, instance, checkout).await?;
    }
    // A transcript is what Claude Code resumes from; without one it begins anew, with its task.
    let headless = tdd_run_of(context, &instance.id).await?.is_some();
    let how = if headless || agent_files::has_transcript(context, instance)? {
        SessionStart::Resume
    } else {
        SessionStart::New
    };
    run.unless_cancelled(start_agent(
        context,
        run,
        repository,
        instance,
        how,
        &Briefing::default(),
    ))
    .await
}

/// Ends what was begun; unlike after a failed launch, the row and unsaved work stay.
async fn give_up(context: &Context, instance: &Instance) -> Result<(), Error> {
    super::finish::fail(
        context,
        &instance.id,
        StatusEvent::Failed,
        "could not be resumed".to_owned(),
    )
    .await?;
    Ok(())
}

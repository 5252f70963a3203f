//! `resume`: starts an ended agent again, in its worktree and its conversation.

use super::first_moments::settled;
use super::launch::{SessionStart, make_worktree, start_agent};
use super::reconcile::reconcile_to_act;
use crate::error::{Code, Error};
use crate::git::{Checkout, GitError, Repository};
use crate::model::{
    Instance, InstanceId, InstanceKind, MessageId, MessageState, Note, Origin, SessionMode, Status,
    StatusChange, StatusEvent, TaskStatus,
};
use crate::process;
use crate::store::{StoreError, Writer};
use crate::workflow::delivery::proof::is_in_conversation;
use crate::workflow::forges::local::published_head;
use crate::workflow::instance::agent_files;
use crate::workflow::instance::agent_files::Briefing;
use crate::workflow::instance::facts::is_own_worktree;
use crate::workflow::instance::ownership::{owned_by_another, wait_until_unowned};
use crate::workflow::{Context, Run, Step};

/// A failure that a person has not acted on for longer may be forgotten on purpose.
const RESUMABLE_SECONDS: f64 = 24.0 * 3600.0;
/// How many of the latest ended agents `resume --all` looks at.
const MAX_ENDED: u32 = 1_000;

/// Starts an ended agent again in its worktree, which is made anew if it was removed.
pub async fn resume(context: &Context, run: &Run, id: &InstanceId) -> Result<Instance, Error> {
    let wanted = id.clone();
    let instance = context.store.read(move |r| r.instance(&wanted)).await?;
    if instance.session_mode == SessionMode::Headless {
        // A run has the id of its coder, which is the parent of its reviewers.
        let coder = instance.parent_instance_id.as_ref().unwrap_or(id);
        return Err(Error::new(
            Code::NotAvailable,
            format!("`{id}` belongs to the TDD run {coder}"),
        )
        .hint(format!(
            "`claude-codex tdd resume {coder}` resumes the run where it stopped."
        )));
    }
    if instance.origin == Origin::Adopted && !instance.status.is_live() {
        return Err(Error::new(
            Code::NotAvailable,
            format!("`{id}` is a person's own session, which only that person can continue"),
        )
        .hint("Continue it where it was started, with `claude --resume`; `claude-codex code \"…\"` starts an agent."));
    }
    if instance.status == Status::PrCreated {
        check_owed(context, &instance).await?;
    }
    resume_any(context, run, id).await?;
    settled(context, id).await
}

/// Returns the agents of this repository that `resume --all` starts again: coders and planners that failed lately, and
/// failed or stopped ones that have left a worktree or are owed a message; but no failed one that a person has cleaned up
/// after, which is done with. Oldest first.
pub async fn resumable(context: &Context) -> Result<Vec<InstanceId>, Error> {
    let repository = context.repository()?.root().to_owned();
    let (ended, owed, dismissed) = context
        .store
        .read(|r| {
            let ended = r.recent_instances(MAX_ENDED)?;
            Ok((ended, r.owed_messages()?, r.dismissed()?))
        })
        .await?;
    let has_work = |instance: &Instance| {
        let lately = instance.status_since.seconds_ago() < RESUMABLE_SECONDS;
        (instance.status == Status::Failed && lately)
            || instance.worktree_path.exists()
            || owed.contains_key(&instance.id)
    };
    let resumable = ended.into_iter().filter(|instance| {
        matches!(instance.status, Status::Failed | Status::Terminated)
            && instance.repository == repository
            && instance.origin == Origin::Launched
            && instance.session_mode == SessionMode::Interactive
            && instance.kind != InstanceKind::Review
            && !dismissed.contains(&instance.id)
            && has_work(instance)
    });
    Ok(resumable.map(|instance| instance.id).collect())
}

/// Refuses to resume a published agent that has nothing to do.
async fn check_owed(context: &Context, instance: &Instance) -> Result<(), Error> {
    let id = instance.id.clone();
    if context
        .store
        .read(move |r| r.next_message(&id))
        .await?
        .is_some()
    {
        return Ok(());
    }
    let (id, number) = (&instance.id, instance.pr_number.unwrap_or_default());
    Err(Error::new(
        Code::IllegalState,
        format!("`{id}` has published its work as pull request {number}, and has nothing to do"),
    )
    .hint(format!(
        "Say what is left to do: `claude-codex pr request-changes {number} \"…\"` sends it back, `claude-codex send {id} \"…\"` asks it something."
    )))
}

/// Resumes any ended agent; a headless one gets its session and waits for a turn.
pub(crate) async fn resume_any(
    context: &Context,
    run: &Run,
    id: &InstanceId,
) -> Result<Instance, Error> {
    let resumed =
        |w: &Writer<'_>, id: &InstanceId| w.transition(id, StatusEvent::Resumed).map(Some);
    let started = start_again(context, run, id, resumed).await?;
    started.ok_or_else(|| owned_by_another(id))
}

/// Starts an agent again whose session has ended. `begin` moves its row, and records why, in the transaction that takes
/// the row over: killed at any moment later, the row is found by `reconcile` and the agent can be resumed. None from it
/// leaves the row as it is, and nothing is started.
pub(crate) async fn start_again(
    context: &Context,
    run: &Run,
    id: &InstanceId,
    begin: impl FnOnce(&Writer<'_>, &InstanceId) -> Result<Option<StatusChange>, StoreError>
    + Send
    + 'static,
) -> Result<Option<Instance>, Error> {
    let wanted = id.clone();
    let instance = context.store.read(move |r| r.instance(&wanted)).await?;
    let context = &context.of(&instance.repository).await?;
    agent_files::check(context, instance.kind).await?;
    // A process that is still finishing it would remove the worktree of the resumed agent.
    wait_until_unowned(context, run, id).await?;
    reconcile_to_act(context).await?;
    let repository = context.repository()?.clone();
    run.step(Step::ResumingAgent)?;
    check_place(&repository, &instance).await?;
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
            let Some(change) = begin(w, &wanted)? else {
                return Ok(Ok(None));
            };
            w.set_owner(&wanted, Some(&me))?;
            w.set_note(&wanted, &Note::default())?;
            for message in &unproven {
                let lease = w.message_lease(message)?;
                w.owe_again(message, lease.map_or(0, |lease| lease.epoch))?;
            }
            if let Some(task) = &w.instance(&wanted)?.task_id {
                w.set_task_status(task, TaskStatus::InProgress)?;
            }
            Ok(Ok(Some(change)))
        })
        .await?
        .map_err(|other| {
            let pid = other.pid;
            Error::new(
                Code::NotAvailable,
                format!("process {pid} is starting or ending `{id}` right now"),
            )
            .hint("Try again once it has ended.")
        })?;
    let Some(change) = change else {
        return Ok(None);
    };
    run.changed(change);
    let started = restart(context, run, &repository, &instance).await;
    let wanted = id.clone();
    if let Err(error) = started {
        give_up(context, &instance).await?;
        return Err(error);
    }
    Ok(Some(
        context.store.read(move |r| r.instance(&wanted)).await?,
    ))
}

/// Checks, before anything is recorded, that an agent can have its worktree and its branch again.
///
/// Its pull request may be open: of a restart that cannot succeed, nothing must stay but the error.
async fn check_place(repository: &Repository, instance: &Instance) -> Result<(), Error> {
    let path = &instance.worktree_path;
    repository.restore_worktree(path).await?;
    if !is_own_worktree(repository, instance)? {
        return Err(GitError::PathTaken { path: path.clone() }.into());
    }
    let Some(name) = instance.branch_name.clone().filter(|_| !path.exists()) else {
        return Ok(());
    };
    match repository.branch_checked_out_at(&name).await? {
        Some(at) if at != *path => {
            let hint = format!(
                "`git -C '{}' switch --detach` leaves it there; then try again.",
                at.display()
            );
            Err(Error::from(GitError::BranchCheckedOut { name, at }).hint(hint))
        }
        Some(_) | None => Ok(()),
    }
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
        if !is_in_conversation(context, instance, &message).await? {
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
    check_place(repository, instance).await?;
    let path = &instance.worktree_path;
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
            Some(name) => {
                // What was published outlives its branch.
                let published = match published_head(context, instance).await? {
                    Some(head) => Some(head),
                    None => repository.branch_tip(name).await?,
                };
                Checkout::NewBranch {
                    name: name.clone(),
                    at: published.map_or(base, |head| head.as_str().to_owned()),
                }
            }
            None => Checkout::Detached { at: base },
        };
        make_worktree(context, run, repository, instance, checkout).await?;
    }
    // A transcript is what Claude Code resumes from; without one it begins anew, with its task.
    let headless = instance.session_mode == SessionMode::Headless;
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

/// Finishes a failed restart; unlike after a failed launch, the row and unsaved work stay. What was published still is.
async fn give_up(context: &Context, instance: &Instance) -> Result<(), Error> {
    let event = match instance.status {
        Status::PrCreated => StatusEvent::RestartFailed,
        _ => StatusEvent::Failed,
    };
    super::finish::finish_with_reviewer(
        context,
        &instance.id,
        event,
        "could not be resumed".to_owned(),
    )
    .await?;
    Ok(())
}

//! Finishes an agent: ends its tmux session and processes, and removes its worktree if that is safe.

use std::time::Duration;

use super::ending::keep_ending;
use super::remove_worktree::{
    Removal, keep_by_policy, keep_for_open_pull, remove_worktree_if_safe,
};
use crate::agent;
use crate::config::Cleanup;
use crate::error::Error;
use crate::model::{
    Instance, InstanceId, InstanceKind, Kept, LaunchStep, Note, Origin, ProcessMark, Status,
    StatusChange, StatusEvent, TaskStatus,
};
use crate::process::{self, Family, Grace};
use crate::tmux::{LaunchId, Life, Window};
use crate::workflow::instance::agent_files;
use crate::workflow::instance::facts::session_name;
use crate::workflow::instance::ownership::release;
use crate::workflow::review_round::mark_review_lost;
use crate::workflow::usage::try_to_refresh_usage;
use crate::workflow::{Context, Run, Step};

/// How long an agent's processes get to end after the terminal is gone, and after SIGTERM.
const GRACE: Grace = Grace {
    unasked: Duration::from_millis(2_500),
    asked: Duration::from_millis(1_500),
};

/// How long `stop` waits for a locked repository; after that `reconcile` removes the worktree.
const LOCK_TIMEOUT: Duration = Duration::from_secs(3);

/// An agent that was ended, and what of it was kept.
#[derive(Debug, Clone)]
pub struct Stopped {
    pub instance: Instance,
    pub kept: Option<String>,
}

/// Stops an agent and its reviewer. Idempotent: an agent that has ended already is only finished again.
pub async fn stop(context: &Context, run: &Run, id: &InstanceId) -> Result<Stopped, Error> {
    run.step(Step::EndingSession)?;
    let context = &context.with_lock_timeout(LOCK_TIMEOUT);
    let stopped = finish(context, run, id, Some(StatusEvent::Terminated), None).await?;
    finish_reviewer(context, run, id).await?;
    Ok(stopped)
}

/// Finishes the reviewer of a coder that has ended, because its verdict has no recipient any more.
pub(crate) async fn finish_reviewer(
    context: &Context,
    run: &Run,
    coder: &InstanceId,
) -> Result<(), Error> {
    let coder = coder.clone();
    let pending = context
        .store
        .read(move |r| r.pending_review(&coder))
        .await?;
    if let Some(reviewer) = pending.and_then(|review| review.review_instance_id) {
        let reason = Some("its coding agent has ended".to_owned());
        finish(
            context,
            run,
            &reviewer,
            Some(StatusEvent::Terminated),
            reason,
        )
        .await?;
    }
    Ok(())
}

/// Finishes an agent: changes its status, ends its session, and removes its worktree by policy.
///
/// This process owns the row until the end: if it dies, `reconcile` continues.
pub(crate) async fn finish(
    context: &Context,
    run: &Run,
    id: &InstanceId,
    event: Option<StatusEvent>,
    reason: Option<String>,
) -> Result<Stopped, Error> {
    let ended = Box::pin(finish_owned(context, run, id, event, reason)).await;
    if ended.is_err() {
        release(context, id).await?;
    }
    ended
}

async fn finish_owned(
    context: &Context,
    run: &Run,
    id: &InstanceId,
    event: Option<StatusEvent>,
    reason: Option<String>,
) -> Result<Stopped, Error> {
    let (wanted, me) = (id.clone(), process::this_process());
    let first_note = Note {
        reason: reason.clone(),
        kept: None,
    };
    let (instance, changes) = context
        .store
        .write(move |w| {
            let instance = w.instance(&wanted)?;
            let change = match event {
                Some(event) if instance.status.is_live() => Some(w.transition(&wanted, event)?),
                Some(_) | None => None,
            };
            w.set_owner(&wanted, Some(&me))?;
            w.set_server(&wanted, None)?;
            let mut changes: Vec<StatusChange> = change.into_iter().collect();
            if !changes.is_empty() {
                w.set_note(&wanted, &first_note)?;
                if instance.kind == InstanceKind::Review {
                    let reason = first_note.reason.as_deref().unwrap_or("it was stopped");
                    changes.extend(mark_review_lost(w, &instance, reason)?);
                }
                // The task of an open pull request is nobody else's.
                if let Some(task) = &instance.task_id
                    && !has_open_pull(&instance)
                {
                    w.set_task_status(task, TaskStatus::Open)?;
                }
            }
            Ok((instance, changes))
        })
        .await?;
    for change in changes {
        run.changed(change);
    }
    let left = match instance.origin {
        Origin::Adopted => Removal::Done,
        Origin::Launched => {
            let survivors = kill_session(context, &instance).await?;
            try_to_refresh_usage(context, &instance).await;
            if survivors.is_empty() {
                agent_files::remove(context, id)?;
            }
            let settings = context.settings_of(&instance.repository);
            match settings.map_or(Cleanup::Manual, |settings| settings.resources.cleanup) {
                _ if !survivors.is_empty() => Removal::Kept(still_in_use(&instance, &survivors)),
                Cleanup::Auto if has_open_pull(&instance) => keep_for_open_pull(&instance).await?,
                Cleanup::Auto => remove_worktree_if_safe(context, &instance).await?,
                Cleanup::Manual | Cleanup::Scheduled => {
                    keep_by_policy(context, &instance, event.is_none()).await?
                }
            }
        }
    };
    // An owner that never lives marks the row as unfinished, so the next reconcile removes the worktree.
    let owner = matches!(left, Removal::Deferred(_)).then(process::nobody);
    let kept = left.sentence();
    // A deferred removal is not noted: the note would outlive the worktree.
    let kept_now = left.into_kept();
    let (wanted, me) = (id.clone(), process::this_process());
    let instance = context
        .store
        .write(move |w| {
            if w.instance(&wanted)?.owner != Some(me) {
                // Another process took the row over, and may have resumed the agent.
                return w.instance(&wanted);
            }
            // What was kept before may be gone by now.
            let before = w.instance(&wanted)?.note;
            let note = Note {
                reason: reason.or_else(|| before.reason.clone()),
                kept: kept_now,
            };
            if note != before {
                w.set_note(&wanted, &note)?;
            }
            w.set_launch_step(&wanted, LaunchStep::Ready)?;
            w.set_owner(&wanted, owner.as_ref())?;
            w.instance(&wanted)
        })
        .await?;
    Ok(Stopped { instance, kept })
}

/// Tells whether the pull request of an agent is open, also if the agent was at work on changes when it ended.
pub(crate) fn has_open_pull(instance: &Instance) -> bool {
    instance.pr_url.is_some() && !matches!(instance.status, Status::PrMerged | Status::PrClosed)
}

/// Kills the session and everything that the agent has started; returns what could not be ended.
///
/// A session of that name that is not of the row's launch stays, as do processes that are provably neither
/// the agent's descendants nor marked as its own.
pub(crate) async fn kill_session(
    context: &Context,
    instance: &Instance,
) -> Result<Vec<ProcessMark>, Error> {
    let strangers = strangers(instance);
    let Ok(name) = session_name(instance) else {
        return Ok(strangers);
    };
    let tmux = context.terminals(instance);
    // Processes can be ended even if tmux does not answer.
    let listed = tmux.list().await.inspect_err(|error| {
        tracing::warn!(instance = %instance.id, %error, "its terminal can't be reached");
    });
    let is_known = listed.is_ok();
    let panes = listed.unwrap_or_default();
    let launch = instance.launch_id.as_deref();
    let ours: Vec<_> = panes
        .iter()
        .filter(|pane| pane.session == name)
        .filter(|pane| pane.launch.as_ref().map(LaunchId::as_str) == launch)
        .collect();
    let has_session = ours.iter().any(|pane| pane.is_agent);
    let mut roots: Vec<u32> = instance
        .agent
        .iter()
        .filter(|agent| process::is_seen(agent))
        .map(|agent| agent.pid)
        .collect();
    if has_session {
        // A window that a person has linked into a session of their own is spared.
        let running = ours.iter().filter(|pane| {
            pane.life == Life::Running && (pane.is_agent || pane.window == Window::Own)
        });
        roots.extend(running.map(|pane| pane.pid));
    }
    if launch.is_none() && roots.is_empty() && !has_session {
        return Ok(strangers);
    }
    let family = Family {
        roots,
        variable: agent::LAUNCH_ID,
        mark: launch,
        spared: agent::DETACHED,
    };
    // Listed before the kill: afterwards orphans can be recognised only by their mark.
    let members = family.members();
    if let Some(pane) = ours.iter().find(|pane| pane.is_agent) {
        keep_ending(context, instance, pane).await;
    }
    if has_session {
        tmux.kill(&name).await?;
    } else if !is_known {
        // The session may exist all the same; only one of this launch is killed.
        let _ = tmux.kill(&name).await;
    }
    let mut survivors = family.end(members, GRACE).await;
    // An agent that cannot be seen from this pid namespace may not have been ended.
    let agent = instance.agent.iter();
    survivors.extend(
        agent
            .filter(|agent| !process::is_seen(agent) && process::is_alive(agent))
            .cloned(),
    );
    survivors.extend(strangers);
    Ok(survivors)
}

/// Finds processes of another launch in the agent's worktree. They are not the row's to end: it is older than they are,
/// as after a backup was restored.
fn strangers(instance: &Instance) -> Vec<ProcessMark> {
    process::started_with_in(agent::LAUNCH_ID, &instance.worktree_path)
        .into_iter()
        .filter(|(_, launch)| instance.launch_id.as_ref() != Some(launch))
        .filter(|(pid, _)| process::variable_of(*pid, agent::DETACHED).is_none())
        .filter_map(|(pid, _)| process::mark(pid))
        .collect()
}

/// Returns why a worktree is kept whose processes could not be ended.
pub(crate) fn still_in_use(instance: &Instance, survivors: &[ProcessMark]) -> Kept {
    Kept::AgentRunning {
        worktree: instance.worktree_path.display().to_string(),
        pids: survivors.iter().map(|one| one.pid).collect(),
    }
}

/// Finishes an agent and its reviewer because of something that we noticed, and returns the status changes.
pub(crate) async fn finish_with_reviewer(
    context: &Context,
    id: &InstanceId,
    event: StatusEvent,
    reason: String,
) -> Result<Vec<StatusChange>, Error> {
    let run = Run::unattended();
    finish(context, &run, id, Some(event), Some(reason)).await?;
    finish_reviewer(context, &run, id).await?;
    Ok(run.changes())
}

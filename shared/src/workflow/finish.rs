//! Ending an agent: its session, its processes, and what of its work may go.

use std::time::Duration;

use super::instance_facts::session_name;
use super::put_away::{PutAway, leave_by_policy, put_away};
use super::review_round::lose_review;
use super::{Context, Run, agent_files};
use crate::agent;
use crate::config::Cleanup;
use crate::error::Error;
use crate::model::{
    Instance, InstanceId, InstanceKind, LaunchStep, Origin, ProcessMark, Status, StatusChange,
    StatusEvent, TaskStatus,
};
use crate::process::{self, Family, Grace};
use crate::tmux::{LaunchId, Life, Window};

/// How long an agent's processes may take to end by themselves after the terminal is gone, and when asked.
const GRACE: Grace = Grace {
    unasked: Duration::from_millis(2_500),
    asked: Duration::from_millis(1_500),
};

/// How long a person waits for a repository that is locked; after that `reconcile` removes the worktree.
const PATIENCE: Duration = Duration::from_secs(3);

/// An agent that was ended, and what of it was kept.
#[derive(Debug, Clone)]
pub struct Stopped {
    pub instance: Instance,
    pub kept: Option<String>,
}

/// Ends an agent for good. One that has ended already is put away again, which changes nothing.
pub async fn stop(context: &Context, run: &Run, id: &InstanceId) -> Result<Stopped, Error> {
    run.step("Ending the session")?;
    let context = &context.with_patience(PATIENCE);
    let stopped = end(context, run, id, Some(StatusEvent::Terminated), None).await?;
    end_reviewer(context, run, id).await?;
    Ok(stopped)
}

/// Ends the reviewer of a coder that has ended: nobody waits for its verdict.
async fn end_reviewer(context: &Context, run: &Run, coder: &InstanceId) -> Result<(), Error> {
    let coder = coder.clone();
    let pending = context
        .store
        .read(move |r| r.pending_review(&coder))
        .await?;
    if let Some(review) = pending {
        let reason = Some("its coding agent has ended".to_owned());
        let reviewer = &review.review_instance_id;
        end(
            context,
            run,
            reviewer,
            Some(StatusEvent::Terminated),
            reason,
        )
        .await?;
    }
    Ok(())
}

/// Ends an agent: moves it, ends its session, and puts its worktree away by policy.
///
/// The owner mark stands in the row all the while: if this process dies, `reconcile` goes on.
pub(super) async fn end(
    context: &Context,
    run: &Run,
    id: &InstanceId,
    event: Option<StatusEvent>,
    reason: Option<String>,
) -> Result<Stopped, Error> {
    let ended = Box::pin(end_owned(context, run, id, event, reason)).await;
    if ended.is_err() {
        release(context, id).await?;
    }
    ended
}

/// Takes the instance over, unless it was touched since it was looked at.
///
/// A launcher may have finished in the meantime, and then gone: what looked unfinished is whole.
pub(super) async fn claim(context: &Context, instance: &Instance) -> Result<bool, Error> {
    let (seen, me) = (instance.clone(), process::this_process());
    let claimed = context
        .store
        .write(move |w| {
            if !w.instance_exists(&seen.id)? {
                return Ok(false);
            }
            let now = w.instance(&seen.id)?;
            let untouched = now.owner == seen.owner
                && now.server == seen.server
                && now.launch_step == seen.launch_step
                && now.status == seen.status
                && now.status_since == seen.status_since
                && now.created_at == seen.created_at;
            if untouched {
                w.set_owner(&seen.id, Some(&me))?;
            }
            Ok(untouched)
        })
        .await?;
    Ok(claimed)
}

/// Lets go of an instance that could not be put in order, so that whoever looks next tries again.
pub(super) async fn release(context: &Context, id: &InstanceId) -> Result<(), Error> {
    let (id, me) = (id.clone(), process::this_process());
    context
        .store
        .write(move |w| {
            if !w.instance_exists(&id)? {
                return Ok(());
            }
            let instance = w.instance(&id)?;
            if instance.owner.as_ref() != Some(&me) {
                return Ok(());
            }
            // An ended row without an owner counts as put away.
            let nobody = process::nobody();
            w.set_owner(&id, (!instance.status.is_live()).then_some(&nobody))
        })
        .await?;
    Ok(())
}

async fn end_owned(
    context: &Context,
    run: &Run,
    id: &InstanceId,
    event: Option<StatusEvent>,
    reason: Option<String>,
) -> Result<Stopped, Error> {
    let (wanted, me) = (id.clone(), process::this_process());
    let first_note = reason.clone();
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
                w.set_note(&wanted, first_note.as_deref())?;
                if instance.kind == InstanceKind::Review {
                    let reason = first_note.as_deref().unwrap_or("it was stopped");
                    changes.extend(lose_review(w, &instance, reason)?);
                }
                if let Some(task) = &instance.task_id {
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
        Origin::Adopted => PutAway::Gone,
        Origin::Launched => {
            let survivors = end_session(context, &instance).await?;
            if survivors.is_empty() {
                agent_files::remove(context, id)?;
            }
            let settings = context.settings_of(&instance.repository);
            match settings.map_or(Cleanup::Manual, |settings| settings.resources.cleanup) {
                _ if !survivors.is_empty() => PutAway::Kept(still_in_use(&instance, &survivors)),
                // As long as its pull request is open, the work may have to go on.
                Cleanup::Auto if instance.status == Status::PrCreated => PutAway::Gone,
                Cleanup::Auto => put_away(context, &instance).await?,
                Cleanup::Manual | Cleanup::Scheduled => {
                    leave_by_policy(context, &instance, event.is_none()).await?
                }
            }
        }
    };
    // Owned by nobody that lives: the row is unfinished for whoever looks next.
    let owner = matches!(left, PutAway::Later(_)).then(process::nobody);
    let kept = left.left();
    // What is removed in a moment is not worth a note that would outlive it.
    let noted = kept.as_ref().filter(|_| owner.is_none());
    let note = match (&reason, noted) {
        (Some(reason), Some(kept)) => Some(format!("{reason}; {kept}")),
        (Some(text), None) | (None, Some(text)) => Some(text.clone()),
        (None, None) => None,
    };
    let (wanted, me) = (id.clone(), process::this_process());
    let instance = context
        .store
        .write(move |w| {
            if w.instance(&wanted)?.owner != Some(me) {
                // Somebody was faster, and may have taken it up again.
                return w.instance(&wanted);
            }
            if note.is_some() {
                w.set_note(&wanted, note.as_deref())?;
            }
            w.set_launch_step(&wanted, LaunchStep::Ready)?;
            w.set_owner(&wanted, owner.as_ref())?;
            w.instance(&wanted)
        })
        .await?;
    Ok(Stopped { instance, kept })
}

/// Kills the session and everything that the agent has started; returns what could not be ended.
///
/// A session of that name that is not of the row's launch stays, as do processes that are provably neither
/// the agent's descendants nor marked as its own.
pub(super) async fn end_session(
    context: &Context,
    instance: &Instance,
) -> Result<Vec<ProcessMark>, Error> {
    let strangers = strangers(instance);
    let Ok(name) = session_name(instance) else {
        return Ok(strangers);
    };
    let tmux = context.terminals(instance);
    // Its processes can be ended where tmux can't be asked, too.
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
        // What a person has in a session of their own as well is theirs.
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
    // Before the kill: whose parent has ended is known by its mark alone.
    let members = family.members();
    if has_session {
        tmux.kill(&name).await?;
    } else if !is_known {
        // It may be there all the same; tmux kills none that is not of this launch.
        let _ = tmux.kill(&name).await;
    }
    let mut survivors = family.end(members, GRACE).await;
    // One that can't be seen from here, or not by its number, was perhaps not ended.
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

/// Says that a worktree stays because of processes that could not be ended.
pub(super) fn still_in_use(instance: &Instance, survivors: &[ProcessMark]) -> String {
    let pids: Vec<_> = survivors.iter().map(|one| one.pid.to_string()).collect();
    format!(
        "kept {}: process {} works there and can't be ended; `claude-codex clean` removes it later",
        instance.worktree_path.display(),
        pids.join(", ")
    )
}

/// Ends an instance because of something that was noticed, and reports the move.
pub(super) async fn fail(
    context: &Context,
    id: &InstanceId,
    event: StatusEvent,
    reason: String,
) -> Result<Vec<StatusChange>, Error> {
    let run = Run::unattended();
    end(context, &run, id, Some(event), Some(reason)).await?;
    end_reviewer(context, &run, id).await?;
    Ok(run.changes())
}

//! Making the rows and the world agree again: what every command and server does at its start.
//!
//! Cheap when all is well: one query, and one tmux call if some agent should be alive.

use super::finish::{end, fail};
use super::publish_moves::publish_failed;
use super::undo::undo;
use super::{Context, Run};
use crate::error::Error;
use crate::model::{Instance, InstanceKind, LaunchStep, Origin, Status, StatusChange, StatusEvent};
use crate::process;
use crate::store::NewEvent;
use crate::tmux::{Life, PaneState};

/// What a repair has found.
#[derive(Debug, Default)]
pub(super) struct Reconciled {
    /// The moves that it took.
    pub(super) changes: Vec<StatusChange>,
    /// The panes it has looked at, if it had to, and if it has left everything as it was.
    pub(super) panes: Option<Vec<PaneState>>,
}

/// Repairs what a crash, a reboot or a kill has left, and returns the moves that took.
pub async fn reconcile(context: &Context) -> Result<Vec<StatusChange>, Error> {
    Ok(reconcile_and_keep(context).await?.changes)
}

/// Does the same, and keeps what it has seen for whoever wants to look next.
pub(super) async fn reconcile_and_keep(context: &Context) -> Result<Reconciled, Error> {
    let hours = context.settings().resources.execution_timeout_hours;
    let minutes = context.settings().review.timeout_minutes;
    let unsettled = context
        .store
        .read(move |r| r.unsettled(hours, minutes))
        .await?;
    let mut changes = Vec::new();
    for (instance, _) in unsettled
        .iter()
        .filter(|(known, _)| publish_broke_off(known))
    {
        if claim(context, instance).await? {
            let id = instance.id.clone();
            changes.extend(context.store.write(move |w| publish_failed(w, &id)).await?);
        }
    }
    if unsettled
        .iter()
        .all(|(instance, expired)| instance.origin == Origin::Adopted && !expired)
    {
        record(context, &changes).await?;
        return Ok(Reconciled {
            changes,
            panes: None,
        });
    }
    let panes = context.tmux.list().await?;
    let mut healthy = true;
    for (instance, expired) in &unsettled {
        let diagnosis = diagnose(instance, *expired, &panes);
        healthy &= matches!(diagnosis, Diagnosis::Healthy);
        match diagnosis {
            Diagnosis::Healthy => {}
            Diagnosis::UnfinishedLaunch => {
                if claim(context, instance).await? {
                    undo(context, &instance.id).await?;
                }
            }
            Diagnosis::UnfinishedEnd => {
                if claim(context, instance).await? {
                    end(context, &Run::unattended(), &instance.id, None, None).await?;
                }
            }
            Diagnosis::Over(event, reason) => {
                if claim(context, instance).await? {
                    changes.extend(fail(context, &instance.id, event, reason).await?);
                }
            }
        }
    }
    record(context, &changes).await?;
    Ok(Reconciled {
        panes: (healthy && changes.is_empty()).then_some(panes),
        changes,
    })
}

/// Tells whether whoever was publishing the work died in the middle.
fn publish_broke_off(instance: &Instance) -> bool {
    instance.status == Status::CreatingPr && !instance.owner.as_ref().is_some_and(process::is_alive)
}

enum Diagnosis {
    Healthy,
    /// Its launcher died in the middle.
    UnfinishedLaunch,
    /// Whoever was putting it away died in the middle.
    UnfinishedEnd,
    Over(StatusEvent, String),
}

fn diagnose(instance: &Instance, expired: bool, panes: &[PaneState]) -> Diagnosis {
    if instance.owner.as_ref().is_some_and(process::is_alive) {
        return Diagnosis::Healthy;
    }
    if !instance.status.is_live() {
        return Diagnosis::UnfinishedEnd;
    }
    if instance.launch_step != LaunchStep::Ready {
        // One that had lived before has a past to keep; only its new start has failed.
        let first_start =
            instance.status == Status::Started && instance.status_since == instance.created_at;
        return if first_start {
            Diagnosis::UnfinishedLaunch
        } else {
            Diagnosis::Over(StatusEvent::Failed, "its launcher was killed".to_owned())
        };
    }
    if expired {
        return match instance.kind {
            InstanceKind::Review => Diagnosis::Over(
                StatusEvent::Failed,
                "its time was up (review.timeoutMinutes)".to_owned(),
            ),
            InstanceKind::Coding | InstanceKind::Planning => Diagnosis::Over(
                StatusEvent::Terminated,
                "its time was up (resources.executionTimeoutHours)".to_owned(),
            ),
        };
    }
    if instance.origin == Origin::Adopted {
        return Diagnosis::Healthy;
    }
    let pane = panes.iter().find(|pane| {
        pane.is_agent && Some(pane.session.as_str()) == instance.tmux_session.as_deref()
    });
    let (clean, reason) = match pane.map(|pane| pane.life) {
        Some(Life::Running) => return Diagnosis::Healthy,
        None => (false, "its session is gone".to_owned()),
        Some(Life::Exited { status: 0 }) => (true, "the agent has ended".to_owned()),
        Some(Life::Exited { status }) => (false, format!("the agent exited with status {status}")),
        Some(Life::Killed { signal }) => (
            false,
            match signal {
                Some(signal) => format!("the agent was killed by signal {signal}"),
                None => "the agent was killed".to_owned(),
            },
        ),
        Some(Life::Ended) => (false, "the agent has ended".to_owned()),
    };
    let event = match (clean, instance.kind, instance.status) {
        (true, InstanceKind::Planning, Status::Running) => StatusEvent::PlanDone,
        (true, _, _) => StatusEvent::Terminated,
        (false, _, _) => StatusEvent::Failed,
    };
    Diagnosis::Over(event, reason)
}

/// Takes the instance over, unless it was touched since it was looked at.
///
/// A launcher may have finished in the meantime, and then gone: what looked unfinished is whole.
async fn claim(context: &Context, instance: &Instance) -> Result<bool, Error> {
    let (seen, me) = (instance.clone(), process::this_process());
    let claimed = context
        .store
        .write(move |w| {
            if !w.instance_exists(&seen.id)? {
                return Ok(false);
            }
            let now = w.instance(&seen.id)?;
            let untouched = now.owner == seen.owner
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

async fn record(context: &Context, changes: &[StatusChange]) -> Result<(), Error> {
    if changes.is_empty() {
        return Ok(());
    }
    let events: Vec<NewEvent> = changes
        .iter()
        .map(|change| NewEvent::system(&change.instance, "reconcile", vec![change.clone()]))
        .collect();
    context
        .store
        .write(move |w| events.iter().try_for_each(|event| w.insert_event(event)))
        .await?;
    Ok(())
}

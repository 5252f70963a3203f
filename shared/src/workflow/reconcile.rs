//! Making the rows and the world agree again: what every command and server does at its start.
//!
//! Cheap when all is well: one query, and one tmux call for each socket on which some agent should be
//! alive. A row that can't be put in order is reported, and the others are looked at all the same.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::adopt::{end_of_session, is_gone};
use super::clean::clean_one;
use super::deliver::deliver_for_unserved;
use super::finish::{claim, end, fail, release};
use super::local_forge::settle_merges;
use super::panes::{PaneLife, Panes};
use super::publish_moves::publish_failed;
use super::retention::retain_later;
use super::undo::undo;
use super::{Context, Run};
use crate::config::{Cleanup, Settings};
use crate::error::Error;
use crate::model::{
    BootTime, Instance, InstanceId, InstanceKind, LaunchStep, Origin, Status, StatusChange,
    StatusEvent,
};
use crate::process;
use crate::store::NewEvent;
use crate::tmux::Life;

/// How long agents whose tmux server was killed are given to end before they are taken for alive.
const HANG_UP: Duration = Duration::from_millis(300);

/// What was put in order, and what could not be.
#[derive(Debug, Default)]
pub struct Reconciled {
    pub changes: Vec<StatusChange>,
    pub unsettled: Vec<Unsettled>,
}

/// An agent that could not be put in order. Whoever looks next tries again.
#[derive(Debug)]
pub struct Unsettled {
    pub instance: InstanceId,
    pub error: Error,
}

/// Repairs what a crash, a reboot or a kill has left, and returns the moves that took.
pub async fn reconcile(context: &Context) -> Result<Reconciled, Error> {
    let (reconciled, _) = reconcile_and_keep(context).await?;
    // The rows are in order, whatever becomes of this.
    if let Err(error) = Box::pin(deliver_for_unserved(context)).await {
        tracing::warn!(code = %error.code, %error, "cannot deliver for dead servers");
    }
    Ok(reconciled)
}

/// Repairs for somebody who is about to build on it: waits for a git that outlived its killed launcher.
pub(super) async fn reconcile_to_act(context: &Context) -> Result<(), Error> {
    repair_all(context).await?;
    Ok(())
}

/// Does the same as [`reconcile`], and keeps the panes it has seen for whoever wants to look next, if it had to look and
/// has left everything as it was.
pub(super) async fn reconcile_and_keep(
    context: &Context,
) -> Result<(Reconciled, Option<Panes>), Error> {
    // Whoever only looks must not wait for a process that has a repository locked.
    let context = &context.impatient();
    settle_merges(context).await?;
    let reconciled = repair_all(context).await?;
    retain_later(context).await;
    Ok(reconciled)
}

async fn repair_all(context: &Context) -> Result<(Reconciled, Option<Panes>), Error> {
    let (unsettled, repositories) = context
        .store
        .read(|r| Ok((r.unsettled()?, r.repositories_with_leftovers()?)))
        .await?;
    let mut repair = Repair {
        context,
        settings: HashMap::new(),
        now: process::boot_time(),
        healthy: true,
        done: Reconciled::default(),
    };
    for (instance, _) in &unsettled {
        if publish_broke_off(instance) {
            let outcome = repair.take_back_publishing(instance).await;
            repair.note(instance, outcome).await;
        }
    }
    let launched: Vec<&Instance> = unsettled
        .iter()
        .map(|(instance, _)| instance)
        .filter(|instance| instance.origin == Origin::Launched)
        .collect();
    let panes = Panes::of(context, &launched).await;
    let_the_dying_die(&launched, &panes).await;
    for (instance, quiet) in &unsettled {
        let outcome = Box::pin(repair.settle(instance, *quiet, &panes)).await;
        repair.note(instance, outcome).await;
    }
    for repository in repositories {
        Box::pin(repair.clean_by_schedule(&repository)).await?;
    }
    record(context, &repair.done.changes).await?;
    let keep = repair.healthy && repair.done.changes.is_empty();
    Ok((repair.done, keep.then_some(panes)))
}

/// One pass over the rows.
struct Repair<'a> {
    context: &'a Context,
    /// By repository; `None` where they can't be read.
    settings: HashMap<PathBuf, Option<Settings>>,
    now: Option<BootTime>,
    healthy: bool,
    done: Reconciled,
}

impl Repair<'_> {
    async fn take_back_publishing(&mut self, instance: &Instance) -> Result<(), Error> {
        if claim(self.context, instance).await? {
            let id = instance.id.clone();
            let change = self.context.store.write(move |w| publish_failed(w, &id));
            self.done.changes.extend(change.await?);
        }
        Ok(())
    }

    async fn settle(
        &mut self,
        instance: &Instance,
        quiet: i64,
        panes: &Panes,
    ) -> Result<(), Error> {
        let context = self.context;
        let time_is_up = self.time_is_up(instance, quiet);
        let diagnosis = diagnose(instance, time_is_up, panes);
        if matches!(diagnosis, Diagnosis::Healthy) {
            return Ok(());
        }
        self.healthy = false;
        if !claim(context, instance).await? {
            return Ok(());
        }
        match diagnosis {
            Diagnosis::Healthy => {}
            Diagnosis::UnfinishedLaunch => undo(context, &instance.id).await?,
            Diagnosis::UnfinishedEnd => {
                end(context, &Run::unattended(), &instance.id, None, None).await?;
            }
            Diagnosis::Over(event, reason) => {
                let changes = fail(context, &instance.id, event, reason).await?;
                self.done.changes.extend(changes);
            }
        }
        Ok(())
    }

    /// Puts away what agents of a repository left that ended long enough ago (`cleanup = "scheduled"`).
    async fn clean_by_schedule(&mut self, repository: &Path) -> Result<(), Error> {
        let context = self.context;
        let resources = self.settings_of(repository).map(|settings| {
            (
                settings.resources.cleanup,
                settings.resources.cleanup_after_hours,
            )
        });
        let Some((Cleanup::Scheduled, hours)) = resources else {
            return Ok(());
        };
        let key = Context::repository_key(repository);
        let left = context.store.read(move |r| r.left_for_hours(&key, hours));
        for instance in left.await? {
            let outcome = clean_one(context, instance.clone()).await;
            self.note(&instance, outcome.map(drop)).await;
        }
        Ok(())
    }

    fn settings_of(&mut self, repository: &Path) -> Option<&Settings> {
        let context = self.context;
        self.settings
            .entry(repository.to_owned())
            .or_insert_with(|| context.settings_of(repository))
            .as_ref()
    }

    /// Reports a row that could not be put in order, and lets go of it.
    async fn note(&mut self, instance: &Instance, outcome: Result<(), Error>) {
        let Err(error) = outcome else {
            return;
        };
        self.healthy = false;
        tracing::warn!(instance = %instance.id, %error, "an agent can't be put in order");
        if let Err(error) = release(self.context, &instance.id).await {
            tracing::warn!(instance = %instance.id, %error, "a claim can't be released");
        }
        self.done.unsettled.push(Unsettled {
            instance: instance.id.clone(),
            error,
        });
    }

    /// Tells whether an agent has had its time, by the settings of its own repository.
    ///
    /// Counted from its last start by a clock that nobody can set. Where that says nothing (another boot, a
    /// row of an older release), from when it last did something.
    fn time_is_up(&mut self, instance: &Instance, quiet: i64) -> bool {
        if instance.origin == Origin::Adopted {
            return false;
        }
        let Some(settings) = self.settings_of(&instance.repository) else {
            return false;
        };
        let limit = match instance.kind {
            InstanceKind::Review => settings.review.timeout_minutes.saturating_mul(60),
            InstanceKind::Coding | InstanceKind::Planning => settings
                .resources
                .execution_timeout_hours
                .saturating_mul(3_600),
        };
        let measured = self.now.as_ref().zip(instance.started.as_ref());
        let elapsed = measured
            .and_then(|(now, started)| now.since(started))
            .unwrap_or(quiet);
        u64::try_from(elapsed).is_ok_and(|elapsed| elapsed > limit)
    }
}

/// Waits a moment for agents that have just lost their terminal: most end by the hang-up.
async fn let_the_dying_die(launched: &[&Instance], panes: &Panes) {
    let deadline = tokio::time::Instant::now() + HANG_UP;
    while launched.iter().any(|instance| panes.is_orphaned(instance))
        && tokio::time::Instant::now() < deadline
    {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
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

fn diagnose(instance: &Instance, time_is_up: bool, panes: &Panes) -> Diagnosis {
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
    if time_is_up {
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
        let ended = end_of_session(instance.status).filter(|_| is_gone(instance));
        return ended.map_or(Diagnosis::Healthy, |(event, reason)| {
            Diagnosis::Over(event, reason.to_owned())
        });
    }
    let (clean, reason) = match panes.life(instance) {
        PaneLife::Known(Life::Running) | PaneLife::Unreachable | PaneLife::Unknown => {
            return Diagnosis::Healthy;
        }
        PaneLife::Gone => (false, "its session is gone".to_owned()),
        PaneLife::Known(Life::Exited { status: 0 }) => (true, "the agent has ended".to_owned()),
        // exec-agent passes on how the agent ended as a shell does.
        PaneLife::Known(Life::Exited { status }) if status > 128 => {
            let signal = status - 128;
            (false, format!("the agent was killed by signal {signal}"))
        }
        PaneLife::Known(Life::Exited { status }) => {
            (false, format!("the agent exited with status {status}"))
        }
        PaneLife::Known(Life::Killed { signal }) => (
            false,
            match signal {
                Some(signal) => format!("the agent was killed by signal {signal}"),
                None => "the agent was killed".to_owned(),
            },
        ),
        PaneLife::Known(Life::Ended) => (false, "the agent has ended".to_owned()),
    };
    let event = match (clean, instance.kind, instance.status) {
        (true, InstanceKind::Planning, Status::Running) => StatusEvent::PlanDone,
        (true, _, _) => StatusEvent::Terminated,
        (false, _, _) => StatusEvent::Failed,
    };
    Diagnosis::Over(event, reason)
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

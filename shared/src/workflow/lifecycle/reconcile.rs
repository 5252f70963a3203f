//! Reconcile: crash recovery. Compares rows with processes, sessions and worktrees, and repairs the difference.
//!
//! Every command and server runs it at its start. It costs one query and one tmux call per socket if nothing is wrong.
//! Only rows whose owner is dead are repaired, and each is claimed first, so that two processes never repair the same row.
//! A row that cannot be repaired is reported and does not keep the others from being repaired.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::clean::clean_one;
use super::finish::{finish, finish_with_reviewer};
use super::retention::retain_later;
use super::undo::undo;
use crate::config::{Cleanup, Settings};
use crate::error::Error;
use crate::model::{
    BootTime, Instance, InstanceId, InstanceKind, LaunchStep, Origin, Status, StatusChange,
    StatusEvent,
};
use crate::process;
use crate::store::NewEvent;
use crate::tmux::Life;
use crate::workflow::delivery::deliver::deliver_for_dead_servers;
use crate::workflow::detached::notify_in_background;
use crate::workflow::forges::local::settle_merges;
use crate::workflow::identity::adopt::{end_of_session, is_gone};
use crate::workflow::instance::ownership::{claim, release};
use crate::workflow::review_round::publish_failed;
use crate::workflow::terminal::panes::{PaneLife, Panes};
use crate::workflow::{Context, Run};

/// How long agents whose tmux server was killed get to end by the hang-up before they count as alive.
const HANG_UP_GRACE: Duration = Duration::from_millis(300);

/// Result of a pass: the status changes, and the rows that could not be repaired.
#[derive(Debug, Default)]
pub struct Reconciled {
    pub changes: Vec<StatusChange>,
    pub unsettled: Vec<Unsettled>,
}

/// An agent that could not be repaired. The next pass tries again.
#[derive(Debug)]
pub struct Unsettled {
    pub instance: InstanceId,
    pub error: Error,
}

/// Repairs what a crash, a reboot or a kill left behind, and delivers for dead servers.
pub async fn reconcile(context: &Context) -> Result<Reconciled, Error> {
    let (reconciled, _) = reconcile_and_keep(context).await?;
    // The repair has succeeded; a failed delivery must not fail it.
    if let Err(error) = Box::pin(deliver_for_dead_servers(context)).await {
        tracing::warn!(code = %error.code, %error, "cannot deliver for dead servers");
    }
    Ok(reconciled)
}

/// Repairs before a change that depends on it: unlike [`reconcile`], waits for a git that outlived its killed launcher.
pub(crate) async fn reconcile_to_act(context: &Context) -> Result<(), Error> {
    repair_all(context).await?;
    Ok(())
}

/// Does the same as [`reconcile`], and keeps the panes it has seen for whoever wants to look next, if it had to look and
/// has left everything as it was.
pub(crate) async fn reconcile_and_keep(
    context: &Context,
) -> Result<(Reconciled, Option<Panes>), Error> {
    // A command that only reads must not wait for a process that holds a repository's lock.
    let context = &context.with_short_lock_timeout();
    settle_merges(context).await?;
    let reconciled = repair_all(context).await?;
    retain_later(context).await;
    Ok(reconciled)
}

async fn repair_all(context: &Context) -> Result<(Reconciled, Option<Panes>), Error> {
    let (unsettled, repositories) = context
        .store
        .read(|r| Ok((r.needing_reconcile()?, r.repositories_with_leftovers()?)))
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
    wait_for_hang_up(&launched, &panes).await;
    for (instance, quiet) in &unsettled {
        let outcome = Box::pin(repair.settle(instance, *quiet, &panes)).await;
        repair.note(instance, outcome).await;
    }
    for repository in repositories {
        Box::pin(repair.clean_by_schedule(&repository)).await?;
    }
    record(context, &repair.done.changes).await?;
    let has_failed = |change: &StatusChange| change.to == Status::Failed;
    if repair.done.changes.iter().any(has_failed)
        && let Err(error) = notify_in_background(&context.environment, None)
    {
        tracing::warn!(code = %error.code, %error, "cannot notify");
    }
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
                finish(context, &Run::unattended(), &instance.id, None, None).await?;
            }
            Diagnosis::Over(event, reason) => {
                let changes = finish_with_reviewer(context, &instance.id, event, reason).await?;
                self.done.changes.extend(changes);
            }
        }
        Ok(())
    }

    /// Cleans up after agents of a repository that ended long enough ago (`cleanup = "scheduled"`).
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

    /// Reports a row that could not be repaired, and releases it.
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

/// Waits a moment for agents that have just lost their terminal: most are ended by SIGHUP.
async fn wait_for_hang_up(launched: &[&Instance], panes: &Panes) {
    let deadline = tokio::time::Instant::now() + HANG_UP_GRACE;
    while launched.iter().any(|instance| panes.is_orphaned(instance))
        && tokio::time::Instant::now() < deadline
    {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Tells whether the process that was publishing the work died.
fn publish_broke_off(instance: &Instance) -> bool {
    instance.status == Status::CreatingPr && !instance.owner.as_ref().is_some_and(process::is_alive)
}

enum Diagnosis {
    Healthy,
    /// Its launcher died.
    UnfinishedLaunch,
    /// The process that was finishing it died.
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
        // A resumed agent has a conversation and perhaps work to keep: only its restart has failed, so it is not undone.
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

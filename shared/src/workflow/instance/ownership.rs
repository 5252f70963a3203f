//! Ownership of a row: the process in `owner_pid` is the only one that may change an agent's session and worktree.

use std::time::Duration;

use crate::error::{Code, Error};
use crate::model::{Instance, InstanceId};
use crate::process;
use crate::workflow::{Context, Run, Step};

/// Longer than an agent gets for its last turn.
const OWNER_TIMEOUT: Duration = Duration::from_secs(30);
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Claims a row by compare-and-swap: fails if anything about it changed since it was read.
///
/// A launcher may have finished and exited in the meantime, so a row that looked unfinished may be complete.
pub(crate) async fn claim(context: &Context, instance: &Instance) -> Result<bool, Error> {
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

/// Releases a row that could not be repaired, so that the next reconcile tries again.
pub(crate) async fn release(context: &Context, id: &InstanceId) -> Result<(), Error> {
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
            // An ended row without an owner counts as cleaned up, so it is given to a process that never lives.
            let nobody = process::nobody();
            w.set_owner(&id, (!instance.status.is_live()).then_some(&nobody))
        })
        .await?;
    Ok(())
}

/// Error for an agent that another process starts, ends or publishes.
pub(crate) fn owned_by_another(id: &InstanceId) -> Error {
    Error::new(
        Code::NotAvailable,
        format!("another process is starting, ending or publishing `{id}` right now"),
    )
    .hint("Nothing was changed. Try again in a moment.")
}

/// Waits, but not for ever, until nobody else is putting the agent away.
///
/// A session ends only when its agent has had the answer that its work is published.
pub(crate) async fn wait_until_unowned(
    context: &Context,
    run: &Run,
    id: &InstanceId,
) -> Result<(), Error> {
    let deadline = tokio::time::Instant::now() + OWNER_TIMEOUT;
    let mut told = false;
    loop {
        let wanted = id.clone();
        let owner = context
            .store
            .read(move |r| Ok(r.instance(&wanted)?.owner))
            .await?;
        let busy = owner
            .is_some_and(|owner| owner != process::this_process() && process::is_alive(&owner));
        if !busy || tokio::time::Instant::now() >= deadline {
            return Ok(());
        }
        if !told {
            run.step(Step::WaitingForEnd(id.clone()))?;
            told = true;
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

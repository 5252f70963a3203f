//! Lease on one message: a single holder at a time, and a fencing token (epoch) that shuts out earlier holders.

use std::time::{Duration, Instant};

use crate::error::Error;
use crate::model::{Instance, Message, MessageState, ProcessMark, TakenBy};
use crate::process;
use crate::store::{LEASE_SECONDS, LeaseRow};
use crate::tmux::LastInput;
use crate::workflow::Context;

/// The time that must remain on a lease before a step begins: more than any one tmux command takes.
const MIN_LEASE_LEFT: Duration = Duration::from_secs(3);

#[derive(Debug)]
pub(super) struct Lease {
    /// The fencing token: higher than that of any lease before, for this agent.
    pub(super) epoch: u64,
    holder: String,
    /// Monotonic, so that setting the clock does not extend the lease, and running while the process is stopped.
    taken: Instant,
}

impl Lease {
    /// Takes the lease on an owed message, and marks it as typed in the same transaction; `ends` is where the agent's
    /// transcripts end now.
    pub(super) async fn to_type(
        context: &Context,
        message: &Message,
        how: TakenBy,
        ends: Option<String>,
    ) -> Result<Option<Self>, Error> {
        Self::take(context, message, MessageState::Owed, Some((how, ends))).await
    }

    /// Takes the lease on a typed message, to find out what became of it.
    pub(super) async fn to_settle(
        context: &Context,
        message: &Message,
    ) -> Result<Option<Self>, Error> {
        Self::take(context, message, MessageState::Typed, None).await
    }

    async fn take(
        context: &Context,
        message: &Message,
        state: MessageState,
        begin: Option<(TakenBy, Option<String>)>,
    ) -> Result<Option<Self>, Error> {
        let (taken, holder) = (Instant::now(), holder());
        let orphan = present(context, message).await?.and_then(orphan);
        let (id, me) = (message.id.clone(), holder.clone());
        let epoch = context
            .store
            .write(move |w| {
                if w.message(&id)?.map(|message| message.state) != Some(state) {
                    return Ok(None);
                }
                let epoch = w.lease(&id, &me, orphan.as_deref())?;
                if let (Some(_), Some((how, ends))) = (epoch, begin) {
                    if let Some(ends) = ends {
                        w.set_transcript_ends(&id, &ends)?;
                    }
                    w.begin_handing_over(&id, how, &me)?;
                }
                Ok(epoch)
            })
            .await?;
        Ok(epoch.map(|epoch| Self {
            epoch,
            holder,
            taken,
        }))
    }

    /// Raises the database's epoch to that of a pane which refused this lease; false if a newer lease has the pane.
    ///
    /// A pane can be ahead of the database: the database was restored, or another session had messages in the same pane
    /// of a person. Without this, each attempt would wait for the lease before it to expire.
    pub(super) async fn catch_up(
        context: &Context,
        instance: &Instance,
        newest: u64,
    ) -> Result<bool, Error> {
        let id = instance.id.clone();
        Ok(context
            .store
            .write(move |w| w.raise_delivery_epoch(&id, newest))
            .await?)
    }

    /// Tells whether the lease is still ours, for long enough to do one more thing.
    pub(super) async fn is_held(
        &self,
        context: &Context,
        message: &Message,
    ) -> Result<bool, Error> {
        let present = present(context, message).await?;
        // The clock is read last, because the query may have waited for seconds.
        let left = Duration::from_secs(LEASE_SECONDS.into()).saturating_sub(self.taken.elapsed());
        Ok(left >= MIN_LEASE_LEFT
            && present.is_some_and(|row| {
                row.in_force
                    && row.epoch == self.epoch
                    && row.holder.as_deref() == Some(&self.holder)
            }))
    }
}

/// Returns the lease that a message has, or had last.
pub(super) async fn present(
    context: &Context,
    message: &Message,
) -> Result<Option<LeaseRow>, Error> {
    let id = message.id.clone();
    Ok(context.store.read(move |r| r.message_lease(&id)).await?)
}

/// Tells whether a living lease holder is working on the message.
pub(super) fn is_in_use(row: &LeaseRow) -> bool {
    row.in_force && row.holder.as_deref().is_some_and(is_living)
}

/// Returns what was done to the pane for the message since it was typed.
///
/// A later epoch counts as well: whoever takes over may have pressed Enter under a lease of its own and died, and messages are
/// delivered one at a time, so every lease since then was on this message.
pub(super) fn input_for(row: &LeaseRow, last: Option<LastInput>) -> Option<LastInput> {
    last.filter(|last| last.epoch >= row.typed_epoch)
}

fn orphan(row: LeaseRow) -> Option<String> {
    row.holder.filter(|holder| !is_living(holder))
}

pub(super) fn holder() -> String {
    let me = process::this_process();
    format!("{}:{}", me.pid, me.started)
}

/// Tells whether the lease holder is alive. A holder that cannot be parsed counts as alive.
fn is_living(holder: &str) -> bool {
    let mark = holder.split_once(':').and_then(|(pid, started)| {
        Some(ProcessMark {
            pid: pid.parse().ok()?,
            started: started.to_owned(),
        })
    });
    mark.is_none_or(|mark| process::is_alive(&mark))
}

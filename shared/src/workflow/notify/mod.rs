//! Notifications outside the page: a command, a webhook, a message in tmux. Each event once, and only what needs a person.

pub(super) mod bell;
mod channels;
mod event;

use std::time::Duration;

use crate::config::{Config, NotifySettings};
use crate::error::Error;
use crate::model::InstanceId;
use crate::workflow::Context;
use crate::workflow::activity::Activity;
use crate::workflow::attention::Attention;
use crate::workflow::board::{BoardRow, board};
use crate::workflow::detached::notify_in_background;
use crate::workflow::lifecycle::reconcile::reconcile;
use event::Event;

/// How long an agent that has just ended its turn may take to come to rest.
const SETTLE_GRACE: Duration = Duration::from_secs(6);
const SETTLE_INTERVAL: Duration = Duration::from_millis(500);

/// Something that the person could not be told of.
#[derive(Debug)]
pub struct NotifyFailure {
    pub instance: InstanceId,
    pub problem: String,
}

/// Tells the person of what needs them and nobody has told them of. About one agent: waits a moment until it
/// needs them, and finds out if it has died.
pub async fn notify(
    context: &Context,
    only: Option<&InstanceId>,
) -> Result<Vec<NotifyFailure>, Error> {
    // Never by the settings of a repository.
    let settings = Config::load(&context.environment, None, &[])?
        .settings
        .notify;
    if !settings.is_wanted() {
        return Ok(Vec::new());
    }
    let deadline = tokio::time::Instant::now() + SETTLE_GRACE;
    loop {
        let mut rows = board(context, false).await?;
        let has_died =
            |row: &BoardRow| only == Some(&row.instance.id) && row.activity == Activity::Gone;
        if rows.iter().any(has_died) {
            reconcile(context).await?;
            rows = board(context, false).await?;
        }
        rows.retain(|row| only.is_none_or(|id| row.instance.id == *id) && needs_a_person(row));
        if only.is_none() || !rows.is_empty() || tokio::time::Instant::now() >= deadline {
            return tell(context, &settings, &rows).await;
        }
        tokio::time::sleep(SETTLE_INTERVAL).await;
    }
}

/// Starts a process that tells of what these rows need, if nobody has told of it. For loops that look at the board anyway.
pub async fn notify_of(context: &Context, rows: &[BoardRow]) -> Result<(), Error> {
    let events: Vec<(InstanceId, String)> = rows
        .iter()
        .filter(|row| needs_a_person(row))
        .filter_map(|row| Some((row.instance.id.clone(), row.event()?.to_owned())))
        .collect();
    if events.is_empty() {
        return Ok(());
    }
    let is_new = context.store.read(move |r| {
        for (id, event) in &events {
            if !r.is_notified(id, event)? {
                return Ok(true);
            }
        }
        Ok(false)
    });
    if is_new.await? {
        notify_in_background(&context.environment, None)?;
    }
    Ok(())
}

fn needs_a_person(row: &BoardRow) -> bool {
    row.attention().as_ref().is_some_and(Attention::is_urgent)
}

async fn tell(
    context: &Context,
    settings: &NotifySettings,
    rows: &[BoardRow],
) -> Result<Vec<NotifyFailure>, Error> {
    let mut untold = Vec::new();
    for row in rows {
        let (Some(attention), Some(event)) = (row.attention(), row.event()) else {
            continue;
        };
        let (id, event) = (row.instance.id.clone(), event.to_owned());
        let claimed = context
            .store
            .write(move |w| w.claim_notification(&id, &event));
        if !claimed.await? {
            continue;
        }
        let event = Event::new(&row.instance, &attention);
        let problems = channels::send(context, settings, &row.instance, &event).await;
        untold.extend(problems.into_iter().map(|problem| NotifyFailure {
            instance: row.instance.id.clone(),
            problem,
        }));
    }
    Ok(untold)
}

//! One number that goes up with every change, for everybody who is connected.

use std::collections::hash_map::DefaultHasher;
use std::convert::Infallible;
use std::hash::{Hash, Hasher};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{self, Stream};
use serde_json::json;
use shared::error::Error;
use shared::workflow::{self, Activity};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::app::Shared;

/// How often it is looked whether the first page has connected.
const LOOK: Duration = Duration::from_millis(100);
/// How often it is looked what Claude Code sessions do, which is not in the database; only while somebody is connected.
const PULSE: Duration = Duration::from_millis(800);
/// The same for terminals, about which tmux has to be asked.
const TERMINALS: Duration = Duration::from_secs(3);
/// An agent that died is found at once, but what can't be put right is not tried all the time.
const RECONCILE: Duration = Duration::from_secs(10);
/// So that both ends notice when the other has gone.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(15);

/// The number, and who waits for it.
#[derive(Debug)]
pub(crate) struct Changes {
    version: watch::Sender<u64>,
}

impl Changes {
    /// Begins with the time, so that a page of before a restart sees another number.
    pub(crate) fn new() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |since| since.as_millis());
        Self {
            version: watch::Sender::new(u64::try_from(now).unwrap_or(0)),
        }
    }

    pub(crate) fn version(&self) -> u64 {
        *self.version.borrow()
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.version.subscribe()
    }

    pub(crate) fn bump(&self) {
        self.version.send_modify(|version| *version += 1);
    }

    fn is_watched(&self) -> bool {
        self.version.receiver_count() > 0
    }

    /// Returns what tells when somebody is connected.
    pub(crate) fn viewers(&self) -> Viewers {
        Viewers {
            version: self.version.clone(),
        }
    }
}

/// Who is connected.
#[derive(Debug, Clone)]
pub struct Viewers {
    version: watch::Sender<u64>,
}

impl Viewers {
    /// Waits until the first page listens for changes.
    pub async fn first(&self) {
        while self.version.receiver_count() == 0 {
            tokio::time::sleep(LOOK).await;
        }
    }
}

/// Watches the database until the end.
pub(crate) async fn watch_database(app: Shared) -> Result<(), Error> {
    let mut changes = app.context.store.changes()?;
    loop {
        tokio::select! {
            () = app.stop.cancelled() => return Ok(()),
            () = changes.next() => app.changes.bump(),
        }
    }
}

/// Watches what agents do while somebody is connected, and puts right what has died.
pub(crate) async fn watch_activity(app: Shared) {
    let (mut seen, mut felt) = (None, None);
    let (mut looked, mut reconciled) = (None::<Instant>, None::<Instant>);
    while !pause(&app.stop, PULSE).await {
        if !app.changes.is_watched() {
            // Whoever comes next may have seen something in between.
            (seen, looked) = (None, None);
            continue;
        }
        let pulse = workflow::pulse(&app.context).ok();
        if pulse == felt && looked.is_some_and(|at| at.elapsed() < TERMINALS) {
            continue;
        }
        (felt, looked) = (pulse, Some(Instant::now()));
        let Ok(rows) = workflow::board(&app.context, false).await else {
            continue;
        };
        let mut hasher = DefaultHasher::new();
        for row in &rows {
            row.instance.id.hash(&mut hasher);
            std::mem::discriminant(&row.activity).hash(&mut hasher);
        }
        let now = Some(hasher.finish());
        if now != seen {
            seen = now;
            app.changes.bump();
        }
        let died = rows.iter().any(|row| row.activity == Activity::Gone);
        if died && !app.options.read_only && reconciled.is_none_or(|at| at.elapsed() >= RECONCILE) {
            reconciled = Some(Instant::now());
            if let Err(error) = workflow::reconcile(&app.context).await {
                tracing::warn!(code = %error.code, %error, "cannot reconcile");
            }
        }
    }
}

/// Waits; true if the end has come.
pub(crate) async fn pause(stop: &CancellationToken, time: Duration) -> bool {
    tokio::select! {
        () = stop.cancelled() => true,
        () = tokio::time::sleep(time) => false,
    }
}

/// `GET /api/changes`: `hello` with the present number, then `change` with each later one.
pub(crate) fn stream(app: &Shared) -> Sse<impl Stream<Item = Result<Event, Infallible>> + use<>> {
    let numbers = app.changes.subscribe();
    let stop = app.stop.clone();
    let events = stream::unfold(
        (numbers, stop, true),
        |(mut numbers, stop, first)| async move {
            if !first {
                tokio::select! {
                    () = stop.cancelled() => return None,
                    changed = numbers.changed() => changed.ok()?,
                }
            }
            let version = *numbers.borrow_and_update();
            let name = if first { "hello" } else { "change" };
            let event = Event::default()
                .event(name)
                .data(json!({ "version": version }).to_string());
            Some((Ok(event), (numbers, stop, false)))
        },
    );
    Sse::new(events).keep_alive(KeepAlive::new().interval(HEARTBEAT))
}

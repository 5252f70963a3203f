//! The change feed: a version number that goes up with every change, as server-sent events at `/api/changes`.

use std::convert::Infallible;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{self, Stream};
use serde_json::json;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// How often to check whether the first page has connected.
const VIEWER_POLL_INTERVAL: Duration = Duration::from_millis(100);
/// How often idle streams send a comment, so that both ends notice a lost connection.
pub(crate) const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(15);

/// The version number, and the viewers who wait for the next one. Clones share it.
#[derive(Debug, Clone)]
pub struct ChangeFeed {
    version: watch::Sender<u64>,
}

impl ChangeFeed {
    /// Starts with the time, so that pages from before a restart see another number.
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

    pub(crate) fn has_viewers(&self) -> bool {
        self.version.receiver_count() > 0
    }

    /// Waits until the first page listens for changes.
    pub async fn first_viewer(&self) {
        while !self.has_viewers() {
            tokio::time::sleep(VIEWER_POLL_INTERVAL).await;
        }
    }

    /// Streams `hello` with the present version, then `change` with each later one.
    pub(crate) fn stream(
        &self,
        stop: CancellationToken,
    ) -> Sse<impl Stream<Item = Result<Event, Infallible>> + use<>> {
        let events = stream::unfold(
            (self.subscribe(), stop, true),
            |(mut versions, stop, first)| async move {
                if !first {
                    tokio::select! {
                        () = stop.cancelled() => return None,
                        changed = versions.changed() => changed.ok()?,
                    }
                }
                let version = *versions.borrow_and_update();
                let name = if first { "hello" } else { "change" };
                let event = Event::default()
                    .event(name)
                    .data(json!({ "version": version }).to_string());
                Some((Ok(event), (versions, stop, false)))
            },
        );
        Sse::new(events).keep_alive(KeepAlive::new().interval(HEARTBEAT_INTERVAL))
    }
}

//! Live terminals as server-sent events: one watcher per watched terminal, shared by all its viewers.

mod pipe;
mod screen;
mod viewer;
mod watcher;

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;

use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{self, Stream};
use shared::error::Error;
use shared::model::Instance;
use shared::workflow::{self, Context};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::change_feed::{ChangeFeed, HEARTBEAT_INTERVAL};

use screen::Seen;
use viewer::Viewer;
use watcher::{Watched, Watcher, lock};

pub(crate) use screen::cursor;
pub(crate) use viewer::controller;

/// The terminals that have viewers.
#[derive(Debug)]
pub(crate) struct Terminals {
    context: Context,
    change_feed: ChangeFeed,
    stop: CancellationToken,
    watched: Watched,
    watchers: TaskTracker,
    /// For named pipes.
    folder: PathBuf,
}

impl Terminals {
    pub(crate) fn new(context: Context, change_feed: ChangeFeed, stop: CancellationToken) -> Self {
        let folder = context.state_dir().join("terminals");
        pipe::remove_orphans(&folder);
        Self {
            context,
            change_feed,
            stop,
            watched: Watched::default(),
            watchers: TaskTracker::new(),
            folder,
        }
    }

    /// Streams an agent's terminal: first the whole screen, then the rows that change.
    pub(crate) async fn stream(
        &self,
        instance: &Instance,
    ) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>> + use<>>, Error> {
        // An agent without a terminal is an error before the stream begins.
        workflow::attach_argv(&self.context, instance)?;
        let viewer = Viewer {
            terminal: self.join(instance),
            changes: self.change_feed.subscribe(),
            controller: controller(&self.context, &instance.id).await?,
            context: self.context.clone(),
            id: instance.id.clone(),
            shown: None,
            stop: self.stop.clone(),
            ended: false,
        };
        let events = stream::unfold(viewer, |mut viewer| async move {
            let event = viewer.next().await?;
            Some((Ok(event), viewer))
        });
        Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(HEARTBEAT_INTERVAL)))
    }

    /// Subscribes to a terminal, and starts its watcher for the first viewer.
    fn join(&self, instance: &Instance) -> watch::Receiver<Seen> {
        let mut watched = lock(&self.watched);
        if let Some(publisher) = watched.get(&instance.id) {
            return publisher.subscribe();
        }
        let (publisher, receiver) = watch::channel(Seen::Nothing);
        let publisher = Arc::new(publisher);
        watched.insert(instance.id.clone(), Arc::clone(&publisher));
        let new = Watcher {
            context: self.context.clone(),
            instance: instance.clone(),
            changes: self.change_feed.subscribe(),
            publisher,
            watched: Arc::clone(&self.watched),
            folder: self.folder.clone(),
            stop: self.stop.clone(),
        };
        self.watchers.spawn(new.run());
        receiver
    }

    /// Waits until all watchers have ended after `stop`, and removed their pipes.
    pub(crate) async fn ended(&self) {
        self.watchers.close();
        self.watchers.wait().await;
        // Fails if the folder is not empty: another dashboard may be running.
        let _ = std::fs::remove_dir(&self.folder);
    }
}

//! One viewer of a terminal: turns what its watcher publishes into server-sent events.

use std::sync::Arc;

use axum::response::sse::Event;
use shared::error::Error;
use shared::model::InstanceId;
use shared::workflow::{self, Context};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::screen::{Screen, Seen};
use crate::change_feed::HEARTBEAT_INTERVAL;
use crate::view::{Controller, ScreenEvent};

pub(super) struct Viewer {
    pub(super) context: Context,
    pub(super) id: InstanceId,
    pub(super) terminal: watch::Receiver<Seen>,
    pub(super) changes: watch::Receiver<u64>,
    /// What the viewer was sent last.
    pub(super) shown: Option<Arc<Screen>>,
    pub(super) controller: Option<Controller>,
    pub(super) stop: CancellationToken,
    pub(super) ended: bool,
}

/// Returns who controls a terminal.
pub(crate) async fn controller(
    context: &Context,
    id: &InstanceId,
) -> Result<Option<Controller>, Error> {
    let control = workflow::control(context, id).await?;
    Ok(control.map(|control| Controller {
        name: control.holder,
        until: control.until,
    }))
}

impl Viewer {
    pub(super) async fn next(&mut self) -> Option<Event> {
        if self.ended {
            return None;
        }
        loop {
            let seen = self.terminal.borrow_and_update().clone();
            match seen {
                Seen::Nothing => {}
                Seen::Gone(error) => {
                    self.ended = true;
                    let text = serde_json::to_string(&error).unwrap_or_default();
                    return Some(Event::default().event("gone").data(text));
                }
                Seen::Screen(screen) => {
                    if self.shown.as_ref() != Some(&screen) {
                        return Some(self.show(screen));
                    }
                }
            }
            let stop = self.stop.clone();
            tokio::select! {
                () = stop.cancelled() => return None,
                changed = self.terminal.changed() => changed.ok()?,
                changed = self.changes.changed() => {
                    changed.ok()?;
                    if let Some(event) = self.controlled().await {
                        return Some(event);
                    }
                }
                // A lease that is not renewed expires without a change in the database.
                () = tokio::time::sleep(HEARTBEAT_INTERVAL), if self.controller.is_some() => {
                    if let Some(event) = self.controlled().await {
                        return Some(event);
                    }
                }
            }
        }
    }

    fn show(&mut self, screen: Arc<Screen>) -> Event {
        let event = screen.since(self.shown.as_deref(), self.controller.clone());
        self.shown = Some(screen);
        sse(&event)
    }

    /// Returns an update if another person is in control than the viewer knows of.
    async fn controlled(&mut self) -> Option<Event> {
        let now = controller(&self.context, &self.id).await.ok()?;
        let name = |controller: &Option<Controller>| {
            controller
                .as_ref()
                .map(|controller| controller.name.clone())
        };
        let same = name(&now) == name(&self.controller);
        self.controller = now;
        let screen = self.shown.clone()?;
        (!same).then(|| sse(&screen.since(Some(&screen), self.controller.clone())))
    }
}

fn sse(event: &ScreenEvent) -> Event {
    let text = serde_json::to_string(event).unwrap_or_default();
    Event::default().event("screen").data(text)
}

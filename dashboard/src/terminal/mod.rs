//! Live terminals: one watcher for each that somebody looks at, none for the others.

mod pipe;
mod watcher;

use std::collections::HashMap;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{self, Stream};
use shared::error::Error;
use shared::model::{Instance, InstanceId};
use shared::tmux::PaneView;
use shared::workflow;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::app::Shared;
use crate::changes::HEARTBEAT;
use crate::screen;
use crate::view::{Controller, Cursor, ScreenEvent, ScreenRow};

/// What a terminal shows at one moment, rendered once for all who look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Screen {
    rows: Vec<String>,
    columns: u32,
    height: u32,
    cursor: Cursor,
    title: String,
    alive: bool,
    scrolled: u32,
}

impl Screen {
    fn of(view: &PaneView) -> Self {
        Self {
            rows: screen::rows_html(&view.text),
            columns: view.columns,
            height: view.rows,
            cursor: cursor(view),
            title: view.title.clone(),
            alive: !view.dead,
            scrolled: view.scrolled,
        }
    }

    /// Returns what somebody has to be told who has seen another screen, or none.
    fn since(&self, seen: Option<&Self>, controller: Option<Controller>) -> ScreenEvent {
        let whole = seen.is_none_or(|seen| {
            (seen.columns, seen.height, seen.rows.len())
                != (self.columns, self.height, self.rows.len())
        });
        let rows = self.rows.iter().enumerate().filter(|(number, html)| {
            whole || seen.and_then(|seen| seen.rows.get(*number)) != Some(*html)
        });
        ScreenEvent {
            whole,
            rows: rows
                .map(|(number, html)| ScreenRow {
                    n: u32::try_from(number).unwrap_or(u32::MAX),
                    html: html.clone(),
                })
                .collect(),
            columns: self.columns,
            height: self.height,
            cursor: self.cursor,
            title: self.title.clone(),
            alive: self.alive,
            scrolled: self.scrolled,
            controller,
        }
    }
}

pub(crate) fn cursor(view: &PaneView) -> Cursor {
    Cursor {
        x: view.cursor_x,
        y: view.cursor_y,
        visible: view.cursor_visible,
    }
}

/// What a watcher has seen: nothing yet, a screen, or that there is none any more.
#[derive(Debug, Clone, Default)]
enum Seen {
    #[default]
    Nothing,
    Screen(Arc<Screen>),
    Gone(Error),
}

type Sight = watch::Sender<Seen>;

/// The terminals that somebody looks at.
#[derive(Debug)]
pub(crate) struct Terminals {
    watched: Arc<Mutex<HashMap<InstanceId, Arc<Sight>>>>,
    /// For named pipes.
    folder: PathBuf,
    watchers: TaskTracker,
    stop: CancellationToken,
}

impl Terminals {
    pub(crate) fn new(state_dir: &Path) -> Self {
        let folder = state_dir.join("terminals");
        pipe::forget_orphans(&folder);
        Self {
            watched: Arc::default(),
            folder,
            watchers: TaskTracker::new(),
            stop: CancellationToken::new(),
        }
    }

    /// Looks at a terminal together with whoever else does.
    fn join(&self, app: &Shared, instance: &Instance) -> watch::Receiver<Seen> {
        let mut watched = lock(&self.watched);
        if let Some(sight) = watched.get(&instance.id) {
            return sight.subscribe();
        }
        let (sight, receiver) = watch::channel(Seen::Nothing);
        let sight = Arc::new(sight);
        watched.insert(instance.id.clone(), Arc::clone(&sight));
        let new = watcher::Watcher {
            context: app.context.clone(),
            instance: instance.clone(),
            changes: app.changes.subscribe(),
            sight,
            watched: Arc::clone(&self.watched),
            folder: self.folder.clone(),
            stop: self.stop.clone(),
        };
        self.watchers.spawn(new.run());
        receiver
    }

    /// Ends all watchers and what they have laid out.
    pub(crate) async fn end(&self) {
        self.stop.cancel();
        self.watchers.close();
        self.watchers.wait().await;
        // Only an empty folder goes: another dashboard may be up.
        let _ = std::fs::remove_dir(&self.folder);
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One who looks, and what they have been shown.
struct Viewer {
    app: Shared,
    id: InstanceId,
    sight: watch::Receiver<Seen>,
    changes: watch::Receiver<u64>,
    shown: Option<Arc<Screen>>,
    controller: Option<Controller>,
    ended: bool,
}

/// `GET /api/instances/{id}/terminal`: the whole screen, then what changes on it.
pub(crate) async fn stream(
    app: &Shared,
    id: &InstanceId,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>> + use<>>, Error> {
    let instance = app.instance(id).await?;
    // An agent without a terminal is an error before the stream begins.
    workflow::attach_argv(&app.context, &instance)?;
    let viewer = Viewer {
        sight: app.terminals.join(app, &instance),
        changes: app.changes.subscribe(),
        controller: controller(app, id).await?,
        app: Arc::clone(app),
        id: id.clone(),
        shown: None,
        ended: false,
    };
    let events = stream::unfold(viewer, |mut viewer| async move {
        let event = viewer.next().await?;
        Some((Ok(event), viewer))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(HEARTBEAT)))
}

/// Returns who has control of a terminal.
pub(crate) async fn controller(app: &Shared, id: &InstanceId) -> Result<Option<Controller>, Error> {
    let control = workflow::control(&app.context, id).await?;
    Ok(control.map(|control| Controller {
        name: control.holder,
        until: control.until,
    }))
}

impl Viewer {
    async fn next(&mut self) -> Option<Event> {
        if self.ended {
            return None;
        }
        loop {
            let seen = self.sight.borrow_and_update().clone();
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
            let stop = self.app.stop.clone();
            tokio::select! {
                () = stop.cancelled() => return None,
                changed = self.sight.changed() => changed.ok()?,
                changed = self.changes.changed() => {
                    changed.ok()?;
                    if let Some(event) = self.controlled().await {
                        return Some(event);
                    }
                }
                // Control that is not renewed ends without a change.
                () = tokio::time::sleep(HEARTBEAT), if self.controller.is_some() => {
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

    /// Returns what to tell if somebody else is in control than was said before.
    async fn controlled(&mut self) -> Option<Event> {
        let now = controller(&self.app, &self.id).await.ok()?;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn screen(rows: &[&str], columns: u32) -> Screen {
        Screen {
            rows: rows.iter().map(|row| (*row).to_owned()).collect(),
            columns,
            height: 2,
            cursor: Cursor {
                x: 0,
                y: 0,
                visible: true,
            },
            title: String::new(),
            alive: true,
            scrolled: 0,
        }
    }

    #[test]
    fn only_rows_that_changed_are_sent() {
        let (first, second) = (screen(&["a", "b"], 80), screen(&["a", "c"], 80));
        let all = first.since(None, None);
        assert!(all.whole && all.rows.len() == 2);
        let changed = second.since(Some(&first), None);
        assert!(!changed.whole);
        let rows: Vec<_> = changed.rows.iter().map(|row| (row.n, &*row.html)).collect();
        assert_eq!(rows, [(1, "c")]);
        assert!(screen(&["a", "b"], 90).since(Some(&first), None).whole);
    }
}

//! Change notification: notices commits of other processes and of this one (`data_version`, inotify).
//!
//! `PRAGMA data_version` is the truth. It counts the commits of every connection but the one that is
//! asked, so the watcher has a connection of its own, and a thread of its own, because it may have to wait.
//! What wakes it is a change of the files (inotify); a slow look is the safety net. Where there is no
//! inotify, it looks more often. Who waits for messages to one agent listens to that agent's wake file instead of
//! the database: it is written after the commit, so there is nothing to look up.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::watch;

use super::database::Files;
use super::file_events::{FileEvents, Watched};
use super::{StoreError, open, wake};
use crate::model::InstanceId;

/// How often the database is looked at though nothing was heard.
const FALLBACK_INTERVAL: Duration = Duration::from_secs(3);
/// The same where changes of files can't be heard.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// The log is written before the commit shows, and nothing is heard of the latter. Also the pause after a
/// change: dozens of servers are woken by each commit of a busy one, and may take some together.
const MIN_INTERVAL: Duration = Duration::from_millis(100);
/// The first of the looks that wait for a commit to show; each next one comes after twice the time.
const FIRST_POLL_INTERVAL: Duration = Duration::from_millis(1);

/// Tells of commits. Those that come while nobody waits are told at the next [`Changes::next`].
#[derive(Debug)]
pub struct Changes {
    number: watch::Receiver<u64>,
    /// Keeps the thread.
    _watcher: Arc<Watcher>,
}

impl Changes {
    /// Takes what has come so far for known.
    pub fn forget(&mut self) {
        self.number.mark_unchanged();
    }

    /// Tells whether something has come that is not known.
    pub fn is_new(&self) -> bool {
        // The sender lives as long as this does.
        self.number.has_changed().unwrap_or(false)
    }

    /// Waits for something that is not known. It may be nothing that matters, but nothing is missed.
    pub async fn next(&mut self) {
        if self.number.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// The thread that watches; it ends with the last handle.
#[derive(Debug)]
pub(super) struct Watcher {
    number: watch::Sender<u64>,
}

impl Watcher {
    /// Watches for every commit.
    pub(super) fn start(path: &Path) -> Result<Arc<Self>, std::io::Error> {
        Self::run(Watch::new(path, None))
    }

    /// Watches for messages to one agent.
    pub(super) fn start_for(
        path: &Path,
        instance: &InstanceId,
    ) -> Result<Arc<Self>, std::io::Error> {
        Self::run(Watch::new(path, Some(wake::file(path, instance))))
    }

    fn run(watch: Watch) -> Result<Arc<Self>, std::io::Error> {
        let watcher = Arc::new(Self {
            number: watch::Sender::new(0),
        });
        let told = Arc::downgrade(&watcher);
        thread::Builder::new()
            .name("store-watch".to_owned())
            .spawn(move || watch.run(&told))?;
        Ok(watcher)
    }

    pub(super) fn changes(self: &Arc<Self>) -> Changes {
        Changes {
            number: self.number.subscribe(),
            _watcher: Arc::clone(self),
        }
    }
}

struct Watch {
    path: PathBuf,
    /// The only file that is listened to; none: those of the database.
    wake_file: Option<PathBuf>,
    events: Option<FileEvents>,
    opened: Option<(Connection, Files)>,
    seen: Option<i64>,
}

impl Watch {
    fn new(path: &Path, wake_file: Option<PathBuf>) -> Self {
        Self {
            path: path.to_owned(),
            wake_file,
            events: None,
            opened: None,
            seen: None,
        }
    }

    fn run(mut self, told: &Weak<Watcher>) {
        // What was committed before the first look is told too: a listener may be older than that.
        let mut changed = true;
        let mut pause = FALLBACK_INTERVAL;
        loop {
            // Before the look, so that what comes after it is heard.
            if self.events.is_none() {
                self.listen();
            }
            let heard = self.events.as_mut().is_some_and(FileEvents::take);
            changed |= (heard && self.wake_file.is_some()) || self.poll();
            if changed {
                match told.upgrade() {
                    Some(watcher) => watcher.number.send_modify(|number| *number += 1),
                    None => return,
                }
                changed = false;
                if self.wake_file.is_none() {
                    thread::sleep(MIN_INTERVAL);
                    pause = FIRST_POLL_INTERVAL;
                    continue;
                }
            }
            if heard && self.wake_file.is_none() {
                pause = FIRST_POLL_INTERVAL;
            }
            if !self.wait(pause) {
                pause = if pause < MIN_INTERVAL {
                    pause * 2
                } else {
                    FALLBACK_INTERVAL
                };
            }
            if told.strong_count() == 0 {
                return;
            }
        }
    }

    /// Waits until a file changes or the time is up; true if it was a file.
    fn wait(&mut self, time: Duration) -> bool {
        if time >= FALLBACK_INTERVAL {
            // The folder may be another one by now.
            self.listen();
        }
        if let Some(events) = &self.events {
            return events.wait(time);
        }
        thread::sleep(time.min(POLL_INTERVAL));
        false
    }

    fn listen(&mut self) {
        let watched = match &self.wake_file {
            Some(file) => {
                wake::make(file);
                Watched::file(file)
            }
            None => Watched::database(&self.path),
        };
        self.events = FileEvents::of(watched, self.events.take());
    }

    /// Tells whether something was committed since the last look.
    fn poll(&mut self) -> bool {
        if self
            .opened
            .as_ref()
            .is_some_and(|(_, files)| files.have_moved())
        {
            self.opened = None;
        }
        if self.opened.is_none() {
            // Another connection's numbers mean nothing to the next one: its first is news.
            self.seen = None;
        }
        // A database that can't be read for once is looked at again.
        let now = self.version().ok();
        let changed = now.is_some() && now != self.seen;
        self.seen = now.or(self.seen);
        changed
    }

    fn version(&mut self) -> Result<i64, StoreError> {
        let (connection, files) = match self.opened.take() {
            Some(opened) => opened,
            None => (open::open_to_watch(&self.path)?, Files::at(&self.path)),
        };
        let version = connection.query_row("PRAGMA data_version", [], |row| row.get(0))?;
        self.opened = Some((connection, files));
        Ok(version)
    }
}

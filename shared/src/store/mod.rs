//! The database: the only place with SQL.
//!
//! One file per table holds its rows and queries. Reads go through [`Reader`], writes through
//! [`Writer`], and the only way to get a [`Writer`] is [`Store::write`], which is BEGIN IMMEDIATE:
//! two processes that read before they write then queue up instead of failing.

mod adopted;
mod attention;
mod busy;
mod care;
mod changes;
mod continued_branches;
mod contradictions;
mod database;
mod draft_comments;
mod endings;
mod error;
mod events;
mod file_events;
mod file_names;
mod github_state;
mod ids;
mod instances;
mod local_merges;
mod messages;
mod notifications;
mod open;
mod overview;
mod pane_control;
mod phases;
mod place;
mod plans;
mod pull_requests;
mod pull_standings;
mod queue;
mod retention;
mod reviews;
mod row;
mod schema;
mod task_edits;
mod tasks;
mod tdd_runs;
mod totals;
mod turns;
mod usage;
mod wake;
mod webhooks;

use std::cell::RefCell;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use changes::Watcher;
use database::{Database, Opened, Purpose};
use queue::Queue;
use rusqlite::{Connection, TransactionBehavior};

pub use care::{Copied, Depth, Restored, back_up, restore, stamp};
pub use changes::Changes;
pub use contradictions::Contradiction;
pub use draft_comments::NewDraftComment;
pub use endings::NewEnding;
pub use error::StoreError;
pub use events::{EventQuery, EventRow, NewEvent};
pub use github_state::CachedResponse;
pub use instances::{NewInstance, NewStart};
pub use local_merges::LocalMerge;
pub use messages::{LEASE_SECONDS, LeaseRow, NewMessage};
pub use notifications::stuck_event;
pub use overview::{LastEvent, Overview};
pub use pane_control::PaneControl;
pub use phases::{NewPhase, PhaseRow, Violation};
pub use pull_standings::{OpenPull, PullStanding, SeenCommits};
pub use retention::{EndedAgent, Holdings, RowLimits};
pub use reviews::{NewReview, PersonReview};
pub use task_edits::TaskChange;
pub use tasks::{NewTask, TaskPage};
pub use tdd_runs::{NewTddRun, NextTurn};
pub use totals::EventTotal;
pub use turns::EndedTurn;
pub use usage::{NewUsage, TranscriptRow, UsageRows};

use crate::model::InstanceId;

/// The time now, as stored.
const NOW: &str = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')";

/// A handle on the database; clones share one connection.
#[derive(Debug, Clone)]
pub struct Store {
    database: Arc<Database>,
    /// Where async callers line up; started by the first.
    queue: Arc<OnceLock<Queue>>,
    /// What notices changes; started by the first who asks for them.
    watcher: Arc<OnceLock<Arc<Watcher>>>,
}

/// What may be asked.
#[derive(Debug)]
pub struct Reader<'c> {
    connection: &'c Connection,
}

/// What may be changed, inside one write transaction.
#[derive(Debug)]
pub struct Writer<'c> {
    reader: Reader<'c>,
    /// Whose servers are to be woken once this is committed.
    owed: RefCell<Vec<InstanceId>>,
}

impl<'c> Writer<'c> {
    fn new(connection: &'c Connection) -> Self {
        Self {
            reader: Reader { connection },
            owed: RefCell::default(),
        }
    }
}

impl<'c> std::ops::Deref for Writer<'c> {
    type Target = Reader<'c>;

    fn deref(&self) -> &Self::Target {
        &self.reader
    }
}

impl Store {
    /// Returns the database of that name. It is opened, made or migrated when it is first used.
    pub fn at(path: &Path) -> Self {
        Self {
            database: Arc::new(Database::new(path)),
            queue: Arc::default(),
            watcher: Arc::default(),
        }
    }

    /// Like [`Store::at`], and opens it on the calling thread.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let store = Self::at(path);
        store.database.with(Purpose::Read, |_| Ok(()))?;
        Ok(store)
    }

    pub fn path(&self) -> &Path {
        self.database.path()
    }

    /// Answers a question from one consistent snapshot, off the async threads.
    pub async fn read<T, F>(&self, question: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Reader<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        self.queue()?.read(question).await
    }

    /// Makes a change, all of it or nothing, off the async threads. Changes that wait at the same
    /// time share a commit.
    ///
    /// The closure runs inside the write transaction: it must do nothing but talk to the database.
    pub async fn write<T, F>(&self, change: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Writer<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        self.queue()?.write(change).await
    }

    /// Like [`Store::read`], on the calling thread.
    pub fn read_now<T>(
        &self,
        question: impl FnOnce(&Reader<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.database.with(Purpose::Read, |opened| {
            let connection = &opened
                .connection
                .transaction_with_behavior(TransactionBehavior::Deferred)?;
            question(&Reader { connection })
        })
    }

    /// Like [`Store::write`], on the calling thread.
    pub fn write_now<T>(
        &self,
        change: impl FnOnce(&Writer<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.database.with(Purpose::Write, |opened| {
            let Opened { connection, files } = opened;
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let writer = Writer::new(&transaction);
            let value = change(&writer)?;
            let owed = writer.owed.into_inner();
            queue::commit(transaction, files)?;
            for id in &owed {
                files.wake(id);
            }
            Ok(value)
        })
    }

    /// Returns what tells of every commit from now on, whoever makes it.
    pub fn changes(&self) -> Result<Changes, StoreError> {
        if let Some(watcher) = self.watcher.get() {
            return Ok(watcher.changes());
        }
        let started =
            Watcher::start(self.path()).map_err(|source| StoreError::Thread { source })?;
        // Two that began at once: the other's watcher ends with its only handle.
        Ok(self.watcher.get_or_init(|| started).changes())
    }

    /// Returns what tells, at once, of every message that an agent is owed from now on. It tells of other changes
    /// too, but late: a server need not wake at every commit of all others.
    pub fn messages_to(&self, instance: &InstanceId) -> Result<Changes, StoreError> {
        let watcher = Watcher::start_for(self.path(), instance)
            .map_err(|source| StoreError::Thread { source })?;
        Ok(watcher.changes())
    }

    /// Looks for damage in the pages; an empty answer means that there is none.
    pub fn check(&self) -> Result<Vec<String>, StoreError> {
        self.check_to(Depth::Pages)
    }

    /// Looks for damage; an empty answer means that there is none.
    pub fn check_to(&self, depth: Depth) -> Result<Vec<String>, StoreError> {
        self.database.with(Purpose::Read, |opened| {
            care::problems(&opened.connection, depth)
        })
    }

    fn queue(&self) -> Result<&Queue, StoreError> {
        if let Some(queue) = self.queue.get() {
            return Ok(queue);
        }
        let started = Queue::start(Arc::clone(&self.database))
            .map_err(|source| StoreError::Thread { source })?;
        // Two that began at once: the other's queue ends with its only handle.
        Ok(self.queue.get_or_init(|| started))
    }
}

#[cfg(test)]
mod care_tests;
#[cfg(test)]
mod file_tests;
#[cfg(test)]
mod queue_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod upgrade_tests;

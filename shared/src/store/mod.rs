//! The database: the only place with SQL.
//!
//! One file per table holds its rows and queries. Reads go through [`Reader`], writes through
//! [`Writer`], and the only way to get a [`Writer`] is [`Store::write`], which is BEGIN IMMEDIATE:
//! two processes that read before they write then queue up instead of failing.

mod error;
mod events;
mod github_state;
mod instances;
mod messages;
mod open;
mod overview;
mod pane_control;
mod phases;
mod pull_requests;
mod queue;
mod reviews;
mod row;
mod schema;
mod tasks;
mod tdd_runs;
mod totals;
mod webhooks;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use queue::Queue;
use rusqlite::{Connection, TransactionBehavior};

pub use error::StoreError;
pub use events::{EventRow, NewEvent};
pub use github_state::Heard;
pub use instances::{NewInstance, NewStart};
pub use messages::NewMessage;
pub use overview::{EventQuery, LastEvent, Overview};
pub use pane_control::PaneControl;
pub use phases::{NewPhase, PhaseRow, Violation};
pub use reviews::NewReview;
pub use tasks::{NewTask, TaskPage};
pub use tdd_runs::{NewTddRun, NextTurn};
pub use totals::{EventTotal, EventTotals};

/// The time now, as stored.
const NOW: &str = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')";

/// A handle on the database; clones share one connection.
#[derive(Debug, Clone)]
pub struct Store {
    path: PathBuf,
    connection: Arc<Mutex<Connection>>,
    /// Where async callers line up; started by the first.
    queue: Arc<OnceLock<Queue>>,
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
}

impl<'c> std::ops::Deref for Writer<'c> {
    type Target = Reader<'c>;

    fn deref(&self) -> &Self::Target {
        &self.reader
    }
}

impl Store {
    /// Opens the database, making or migrating it if need be.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let connection = open::open(path)?;
        Ok(Self {
            path: path.to_owned(),
            connection: Arc::new(Mutex::new(connection)),
            queue: Arc::default(),
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
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
        let mut connection = self.lock();
        let snapshot = connection.transaction_with_behavior(TransactionBehavior::Deferred)?;
        question(&Reader {
            connection: &snapshot,
        })
    }

    /// Like [`Store::write`], on the calling thread.
    pub fn write_now<T>(
        &self,
        change: impl FnOnce(&Writer<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut connection = self.lock();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let value = change(&Writer {
            reader: Reader {
                connection: &transaction,
            },
        })?;
        transaction.commit()?;
        Ok(value)
    }

    /// Returns a number that changes whenever another process has committed.
    pub fn data_version(&self) -> Result<i64, StoreError> {
        let version = self
            .lock()
            .query_row("PRAGMA data_version", [], |row| row.get(0))?;
        Ok(version)
    }

    /// Looks for damage; an empty answer means that there is none.
    pub fn check(&self) -> Result<Vec<String>, StoreError> {
        let connection = self.lock();
        let mut statement = connection.prepare("PRAGMA quick_check(5)")?;
        let rows = statement.query_map([], |row| row.get::<_, String>(0))?;
        let problems = rows.collect::<Result<Vec<_>, _>>()?;
        Ok(problems.into_iter().filter(|line| line != "ok").collect())
    }

    fn queue(&self) -> Result<&Queue, StoreError> {
        if let Some(queue) = self.queue.get() {
            return Ok(queue);
        }
        let started = Queue::start(Arc::clone(&self.connection))
            .map_err(|source| StoreError::Thread { source })?;
        // Two that began at once: the other's queue ends with its only handle.
        Ok(self.queue.get_or_init(|| started))
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        // A panic while the lock was held rolled its transaction back; the connection is sound.
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod queue_tests;
#[cfg(test)]
mod tests;

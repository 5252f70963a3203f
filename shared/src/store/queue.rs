//! Write queue: the one thread that talks to `SQLite` for async callers.
//!
//! Changes that wait while another is being made are committed together: each in a savepoint of its
//! own, so that one which fails takes nothing else with it, and each answered only after the commit.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use rusqlite::{Transaction, TransactionBehavior, ffi};
use tokio::sync::oneshot;

use super::database::{Database, Files, Opened, Purpose};
use super::{Reader, StoreError, Writer};
use crate::fault;
use crate::model::InstanceId;

/// How many changes one commit may hold: other processes wait for its end.
const MAX_CHANGES_PER_COMMIT: usize = 32;

/// What the work of one caller came to: a value, an error, or a panic to be carried on.
type Outcome<T> = Result<Result<T, StoreError>, Box<dyn Any + Send>>;

/// Answers the caller, once it is known whether the change lasts.
type Settle = Box<dyn FnOnce(Option<CommitFailure>) + Send>;

/// Why changes that were made are not committed.
#[derive(Debug, Clone, Copy)]
pub(super) enum CommitFailure {
    Failed(ffi::Error),
    Moved,
}

impl From<CommitFailure> for StoreError {
    fn from(lost: CommitFailure) -> Self {
        match lost {
            CommitFailure::Failed(reason) => {
                let message = "the change was not committed".to_owned();
                rusqlite::Error::SqliteFailure(reason, Some(message)).into()
            }
            CommitFailure::Moved => Self::Moved,
        }
    }
}

enum Job {
    Read(Question),
    Write(Change),
}

type Question = Box<dyn FnOnce(Result<&Reader<'_>, StoreError>) + Send>;

/// A change; without a writer there is no transaction, and it only says why.
type Change = Box<dyn FnOnce(Result<&Writer<'_>, StoreError>) -> Option<Made> + Send>;

/// A change that was made, and waits for its commit.
struct Made {
    keep: bool,
    /// What the database said, if it is why the change failed.
    failure: Option<ffi::Error>,
    /// Whose servers are to be woken.
    owed: Vec<InstanceId>,
    settle: Settle,
}

/// Where callers line up. The thread ends with the last handle.
#[derive(Debug)]
pub(super) struct Queue {
    jobs: Sender<Job>,
}

impl Queue {
    /// Starts the thread.
    pub(super) fn start(database: Arc<Database>) -> Result<Self, std::io::Error> {
        let (jobs, waiting) = channel();
        thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || serve(&database, &waiting))?;
        Ok(Self { jobs })
    }

    pub(super) async fn read<T, F>(&self, question: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Reader<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel::<Outcome<T>>();
        self.enqueue(Job::Read(Box::new(move |reader| {
            if !reply.is_closed() {
                let outcome = catch_unwind(AssertUnwindSafe(|| question(reader?)));
                // Nobody waits for the answer any more: fine.
                let _ = reply.send(outcome);
            }
        })));
        received(answer).await
    }

    pub(super) async fn write<T, F>(&self, change: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Writer<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel::<Outcome<T>>();
        self.enqueue(Job::Write(Box::new(move |writer| {
            // A caller that has gone before its turn came gets nothing done.
            if reply.is_closed() {
                return None;
            }
            let outcome = catch_unwind(AssertUnwindSafe(|| change(writer?)));
            let failure = match &outcome {
                Ok(Err(error)) => error.sqlite(),
                Ok(Ok(_)) | Err(_) => None,
            };
            Some(Made {
                keep: matches!(outcome, Ok(Ok(_))),
                failure,
                owed: Vec::new(),
                settle: Box::new(move |lost| {
                    let outcome = match (outcome, lost) {
                        (Ok(Ok(_)), Some(lost)) => Ok(Err(lost.into())),
                        (outcome, _) => outcome,
                    };
                    // The change stands, whether anybody waits for the answer or not.
                    let _ = reply.send(outcome);
                }),
            })
        })));
        received(answer).await
    }

    fn enqueue(&self, job: Job) {
        // The thread lives as long as this sender; if it died, the caller finds its answer missing.
        let _ = self.jobs.send(job);
    }
}

async fn received<T>(answer: oneshot::Receiver<Outcome<T>>) -> Result<T, StoreError> {
    match answer.await {
        Ok(Ok(result)) => result,
        Ok(Err(panic)) => std::panic::resume_unwind(panic),
        Err(_) => Err(StoreError::ShuttingDown),
    }
}

fn serve(database: &Database, waiting: &Receiver<Job>) {
    let mut next = None;
    while let Some(job) = next.take().or_else(|| waiting.recv().ok()) {
        match job {
            Job::Read(question) => answer(database, question),
            Job::Write(change) => next = commit_together(database, change, waiting),
        }
    }
}

fn answer(database: &Database, question: Question) {
    let mut question = Some(question);
    let opened = database.with(Purpose::Read, |opened| {
        let connection = &opened
            .connection
            .transaction_with_behavior(TransactionBehavior::Deferred)?;
        if let Some(question) = question.take() {
            question(Ok(&Reader { connection }));
        }
        Ok(())
    });
    if let (Err(error), Some(question)) = (opened, question) {
        question(Err(error));
    }
}

/// Makes a change and those that wait behind it; returns what came up that is none.
fn commit_together(database: &Database, first: Change, waiting: &Receiver<Job>) -> Option<Job> {
    let mut first = Some(first);
    let mut left = None;
    let committed = database.with(Purpose::Write, |opened| {
        make_and_commit(opened, &mut first, &mut left, waiting)
    });
    if let (Err(error), Some(first)) = (committed, first)
        && let Some(refused) = first(Err(error))
    {
        (refused.settle)(None);
    }
    left
}

/// Answers every change that it takes; what it returns says in which state the connection is.
fn make_and_commit(
    opened: &mut Opened,
    change: &mut Option<Change>,
    left: &mut Option<Job>,
    waiting: &Receiver<Job>,
) -> Result<(), StoreError> {
    let Opened { connection, files } = opened;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut made: Vec<Made> = Vec::new();
    let mut lost = None;
    while let Some(wanted) = change.take() {
        let one = make(&transaction, wanted);
        if transaction.is_autocommit() {
            // SQLite gave up the whole transaction, with all that was made before.
            let reason = one.as_ref().and_then(|one| one.failure);
            let reason = reason.unwrap_or(ffi::Error::new(ffi::SQLITE_ABORT));
            lost = Some(CommitFailure::Failed(reason));
        }
        made.extend(one);
        if lost.is_some() || made.len() == MAX_CHANGES_PER_COMMIT {
            break;
        }
        match waiting.try_recv() {
            Ok(Job::Write(more)) => *change = Some(more),
            Ok(other) => *left = Some(other),
            Err(_) => {}
        }
    }
    if lost.is_none() {
        lost = commit(transaction, files).err();
    }
    let failed = made.iter().find_map(|one| one.failure);
    for one in made {
        if lost.is_none() {
            for id in &one.owed {
                files.wake(id);
            }
        }
        (one.settle)(lost);
    }
    match lost.or(failed.map(CommitFailure::Failed)) {
        Some(lost) => Err(lost.into()),
        None => Ok(()),
    }
}

/// Commits, unless the file has lost its name.
pub(super) fn commit(transaction: Transaction<'_>, files: &Files) -> Result<(), CommitFailure> {
    // What is committed into a file without a name is nowhere.
    if files.have_moved() {
        return Err(CommitFailure::Moved);
    }
    fault::before("commit").map_err(|error| CommitFailure::Failed(as_of_sqlite(&error)))?;
    transaction.commit().map_err(|error| {
        let reason = error.sqlite_error().copied();
        CommitFailure::Failed(reason.unwrap_or(ffi::Error::new(ffi::SQLITE_ERROR)))
    })?;
    fault::after("commit");
    Ok(())
}

/// Says of a failure what `SQLite` would.
fn as_of_sqlite(error: &std::io::Error) -> ffi::Error {
    ffi::Error::new(match error.kind() {
        std::io::ErrorKind::StorageFull => ffi::SQLITE_FULL,
        std::io::ErrorKind::WouldBlock => ffi::SQLITE_BUSY,
        _ => ffi::SQLITE_IOERR,
    })
}

/// Makes one change, and takes it back if it failed.
fn make(transaction: &Transaction<'_>, change: Change) -> Option<Made> {
    let begun = transaction.execute_batch("SAVEPOINT one");
    let writer = Writer::new(transaction);
    let mut one = change(begun.map(|()| &writer).map_err(StoreError::from));
    let kept = one.as_ref().is_some_and(|one| one.keep);
    if let Some(one) = one.as_mut().filter(|one| one.keep) {
        one.owed = writer.owed.into_inner();
    }
    let end = if kept {
        "RELEASE one"
    } else {
        "ROLLBACK TO one; RELEASE one"
    };
    // This fails only where SQLite has given up the transaction, and that is looked at next.
    let _ = transaction.execute_batch(end);
    one
}

//! One run of a verb: whether it is still wanted, how far it is, what it changed.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::error::{Code, Error};
use crate::model::{InstanceId, StatusChange};
use crate::store::{NewEvent, Store, StoreError, Writer};

/// What will be recorded of the call that a run is: all but its outcome.
#[derive(Debug, Clone)]
pub struct CallRecord {
    pub event: NewEvent,
    pub began: Instant,
    /// Takes secrets out of the reply.
    pub redact: fn(&Value) -> Value,
}

type Report = Box<dyn Fn(&str, Option<f64>) + Send + Sync>;

/// Carries cancellation in, and progress and status changes out.
pub struct Run {
    cancel: CancellationToken,
    report: Report,
    changes: Mutex<Vec<StatusChange>>,
    record: Mutex<Option<CallRecord>>,
    recorded: AtomicBool,
}

impl fmt::Debug for Run {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Run")
            .field("cancelled", &self.cancel.is_cancelled())
            .finish_non_exhaustive()
    }
}

impl Run {
    /// Makes a run; `report` is told each step as it begins.
    pub fn new(cancel: CancellationToken, report: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self::with_progress(cancel, move |what, _| report(what))
    }

    /// Makes a run; `report` is told each step, and the share of the work that is done where that is known.
    pub fn with_progress(
        cancel: CancellationToken,
        report: impl Fn(&str, Option<f64>) + Send + Sync + 'static,
    ) -> Self {
        Self {
            cancel,
            report: Box::new(report),
            changes: Mutex::default(),
            record: Mutex::default(),
            recorded: AtomicBool::new(false),
        }
    }

    /// Lets the last change of the run take the record of the call along.
    pub fn record_as(&self, record: CallRecord) {
        *self.lock_record() = Some(record);
    }

    /// Says for which instance the call acts, once that is known.
    pub fn acts_for(&self, id: &InstanceId) {
        if let Some(record) = &mut *self.lock_record() {
            record.event.instance = Some(id.clone());
        }
    }

    /// Tells whether the record of the call was committed with its last change.
    pub fn is_recorded(&self) -> bool {
        self.recorded.load(Ordering::Relaxed)
    }

    /// Makes the last change of a call, after which nothing can fail, and commits the call's record with it.
    pub(super) async fn write_last<T: Send + 'static>(
        &self,
        store: &Store,
        change: impl FnOnce(&Writer<'_>) -> Result<T, StoreError> + Send + 'static,
        reply: impl FnOnce(&T) -> Value + Send + 'static,
    ) -> Result<T, StoreError> {
        let Some(record) = self.lock_record().clone() else {
            return store.write(change).await;
        };
        let status_changes = self.changes();
        let value = store
            .write(move |w| {
                let value = change(w)?;
                let event = NewEvent {
                    result: Some((record.redact)(&reply(&value))),
                    status_changes,
                    duration_ms: record.began.elapsed().as_secs_f64() * 1000.0,
                    ..record.event
                };
                w.record_call(&event)?;
                Ok(value)
            })
            .await?;
        self.recorded.store(true, Ordering::Relaxed);
        Ok(value)
    }

    fn lock_record(&self) -> std::sync::MutexGuard<'_, Option<CallRecord>> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a run that nobody watches or cancels.
    pub fn unattended() -> Self {
        Self::new(CancellationToken::new(), |_| ())
    }

    /// Begins a step: says so, or stops here if the caller has gone.
    pub fn step(&self, what: &str) -> Result<(), Error> {
        if self.cancel.is_cancelled() {
            return Err(Self::cancelled_error());
        }
        (self.report)(what, None);
        Ok(())
    }

    /// Says how much of the work is done, from 0 to 1, and what comes next. Any thread may say so.
    pub fn progress(&self, fraction: f64, what: &str) {
        (self.report)(what, Some(fraction));
    }

    pub fn cancel_token(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Runs something that may be dropped in the middle when the caller goes.
    pub async fn unless_cancelled<T>(
        &self,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(Self::cancelled_error()),
            result = work => result,
        }
    }

    fn cancelled_error() -> Error {
        Error::new(
            Code::Cancelled,
            "the call was cancelled; what it had begun was undone",
        )
    }

    /// Notes a move for the audit.
    pub fn changed(&self, change: StatusChange) {
        self.lock().push(change);
    }

    /// Leaves out the moves of an instance whose row was removed.
    pub fn forget(&self, removed: &InstanceId) {
        self.lock().retain(|change| change.instance != *removed);
    }

    /// Returns the moves made so far.
    pub fn changes(&self) -> Vec<StatusChange> {
        self.lock().clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<StatusChange>> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

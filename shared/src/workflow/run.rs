//! `Run`: cancellation, progress and status changes of one call of a verb.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::event_recorder::EventRecorder;
use super::step::Step;
use crate::error::{Code, Error};
use crate::model::{EventSource, InstanceId, StatusChange};
use crate::store::{Store, StoreError, Writer};

type Report = Box<dyn Fn(&str, Option<f64>) + Send + Sync>;

/// Carries cancellation in, and progress and status changes out.
pub struct Run {
    cancel: CancellationToken,
    report: Report,
    changes: Mutex<Vec<StatusChange>>,
    recorder: Mutex<Option<EventRecorder>>,
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
    /// Makes a run; `report` gets each step as it begins.
    pub fn new(cancel: CancellationToken, report: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self::with_progress(cancel, move |what, _| report(what))
    }

    /// Makes a run; `report` gets each step, and the share of the work that is done where that is known.
    pub fn with_progress(
        cancel: CancellationToken,
        report: impl Fn(&str, Option<f64>) + Send + Sync + 'static,
    ) -> Self {
        Self {
            cancel,
            report: Box::new(report),
            changes: Mutex::default(),
            recorder: Mutex::default(),
            recorded: AtomicBool::new(false),
        }
    }

    /// Lets the last change of the run take the record of the call along.
    pub fn record_as(&self, recorder: EventRecorder) {
        *self.lock_recorder() = Some(recorder);
    }

    /// Says for which instance the call acts, once that is known.
    pub fn acts_for(&self, id: &InstanceId) {
        if let Some(recorder) = &mut *self.lock_recorder() {
            recorder.set_instance(Some(id.clone()));
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
        let Some(recorder) = self.lock_recorder().clone() else {
            return store.write(change).await;
        };
        let status_changes = self.changes();
        let value = store
            .write(move |w| {
                let value = change(w)?;
                recorder.write(w, Some(reply(&value)), None, status_changes)?;
                Ok(value)
            })
            .await?;
        self.recorded.store(true, Ordering::Relaxed);
        Ok(value)
    }

    /// Records a call or command with its result and the changes of this run.
    pub async fn record(
        &self,
        store: &Store,
        recorder: EventRecorder,
        result: Result<Value, &Error>,
    ) -> Result<(), StoreError> {
        // The client of a cancelled tool call discards the answer.
        let discarded = recorder.source() == EventSource::Tool && self.cancel.is_cancelled();
        let (result, error_code) = match result {
            Ok(result) => (Some(result), discarded.then_some(Code::Cancelled)),
            Err(error) => (None, Some(error.code)),
        };
        let status_changes = self.changes();
        store
            .write(move |w| recorder.write(w, result, error_code, status_changes))
            .await
    }

    fn lock_recorder(&self) -> std::sync::MutexGuard<'_, Option<EventRecorder>> {
        self.recorder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a run that nobody watches or cancels.
    pub fn unattended() -> Self {
        Self::new(CancellationToken::new(), |_| ())
    }

    /// Begins a step: says so, or stops here if the caller has gone.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "callers name a variant, as with an event"
    )]
    pub fn step(&self, step: Step) -> Result<(), Error> {
        if self.cancel.is_cancelled() {
            return Err(Self::cancelled_error());
        }
        (self.report)(&step.to_string(), None);
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

//! One run of a verb: whether it is still wanted, how far it is, what it changed.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::error::{Code, Error};
use crate::model::StatusChange;

type Report = Box<dyn Fn(&str, Option<f64>) + Send + Sync>;

/// Carries cancellation in, and progress and status changes out.
pub struct Run {
    cancel: CancellationToken,
    report: Report,
    changes: Mutex<Vec<StatusChange>>,
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
        }
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

    /// Returns the moves made so far.
    pub fn changes(&self) -> Vec<StatusChange> {
        self.lock().clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<StatusChange>> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

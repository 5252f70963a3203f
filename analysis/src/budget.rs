//! `Budget`: the cancellation, deadline and progress of a running analysis.

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::{AnalysisError, Depth};

/// One step of progress.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// Share of the work that is done, from 0 to 1; never decreases.
    pub fraction: f64,
    /// The current step.
    pub step: &'static str,
}

/// The limits of one analysis.
#[derive(Clone)]
pub struct Budget {
    /// Set by the caller to cancel; polled many times in 100 ms.
    pub cancel: Arc<AtomicBool>,
    /// When the analysis returns the parts that it has.
    pub deadline: Instant,
    /// Called with each step of progress, from any thread.
    pub progress: Arc<dyn Fn(Progress) + Send + Sync>,
    /// The folder for what is costly to read again; none keeps nothing.
    pub(crate) cache: Option<Arc<Path>>,
    /// The highest fraction reported so far; threads may report out of order.
    highest: Arc<Mutex<f64>>,
    /// Whether the deadline was seen to have passed, so that parts are missing.
    out_of_time: Arc<AtomicBool>,
    /// Whether a git never answered; the next one would not either.
    git_stuck: Arc<AtomicBool>,
}

impl fmt::Debug for Budget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Budget")
            .field("cancel", &self.cancel)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}

impl Budget {
    /// Makes a budget.
    pub fn new(
        cancel: Arc<AtomicBool>,
        deadline: Instant,
        progress: Arc<dyn Fn(Progress) + Send + Sync>,
    ) -> Self {
        Self {
            cancel,
            deadline,
            progress,
            cache: None,
            highest: Arc::new(Mutex::new(0.0)),
            out_of_time: Arc::default(),
            git_stuck: Arc::default(),
        }
    }

    /// Makes a budget with the time limit of the depth that is never cancelled and reports no progress.
    pub fn for_depth(depth: Depth) -> Self {
        let deadline = Instant::now() + depth.time_limit();
        Self::new(Arc::new(AtomicBool::new(false)), deadline, Arc::new(|_| {}))
    }

    /// Returns a budget for work that may keep what is costly to read again in a folder of its own.
    #[must_use]
    pub fn caching_in(&self, folder: &Path) -> Self {
        Self {
            cache: Some(folder.into()),
            ..self.clone()
        }
    }

    /// Returns a budget for a question after which git is asked others, even if it got stuck.
    #[must_use]
    pub(crate) fn trying_git(&self) -> Self {
        Self {
            git_stuck: Arc::default(),
            ..self.clone()
        }
    }

    pub(crate) fn is_git_stuck(&self) -> bool {
        self.git_stuck.load(Ordering::Relaxed)
    }

    pub(crate) fn set_git_stuck(&self) {
        self.git_stuck.store(true, Ordering::Relaxed);
    }

    /// Returns whether the caller cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// Returns whether the deadline has passed.
    pub fn is_late(&self) -> bool {
        let is_late = Instant::now() >= self.deadline;
        if is_late {
            self.out_of_time.store(true, Ordering::Relaxed);
        }
        is_late
    }

    /// Returns whether the deadline cut off some work.
    pub fn ran_out_of_time(&self) -> bool {
        self.out_of_time.load(Ordering::Relaxed)
    }

    /// Returns whether work has to stop: cancelled or past the deadline.
    pub(crate) fn must_stop(&self) -> bool {
        self.is_cancelled() || self.is_late()
    }

    /// Returns an error if the caller cancelled.
    pub(crate) fn check(&self) -> Result<(), AnalysisError> {
        if self.is_cancelled() {
            Err(AnalysisError::Cancelled)
        } else {
            Ok(())
        }
    }

    /// Reports progress.
    pub(crate) fn report(&self, fraction: f64, step: &'static str) {
        let mut highest = self.highest.lock().unwrap_or_else(PoisonError::into_inner);
        *highest = highest.max(fraction);
        (self.progress)(Progress {
            fraction: *highest,
            step,
        });
    }

    /// Returns a budget that ends when the given share of the remaining time has passed.
    pub(crate) fn with_share(&self, share: f64) -> Self {
        let remaining = self.deadline.saturating_duration_since(Instant::now());
        Self {
            deadline: Instant::now() + remaining.mul_f64(share.clamp(0.0, 1.0)),
            ..self.clone()
        }
    }

    /// Returns a budget for optional work: reaching its deadline does not make the report incomplete.
    pub(crate) fn optional(&self, time: Duration) -> Self {
        Self {
            deadline: self.deadline.min(Instant::now() + time),
            out_of_time: Arc::default(),
            ..self.clone()
        }
    }
}

//! How a caller steers a running analysis: cancellation, a deadline and progress.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::AnalysisError;

/// How thorough an analysis is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Depth {
    /// What the files of the working tree tell at a glance.
    Shallow,
    /// Adds the history and the imports.
    Medium,
    /// Adds what needs parsing and comparing everything.
    Deep,
}

impl Depth {
    pub const ALL: [Self; 3] = [Self::Shallow, Self::Medium, Self::Deep];

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|depth| depth.name() == name)
    }

    /// Returns the word that callers use for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Shallow => "shallow",
            Self::Medium => "medium",
            Self::Deep => "deep",
        }
    }

    /// Returns the time that an analysis of this depth may take before it answers with what it has.
    ///
    /// Clients give up on a tool after a minute unless told otherwise.
    pub const fn time_limit(self) -> Duration {
        match self {
            Self::Shallow => Duration::from_secs(5),
            Self::Medium => Duration::from_secs(20),
            Self::Deep => Duration::from_secs(45),
        }
    }
}

/// One step of progress.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// Share of the work that is done, from 0 to 1; never goes back.
    pub fraction: f64,
    /// What is being done now.
    pub step: &'static str,
}

/// The steering wheel of one analysis.
#[derive(Clone)]
pub struct Control {
    /// Set by the caller to stop the analysis; looked at many times in 100 ms.
    pub cancel: Arc<AtomicBool>,
    /// When the analysis answers with what it has.
    pub deadline: Instant,
    /// Called with each step of progress, from any thread.
    pub progress: Arc<dyn Fn(Progress) + Send + Sync>,
    /// The highest fraction told so far; threads may report out of order.
    highest: Arc<Mutex<f64>>,
    /// Whether the time was found to be up at some point, so that something is missing.
    struck: Arc<AtomicBool>,
}

impl fmt::Debug for Control {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Control")
            .field("cancel", &self.cancel)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}

impl Control {
    /// Makes a control.
    pub fn new(
        cancel: Arc<AtomicBool>,
        deadline: Instant,
        progress: Arc<dyn Fn(Progress) + Send + Sync>,
    ) -> Self {
        Self {
            cancel,
            deadline,
            progress,
            highest: Arc::new(Mutex::new(0.0)),
            struck: Arc::default(),
        }
    }

    /// Makes a control with the time limit of the depth, no listener and nobody to cancel it.
    pub fn for_depth(depth: Depth) -> Self {
        let deadline = Instant::now() + depth.time_limit();
        Self::new(Arc::new(AtomicBool::new(false)), deadline, Arc::new(|_| {}))
    }

    /// Tells whether the caller gave up.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// Tells whether the time is up.
    pub fn is_late(&self) -> bool {
        let is_late = Instant::now() >= self.deadline;
        if is_late {
            self.struck.store(true, Ordering::Relaxed);
        }
        is_late
    }

    /// Tells whether work was left undone because the time was up.
    pub fn was_struck(&self) -> bool {
        self.struck.load(Ordering::Relaxed)
    }

    /// Tells whether work has to stop, for whichever reason.
    pub(crate) fn must_stop(&self) -> bool {
        self.is_cancelled() || self.is_late()
    }

    /// Returns an error if the caller gave up.
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

    /// Returns a control that ends when the given share of the remaining time has passed.
    pub(crate) fn with_share(&self, share: f64) -> Self {
        let remaining = self.deadline.saturating_duration_since(Instant::now());
        Self {
            deadline: Instant::now() + remaining.mul_f64(share.clamp(0.0, 1.0)),
            ..self.clone()
        }
    }

    /// Returns a control for work that may as well be left undone when this time has passed.
    pub(crate) fn optional(&self, time: Duration) -> Self {
        Self {
            deadline: self.deadline.min(Instant::now() + time),
            struck: Arc::default(),
            ..self.clone()
        }
    }
}

//! Runs an analysis for a call: on a blocking thread, with its progress, until it is cancelled.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use analysis::{AnalysisError, Control, Job, Outcome};
use mcp_kit::Call;
use shared::error::{Code, Error};

/// Stops the work of a call that nobody waits for any more.
struct StopWhenDropped(Arc<AtomicBool>);

impl Drop for StopWhenDropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Does the work on a blocking thread; the call steers it.
pub(crate) async fn run(job: Job, call: &Call) -> Result<Outcome, Error> {
    let stop = StopWhenDropped(Arc::new(AtomicBool::new(false)));
    let told = call.clone();
    let control = Control::new(
        Arc::clone(&stop.0),
        Instant::now() + job.depth.time_limit(),
        Arc::new(move |progress| told.run().progress(progress.fraction, progress.step)),
    );
    let mut work = tokio::task::spawn_blocking(move || job.answer(&control));
    let joined = tokio::select! {
        joined = &mut work => joined,
        () = call.run().cancel_token().cancelled() => {
            stop.0.store(true, Ordering::Relaxed);
            work.await
        }
    };
    match joined {
        Ok(result) => result.map_err(|error| failure(&error)),
        Err(failure) => match failure.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(failure_of_runtime()),
        },
    }
}

fn failure(error: &AnalysisError) -> Error {
    let message = error.to_string();
    match error {
        AnalysisError::Cancelled => Error::new(Code::Cancelled, message),
        AnalysisError::Root { .. } | AnalysisError::NotADirectory { .. } => {
            Error::new(Code::NotARepository, message)
                .hint("Start the server in a worktree that exists.")
        }
    }
}

fn failure_of_runtime() -> Error {
    Error::new(Code::Cancelled, "the server is ending")
}

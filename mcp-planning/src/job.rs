//! Runs an analysis for a tool call on a blocking thread, with progress and cancellation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use analysis::{Analysed, AnalysisError, Budget, Job};
use mcp_kit::Call;
use shared::error::{Code, Error};

/// Stops the work of a dropped call.
struct StopWhenDropped(Arc<AtomicBool>);

impl Drop for StopWhenDropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs the job on a blocking thread; cancelling the call cancels it.
pub(crate) async fn run(job: Job, call: &Call) -> Result<Analysed, Error> {
    let stop = StopWhenDropped(Arc::new(AtomicBool::new(false)));
    let reporter = call.clone();
    let budget = Budget::new(
        Arc::clone(&stop.0),
        Instant::now() + job.depth.time_limit(),
        Arc::new(move |progress| reporter.run().progress(progress.fraction, progress.step)),
    );
    let mut work = tokio::task::spawn_blocking(move || job.run(&budget));
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

pub(crate) fn failure(error: &AnalysisError) -> Error {
    let message = error.to_string();
    match error {
        AnalysisError::Cancelled => Error::new(Code::Cancelled, message),
        AnalysisError::Focus { .. } => Error::new(Code::InvalidArguments, message).hint(
            "A path leads from the top of the repository to a file or folder in it, at most 1,000 bytes; a query has \
             telling words, at most 500 bytes.",
        ),
        AnalysisError::Root { .. } | AnalysisError::NotADirectory { .. } => {
            Error::new(Code::NotARepository, message)
                .hint("Start the server in a worktree that exists.")
        }
    }
}

fn failure_of_runtime() -> Error {
    Error::new(Code::Cancelled, "the server is ending")
}

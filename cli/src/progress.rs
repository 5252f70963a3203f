//! Showing the steps of a run as they happen, and ending the run at Ctrl-C.

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use shared::workflow::Run;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::output::Output;
use crate::text::harmless;

const TICK: Duration = Duration::from_millis(80);
/// What a shell reports for a program that Ctrl-C ended.
const INTERRUPTED: i32 = 130;

/// What is shown of one run.
#[derive(Debug, Clone)]
pub(crate) struct Progress {
    shown: Shown,
    current: Arc<Mutex<Option<Step>>>,
}

#[derive(Debug, Clone)]
enum Shown {
    /// A terminal: finished steps stay, the present one turns.
    Spinner(ProgressBar),
    /// A pipe or file: one line for each step.
    Lines,
    Nothing,
}

#[derive(Debug)]
struct Step {
    what: String,
    began: Instant,
}

impl Progress {
    /// Begins to show a run that ends early when the user says so.
    pub(crate) fn start(output: Output) -> (Run, Self) {
        let shown = if output.is_json() {
            Shown::Nothing
        } else if io::stderr().is_terminal() {
            let spinner = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
                spinner.set_style(style);
            }
            Shown::Spinner(spinner)
        } else {
            Shown::Lines
        };
        let progress = Self {
            shown,
            current: Arc::default(),
        };
        let reporter = progress.clone();
        let run = cancellable(move |what| reporter.step(what));
        (run, progress)
    }

    fn step(&self, what: &str) {
        let next = Step {
            what: harmless(what),
            began: Instant::now(),
        };
        match &self.shown {
            Shown::Spinner(spinner) => {
                let message = next.what.clone();
                self.leave(Some(next), "✓");
                spinner.set_message(message);
                spinner.enable_steady_tick(TICK);
            }
            // A standard error that nobody reads is no reason to fail.
            Shown::Lines => {
                let _ = writeln!(io::stderr().lock(), "{}", next.what);
            }
            Shown::Nothing => {}
        }
    }

    /// Ends the show.
    pub(crate) fn finish<T, E>(&self, result: &Result<T, E>) {
        self.leave(None, if result.is_ok() { "✓" } else { "✗" });
        if let Shown::Spinner(spinner) = &self.shown {
            spinner.finish_and_clear();
        }
    }

    /// Leaves the step that is over above the spinner, with its time.
    fn leave(&self, next: Option<Step>, mark: &str) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let done = std::mem::replace(&mut *current, next);
        if let (Shown::Spinner(spinner), Some(done)) = (&self.shown, done) {
            let took = done.began.elapsed().as_millis();
            spinner.println(format!("{mark} {} ({took} ms)", done.what));
        }
    }
}

/// Makes a run that ends early when the user says so, and tells its steps.
pub(crate) fn cancellable(report: impl Fn(&str) + Send + Sync + 'static) -> Run {
    let cancel = CancellationToken::new();
    tokio::spawn(cancel_at_signal(cancel.clone()));
    Run::new(cancel, report)
}

/// Cancels at the first signal; a second one doesn't wait for the undoing.
async fn cancel_at_signal(cancel: CancellationToken) {
    let kinds = [
        SignalKind::interrupt(),
        SignalKind::terminate(),
        SignalKind::hangup(),
    ];
    let [Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)] = kinds.map(signal) else {
        return;
    };
    let mut any = async || {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    };
    any().await;
    cancel.cancel();
    any().await;
    std::process::exit(INTERRUPTED);
}

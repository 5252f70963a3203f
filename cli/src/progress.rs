//! Progress: shows the steps of a command (spinner or lines), and cancels it on Ctrl-C.

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use shared::workflow::Run;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::output::Output;
use crate::text::harmless;

const SPINNER_INTERVAL: Duration = Duration::from_millis(80);
/// Exit code of a program that was interrupted: 128 + SIGINT.
const INTERRUPTED: i32 = 130;

/// The progress display of one command.
#[derive(Debug, Clone)]
pub(crate) struct Progress {
    shown: Shown,
    current: Arc<Mutex<Option<Step>>>,
}

#[derive(Debug, Clone)]
enum Shown {
    /// On a terminal: finished steps stay, the current one has a spinner.
    Spinner(ProgressBar),
    /// In a pipe or file: one line for each step.
    Lines,
    Nothing,
}

#[derive(Debug)]
struct Step {
    what: String,
    began: Instant,
}

impl Progress {
    /// Starts the display, and returns a run that Ctrl-C cancels.
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
                spinner.enable_steady_tick(SPINNER_INTERVAL);
            }
            // Write errors on standard error are ignored.
            Shown::Lines => {
                let _ = writeln!(io::stderr().lock(), "{}", next.what);
            }
            Shown::Nothing => {}
        }
    }

    /// Ends the display.
    pub(crate) fn finish<T, E>(&self, result: &Result<T, E>) {
        self.leave(None, if result.is_ok() { "✓" } else { "✗" });
        if let Shown::Spinner(spinner) = &self.shown {
            spinner.finish_and_clear();
        }
    }

    /// Prints the finished step with its duration above the spinner.
    fn leave(&self, next: Option<Step>, mark: &str) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let done = std::mem::replace(&mut *current, next);
        if let (Shown::Spinner(spinner), Some(done)) = (&self.shown, done) {
            let took = done.began.elapsed().as_millis();
            spinner.println(format!("{mark} {} ({took} ms)", done.what));
        }
    }
}

/// Returns a run that a signal cancels and that reports its steps.
pub(crate) fn cancellable(report: impl Fn(&str) + Send + Sync + 'static) -> Run {
    let cancel = CancellationToken::new();
    tokio::spawn(cancel_at_signal(cancel.clone()));
    Run::new(cancel, report)
}

/// Cancels on the first signal; a second one exits at once, without waiting for the undo.
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

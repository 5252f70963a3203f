//! One analysis from question to answer: looked up or done, stored, and cut to fit.

use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Instant, SystemTime};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use shared::error::{Code, Error};
use shared::mcp::Call;

use crate::analysis::{
    self, AnalysisError, ArchitectureReport, CodebaseReport, Control, DEFAULT_BUDGET,
    DependencyReport, Depth, Incomplete, IssueReport, IssuesInput, Listing, Report, summarise,
};
use crate::archive::Archive;

/// Goes up when the same repository would give another report.
const ANALYSIS_VERSION: u32 = 1;

/// Tokens that the fields around the report take.
const ENVELOPE: usize = 300;

/// What an analysis looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Scope {
    Architecture,
    Issues,
    Codebase,
    Dependencies,
}

impl Scope {
    const fn name(self) -> &'static str {
        match self {
            Self::Architecture => "architecture",
            Self::Issues => "issues",
            Self::Codebase => "codebase",
            Self::Dependencies => "dependencies",
        }
    }
}

/// A scope with what it needs to know beforehand.
#[derive(Debug)]
pub(crate) enum Question {
    Architecture,
    Codebase,
    Dependencies,
    Issues(Box<IssuesInput>),
}

impl Question {
    const fn scope(&self) -> Scope {
        match self {
            Self::Architecture => Scope::Architecture,
            Self::Codebase => Scope::Codebase,
            Self::Dependencies => Scope::Dependencies,
            Self::Issues(_) => Scope::Issues,
        }
    }
}

/// An analysis to be made.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) root: PathBuf,
    pub(crate) question: Question,
    pub(crate) depth: Depth,
    pub(crate) archive: Archive,
}

/// An analysis that was made, or found.
#[derive(Debug)]
pub(crate) struct Analysed<R> {
    pub(crate) id: String,
    /// Cut to the budget, without what is incomplete.
    pub(crate) report: R,
    pub(crate) incomplete: Listing<Incomplete>,
    pub(crate) headline: String,
    pub(crate) cached: bool,
    /// Whether the complete report can be read.
    pub(crate) stored: bool,
}

/// The answer of each scope.
#[derive(Debug)]
pub(crate) enum Outcome {
    Codebase(Analysed<CodebaseReport>),
    Architecture(Analysed<ArchitectureReport>),
    Dependencies(Analysed<DependencyReport>),
    Issues(Analysed<IssueReport>),
}

/// Stops the work of a call that nobody waits for any more.
struct StopWhenDropped(Arc<AtomicBool>);

impl Drop for StopWhenDropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Job {
    /// Does the work on a blocking thread; the call steers it.
    pub(crate) async fn run(self, call: &Call) -> Result<Outcome, Error> {
        let stop = StopWhenDropped(Arc::new(AtomicBool::new(false)));
        let told = call.clone();
        let control = Control::new(
            Arc::clone(&stop.0),
            Instant::now() + self.depth.time_limit(),
            Arc::new(move |progress| told.run().progress(progress.fraction, progress.step)),
        );
        let mut work = tokio::task::spawn_blocking(move || self.work(&control));
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

    fn work(&self, control: &Control) -> Result<Outcome, AnalysisError> {
        let (root, depth) = (self.root.as_path(), self.depth);
        Ok(match &self.question {
            Question::Codebase => Outcome::Codebase(
                self.find_or(control, || analysis::codebase(root, depth, control))?,
            ),
            Question::Architecture => Outcome::Architecture(
                self.find_or(control, || analysis::architecture(root, depth, control))?,
            ),
            Question::Dependencies => Outcome::Dependencies(
                self.find_or(control, || analysis::dependencies(root, depth, control))?,
            ),
            Question::Issues(input) => {
                Outcome::Issues(self.find_or(control, || analysis::issues(input, depth, control))?)
            }
        })
    }

    /// Names the analysis after everything that its result depends on.
    fn id(&self, control: &Control) -> String {
        let mut hasher = DefaultHasher::new();
        (ANALYSIS_VERSION, env!("CARGO_PKG_VERSION")).hash(&mut hasher);
        self.root.hash(&mut hasher);
        analysis::fingerprint(&self.root, control).hash(&mut hasher);
        if let Question::Issues(input) = &self.question {
            input.fingerprint(control).hash(&mut hasher);
        }
        // Ages count in days.
        let today = SystemTime::UNIX_EPOCH
            .elapsed()
            .map_or(0, |since| since.as_secs() / 86_400);
        today.hash(&mut hasher);
        format!(
            "{}-{}-{:016x}",
            self.question.scope().name(),
            self.depth.name(),
            hasher.finish()
        )
    }

    fn find_or<R: Report + DeserializeOwned>(
        &self,
        control: &Control,
        analyse: impl FnOnce() -> Result<R, AnalysisError>,
    ) -> Result<Analysed<R>, AnalysisError> {
        let id = self.id(control);
        control.check()?;
        if let Some(report) = self.archive.find::<R>(&id) {
            return Ok(fitted(id, &report, true, Ok(())));
        }
        let report = analyse()?;
        // What the time limit cut may turn out better another time, so it is not found again.
        let id = if control.was_struck() {
            format!(
                "{id}-{:x}",
                SystemTime::UNIX_EPOCH
                    .elapsed()
                    .unwrap_or_default()
                    .as_millis()
            )
        } else {
            id
        };
        let stored = self.archive.store(&id, &report);
        Ok(fitted(id, &report, false, stored))
    }
}

/// Cuts a report to the budget.
fn fitted<R: Report>(
    id: String,
    report: &R,
    cached: bool,
    stored: std::io::Result<()>,
) -> Analysed<R> {
    let headline = report.headline();
    let mut report = summarise(report, DEFAULT_BUDGET - ENVELOPE);
    let mut incomplete = std::mem::take(report.incomplete());
    let stored = match stored {
        Ok(()) => true,
        Err(error) => {
            let why = format!("it could not be stored: {error}");
            incomplete.push(Incomplete::new("the complete report", why));
            false
        }
    };
    Analysed {
        id,
        report,
        incomplete,
        headline,
        cached,
        stored,
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

//! One analysis from question to answer: looked up or done, stored, and cut to fit.

use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::path::PathBuf;
use std::time::SystemTime;

use serde::de::DeserializeOwned;

use crate::archive::Archive;
use crate::{
    AnalysisError, ArchitectureReport, CodebaseReport, Control, DEFAULT_BUDGET, DependencyReport,
    Depth, Incomplete, IssueReport, IssuesInput, Listing, Report, Scope, summarise,
};

/// Goes up when the same repository would give another report.
const ANALYSIS_VERSION: u32 = 1;

/// Tokens that the fields around the report take.
const ENVELOPE: usize = 300;

/// A scope with what it needs to know beforehand.
#[derive(Debug)]
pub enum Question {
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
pub struct Job {
    pub root: PathBuf,
    pub question: Question,
    pub depth: Depth,
    pub archive: Archive,
}

/// An analysis that was made, or found.
#[derive(Debug)]
pub struct Analysed<R> {
    pub id: String,
    /// Cut to the budget, without what is incomplete.
    pub report: R,
    pub incomplete: Listing<Incomplete>,
    pub headline: String,
    pub cached: bool,
    /// Whether the complete report can be read.
    pub stored: bool,
}

/// The answer of each scope.
#[derive(Debug)]
pub enum Outcome {
    Codebase(Analysed<CodebaseReport>),
    Architecture(Analysed<ArchitectureReport>),
    Dependencies(Analysed<DependencyReport>),
    Issues(Analysed<IssueReport>),
}

impl Job {
    /// Finds or makes the analysis. It is busy: call it on a blocking thread.
    pub fn answer(&self, control: &Control) -> Result<Outcome, AnalysisError> {
        let (root, depth) = (self.root.as_path(), self.depth);
        Ok(match &self.question {
            Question::Codebase => {
                Outcome::Codebase(self.find_or(control, || crate::codebase(root, depth, control))?)
            }
            Question::Architecture => Outcome::Architecture(
                self.find_or(control, || crate::architecture(root, depth, control))?,
            ),
            Question::Dependencies => Outcome::Dependencies(
                self.find_or(control, || crate::dependencies(root, depth, control))?,
            ),
            Question::Issues(input) => {
                Outcome::Issues(self.find_or(control, || crate::issues(input, depth, control))?)
            }
        })
    }

    /// Names the analysis after everything that its result depends on.
    fn id(&self, control: &Control) -> String {
        let mut hasher = DefaultHasher::new();
        (ANALYSIS_VERSION, env!("CARGO_PKG_VERSION")).hash(&mut hasher);
        self.root.hash(&mut hasher);
        crate::fingerprint(&self.root, control).hash(&mut hasher);
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

//! `Job`: one analysis, taken from the archive or made, stored there and summarised.

use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use model::{OpenWork, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::archive::Archive;
use crate::{
    AnalysisError, ArchitectureReport, Budget, CodebaseReport, DEFAULT_TOKENS, DependencyReport,
    Depth, Focus, FocusReport, Incomplete, IssueReport, IssuesInput, Listing, PackageCaches,
    Report, Scope, summarise,
};

/// Raise it when the same repository would give another report.
const ANALYSIS_VERSION: u32 = 5;

/// Tokens that the fields around the report take.
const ENVELOPE_TOKENS: usize = 300;

/// An analysis to be made.
#[derive(Debug)]
pub struct Job {
    pub root: PathBuf,
    pub scope: Scope,
    pub depth: Depth,
    /// Asks about a part instead of the whole: the report is then one of this focus, whatever the scope.
    pub focus: Option<Focus>,
    /// What the scope issues starts from; empty for the others.
    pub open_work: OpenWork,
    pub archive: Archive,
    /// Where licences of locked packages are read.
    pub caches: PackageCaches,
}

/// The report of one scope or of a focus; the others are absent.
///
/// Its schema leaves the reports open: described in full they took 70 KB of each client's list of tools. The fields
/// of each are in [`schema`](crate::schema()).
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct ScopeReport {
    /// The answer of the scope codebase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Map<String, Value>")]
    pub codebase: Option<CodebaseReport>,
    /// The answer of the scope architecture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Map<String, Value>")]
    pub architecture: Option<ArchitectureReport>,
    /// The answer of the scope dependencies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Map<String, Value>")]
    pub dependencies: Option<DependencyReport>,
    /// The answer of the scope issues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Map<String, Value>")]
    pub issues: Option<IssueReport>,
    /// The answer to a path or a query, in place of the scope's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Map<String, Value>")]
    pub focus: Option<FocusReport>,
}

/// An analysis that was made, or found in the archive.
#[derive(Debug)]
pub struct Analysed {
    pub id: String,
    /// Summarised, without the parts that are incomplete.
    pub report: ScopeReport,
    pub incomplete: Listing<Incomplete>,
    pub headline: String,
    pub cached: bool,
    /// Whether the complete report can be read.
    pub stored: bool,
}

impl Job {
    /// Finds or makes the analysis. CPU-bound: call it on a blocking thread.
    pub fn run(self, budget: &Budget) -> Result<Analysed, AnalysisError> {
        let (root, depth, archive) = (self.root.as_path(), self.depth, &self.archive);
        let budget = &budget.caching_in(archive.cache());
        let mut found = ScopeReport::default();
        let scope = self.scope;
        if let Some(focus) = &self.focus {
            let id = id_of("focus", root, depth, focus, budget);
            let analyse = || crate::focus(root, focus, depth, budget);
            let analysed = find_or(archive, id, budget, analyse, &mut found.focus)?;
            return Ok(Analysed {
                report: found,
                ..analysed
            });
        }
        let id = |extra: u64| id_of(scope.as_str(), root, depth, &extra, budget);
        match scope {
            Scope::Codebase => {
                let analyse = || crate::codebase(root, depth, budget);
                find_or(archive, id(0), budget, analyse, &mut found.codebase)
            }
            Scope::Architecture => {
                let analyse = || crate::architecture(root, depth, budget);
                find_or(archive, id(0), budget, analyse, &mut found.architecture)
            }
            Scope::Dependencies => {
                let analyse = || crate::dependencies(root, depth, &self.caches, budget);
                find_or(archive, id(0), budget, analyse, &mut found.dependencies)
            }
            Scope::Issues => {
                let input = IssuesInput {
                    root: self.root.clone(),
                    now: Timestamp::now(),
                    work: self.open_work,
                };
                let id = id(input.fingerprint(budget));
                let analyse = || crate::issues(&input, depth, budget);
                find_or(archive, id, budget, analyse, &mut found.issues)
            }
        }
        .map(|analysed| Analysed {
            report: found,
            ..analysed
        })
    }
}

/// Names the analysis after everything that its result depends on.
fn id_of(report: &str, root: &Path, depth: Depth, extra: &impl Hash, budget: &Budget) -> String {
    let mut hasher = DefaultHasher::new();
    (ANALYSIS_VERSION, env!("CARGO_PKG_VERSION")).hash(&mut hasher);
    extra.hash(&mut hasher);
    root.hash(&mut hasher);
    crate::fingerprint(root, budget).hash(&mut hasher);
    // Ages count in days.
    let today = Timestamp::now().unix_seconds() / 86_400;
    today.hash(&mut hasher);
    format!("{}-{}-{:016x}", report, depth.name(), hasher.finish())
}

/// Takes the report from the archive, else makes and stores it; its summary goes to `report`.
fn find_or<R: Report + DeserializeOwned>(
    archive: &Archive,
    id: String,
    budget: &Budget,
    analyse: impl FnOnce() -> Result<R, AnalysisError>,
    report: &mut Option<R>,
) -> Result<Analysed, AnalysisError> {
    budget.check()?;
    let (id, complete, cached, stored) = if let Some(complete) = archive.find::<R>(&id) {
        (id, complete, true, Ok(()))
    } else {
        let complete = analyse()?;
        // A report that the time limit cut may turn out better another time, so it must not be found again.
        let id = if budget.ran_out_of_time() {
            let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
            format!("{id}-{:x}", now.as_millis())
        } else {
            id
        };
        let stored = archive.store(&id, &complete);
        (id, complete, false, stored)
    };
    let mut short = summarise(&complete, DEFAULT_TOKENS - ENVELOPE_TOKENS);
    let mut incomplete = std::mem::take(short.incomplete());
    if let Err(error) = &stored {
        let why = format!("it could not be stored: {error}");
        incomplete.push(Incomplete::new("the complete report", why));
    }
    *report = Some(short);
    Ok(Analysed {
        id,
        report: ScopeReport::default(),
        incomplete,
        headline: complete.headline(),
        cached,
        stored: stored.is_ok(),
    })
}

//! Tell what a planner should know about the repository.

use std::path::PathBuf;

use analysis::{
    Analysed, ArchitectureReport, Archive, CodebaseReport, DependencyReport, Depth, Incomplete,
    IssueReport, Job, Listing, Outcome, Question, Report, Scope,
};
use mcp_kit::{Call, Effects, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shared::error::{Code, Error};
use shared::workflow::Context;

use crate::{job, open_work};

/// What to look at, and how closely.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct AnalyzeRepositoryRequest {
    /// What to look at: architecture (what it is, packages, commands, imports), issues (open work, tasks ready to
    /// start, TODOs), codebase (sizes, hotspots, owners, complexity) or dependencies (versions, conflicts, unused).
    scope: Scope,
    /// How closely: shallow (the files at a glance), medium (adds the history and the imports) or deep (adds what
    /// needs parsing and comparing everything).
    depth: Depth,
}

/// The analysis, cut to fit into an answer.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AnalyzeRepositoryReply {
    /// The analysis in a sentence.
    message: String,
    /// Id of this analysis.
    analysis_id: String,
    /// What was looked at.
    scope: Scope,
    /// How closely.
    depth: Depth,
    /// Address of the complete report, in pages; none if it could not be stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    resource: Option<String>,
    /// Whether this was found out by an earlier call: nothing has changed since.
    cached: bool,
    /// Parts that are missing or cut short, and why; absent when everything was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    incomplete: Option<Listing<Incomplete>>,
    /// The answer of the scope codebase.
    #[serde(skip_serializing_if = "Option::is_none")]
    codebase: Option<CodebaseReport>,
    /// The answer of the scope architecture.
    #[serde(skip_serializing_if = "Option::is_none")]
    architecture: Option<ArchitectureReport>,
    /// The answer of the scope dependencies.
    #[serde(skip_serializing_if = "Option::is_none")]
    dependencies: Option<DependencyReport>,
    /// The answer of the scope issues.
    #[serde(skip_serializing_if = "Option::is_none")]
    issues: Option<IssueReport>,
}

pub(crate) fn tool() -> Tool {
    Tool::new(
        "analyze_repository",
        "Analyze the repository",
        "Tell what the repository is made of: its architecture, code, dependencies or open issues.",
        Effects::ReadOnlyOpenWorld,
        analyze_repository,
    )
    .with_data_as_text()
}

async fn analyze_repository(
    call: Call,
    request: AnalyzeRepositoryRequest,
) -> Result<AnalyzeRepositoryReply, Error> {
    let context = call.context().await?;
    let root = worktree(&context)?;
    let question = match request.scope {
        Scope::Architecture => Question::Architecture,
        Scope::Codebase => Question::Codebase,
        Scope::Dependencies => Question::Dependencies,
        Scope::Issues => {
            Question::Issues(Box::new(open_work::gather(&call, &context, &root).await?))
        }
    };
    let job = Job {
        root,
        question,
        depth: request.depth,
        archive: Archive::in_state(context.state_dir()),
    };
    let outcome = job::run(job, &call).await?;
    let empty = AnalyzeRepositoryReply {
        message: String::new(),
        analysis_id: String::new(),
        scope: request.scope,
        depth: request.depth,
        resource: None,
        cached: false,
        incomplete: None,
        codebase: None,
        architecture: None,
        dependencies: None,
        issues: None,
    };
    Ok(match outcome {
        Outcome::Codebase(found) => AnalyzeRepositoryReply {
            codebase: Some(found.report.clone()),
            ..empty.about(found)
        },
        Outcome::Architecture(found) => AnalyzeRepositoryReply {
            architecture: Some(found.report.clone()),
            ..empty.about(found)
        },
        Outcome::Dependencies(found) => AnalyzeRepositoryReply {
            dependencies: Some(found.report.clone()),
            ..empty.about(found)
        },
        Outcome::Issues(found) => AnalyzeRepositoryReply {
            issues: Some(found.report.clone()),
            ..empty.about(found)
        },
    })
}

impl AnalyzeRepositoryReply {
    /// Fills in what all scopes have in common.
    fn about<R: Report>(self, found: Analysed<R>) -> Self {
        let resource = found
            .stored
            .then(|| format!("codex://analysis/{}", found.id));
        let mut message = found.headline;
        if let Some(resource) = &resource {
            message.push_str(". The complete report: ");
            message.push_str(resource);
        }
        Self {
            message,
            resource,
            analysis_id: found.id,
            cached: found.cached,
            incomplete: (!found.incomplete.is_empty()).then_some(found.incomplete),
            ..self
        }
    }
}

/// Returns the worktree that the server runs in.
fn worktree(context: &Context) -> Result<PathBuf, Error> {
    let worktree = context.repository()?.worktree();
    worktree.map(ToOwned::to_owned).ok_or_else(|| {
        Error::new(
            Code::NotARepository,
            "a bare repository has no files to look at",
        )
        .hint("Start the server in a worktree of it.")
    })
}

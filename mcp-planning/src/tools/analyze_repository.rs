//! The tool `analyze_repository`.

use std::path::PathBuf;

use analysis::{
    Archive, Depth, Focus, Incomplete, Job, Listing, PackageCaches, Scope, ScopeReport,
};
use mcp_kit::{Call, Effects, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shared::error::{Code, Error};
use shared::model::OpenWork;
use shared::workflow::{self, Context};

use crate::job;

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
    /// A file or folder, from the top of the repository. With it or a query the answer is `focus` in place of the
    /// scope's report: the files, symbols, affected tests, commits, owners and co-changing files that belong to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(min = 1, max = 1000))]
    path: Option<String>,
    /// A question, a task's title or a symbol, such as "where is retry handled"; alone, or within the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(min = 1, max = 500))]
    query: Option<String>,
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
    #[serde(flatten)]
    report: ScopeReport,
}

pub(crate) fn tool() -> Tool {
    Tool::new(
        "analyze_repository",
        "Analyze the repository",
        "Tell what the repository is made of: its architecture, code, dependencies or open issues. With a query (a \
         question, the title of a task, a symbol) or a path it tells instead which files, symbols, tests, commits and \
         people belong to that: ask so before you name the files of a task. codex://schemas/{report} describes the fields.",
        Effects::ReadOnlyOpenWorld,
        analyze_repository,
    )
    .with_data_as_text()
}

async fn analyze_repository(
    call: Call,
    request: AnalyzeRepositoryRequest,
) -> Result<AnalyzeRepositoryReply, Error> {
    let focus = Focus::new(request.path.as_deref(), request.query.as_deref())
        .map_err(|error| job::failure(&error))?;
    let context = call.context().await?;
    let root = worktree(&context)?;
    let open_work = match request.scope {
        Scope::Issues if focus.is_none() => {
            let open_work = workflow::open_work(&context);
            call.run().unless_cancelled(open_work).await?
        }
        Scope::Architecture | Scope::Codebase | Scope::Dependencies | Scope::Issues => {
            OpenWork::default()
        }
    };
    let job = Job {
        root,
        scope: request.scope,
        depth: request.depth,
        focus,
        open_work,
        caches: PackageCaches::of_this_machine(|name| context.environment.get(name)),
        archive: Archive::in_state(context.state_dir()),
    };
    let found = job::run(job, &call).await?;
    let resource = found
        .stored
        .then(|| format!("codex://analysis/{}", found.id));
    let mut message = found.headline;
    if let Some(resource) = &resource {
        message.push_str(". The complete report: ");
        message.push_str(resource);
    }
    Ok(AnalyzeRepositoryReply {
        message,
        analysis_id: found.id,
        scope: request.scope,
        depth: request.depth,
        resource,
        cached: found.cached,
        incomplete: (!found.incomplete.is_empty()).then_some(found.incomplete),
        report: found.report,
    })
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

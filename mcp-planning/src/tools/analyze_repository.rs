//! Tell what a planner should know about the repository.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shared::error::{Code, Error};
use shared::mcp::{Call, Effects, Tool};

/// What to look at, and how closely.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct AnalyzeRepositoryRequest {
    /// What to look at: architecture, issues, codebase or dependencies.
    scope: Scope,
    /// How closely: shallow, medium or deep.
    depth: Depth,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Scope {
    Architecture,
    Issues,
    Codebase,
    Dependencies,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Depth {
    Shallow,
    Medium,
    Deep,
}

/// The analysis.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AnalyzeRepositoryReply {
    /// The analysis in a sentence.
    message: String,
}

pub(crate) fn tool() -> Tool {
    Tool::new(
        "analyze_repository",
        "Analyze the repository",
        "Tell what the repository is made of: its architecture, code, dependencies or open issues.",
        Effects::ReadOnly,
        analyze_repository,
    )
}

async fn analyze_repository(
    _call: Call,
    request: AnalyzeRepositoryRequest,
) -> Result<AnalyzeRepositoryReply, Error> {
    Err(Error::new(
        Code::NotAvailable,
        format!(
            "analyze_repository ({:?}, {:?}) is not available in this version",
            request.scope, request.depth
        ),
    )
    .hint("Look at the files instead."))
}

//! Send the work back with feedback.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shared::error::{Code, Error};
use shared::mcp::{Call, Effects, Tool};
use shared::model::Finding;

/// What must be fixed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct RequestChangesRequest {
    /// The verdict in a few sentences: what must change before this can be published, and why.
    #[schemars(length(min = 1, max = 20_000))]
    feedback: String,
    /// One entry for each problem.
    #[serde(default)]
    #[schemars(length(max = 100))]
    findings: Vec<Finding>,
}

/// Where the feedback is now.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RequestChangesReply {
    /// Whether the coding agent is known to have it; false: it is stored and will be handed over.
    feedback_delivered: bool,
    /// Whether the coding agent is at work again.
    coding_agent_reactivated: bool,
    /// What happened and what comes next.
    message: String,
}

pub(crate) fn tool() -> Tool {
    Tool::new(
        "request_changes",
        "Request changes",
        "Send the reviewed work back to its coding agent with feedback and findings. This ends the review.",
        Effects::Local,
        request_changes,
    )
}

async fn request_changes(
    _call: Call,
    request: RequestChangesRequest,
) -> Result<RequestChangesReply, Error> {
    shared::model::text::check_block(&request.feedback, 20_000)
        .map_err(|problem| Error::argument("feedback", problem))?;
    if request.findings.len() > 100 {
        return Err(Error::argument("findings", "has more than 100 entries"));
    }
    Err(Error::new(
        Code::NotAvailable,
        "request_changes is not available in this version",
    )
    .hint("Tell the person what must change."))
}

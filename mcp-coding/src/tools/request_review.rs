//! Ask for a review.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shared::error::{Code, Error};
use shared::mcp::{Call, Effects, Tool};

/// What is to be reviewed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct RequestReviewRequest {
    /// What was changed, why, and how it was checked.
    #[schemars(length(min = 1, max = 20_000))]
    description: String,
}

/// The reviewer that is now at work.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RequestReviewReply {
    /// Id of the review agent.
    review_instance_id: String,
    /// Worktree that the reviewer reads.
    review_workspace: String,
    /// What happens next.
    message: String,
}

pub(crate) fn tool() -> Tool {
    Tool::new(
        "request_review",
        "Request a review",
        "Start a review agent on the committed work of this branch. The worktree must be clean and ahead of its base; the verdict arrives later as a message.",
        Effects::LocalIdempotent,
        request_review,
    )
}

async fn request_review(
    _call: Call,
    request: RequestReviewRequest,
) -> Result<RequestReviewReply, Error> {
    shared::model::text::check_block(&request.description, 20_000)
        .map_err(|problem| Error::argument("description", problem))?;
    Err(Error::new(
        Code::NotAvailable,
        "request_review is not available in this version",
    )
    .hint("Ask a person to look at the branch."))
}

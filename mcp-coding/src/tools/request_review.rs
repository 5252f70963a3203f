//! The tool `request_review`: starts a review agent.

use mcp_kit::{Call, Effects, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shared::error::Error;
use shared::model::review::MAX_REVIEW_DESCRIPTION_CHARS;
use shared::workflow;

/// The work to review.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct RequestReviewRequest {
    /// What was changed, why, and how it was tested.
    #[schemars(length(min = 1, max = MAX_REVIEW_DESCRIPTION_CHARS))]
    description: String,
}

/// The reviewer that is now running.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RequestReviewReply {
    /// Id of the review agent.
    review_instance_id: String,
    /// Worktree of the review agent.
    review_workspace: String,
    /// What happened and what to do next.
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
    call: Call,
    request: RequestReviewRequest,
) -> Result<RequestReviewReply, Error> {
    let context = call.context().await?;
    let coder = call.instance().await?;
    let review =
        workflow::request_review(&context, call.run(), &coder, &request.description).await?;
    let reviewer = review.reviewer;
    let state = if review.already {
        "is already running"
    } else {
        "has started"
    };
    Ok(RequestReviewReply {
        message: format!(
            "Review round {} of {} {state}: {} reads your commit in {}. End your turn now; the verdict arrives as a message.",
            review.round,
            review.max_rounds,
            reviewer.id,
            reviewer.worktree_path.display(),
        ),
        review_workspace: reviewer.worktree_path.to_string_lossy().into_owned(),
        review_instance_id: reviewer.id.to_string(),
    })
}

//! The tool `request_changes`: sends the work back to its coding agent with feedback.

use mcp_kit::{Call, Effects, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shared::error::Error;
use shared::model::review::{MAX_FEEDBACK_CHARS, MAX_FINDINGS};
use shared::model::{Finding, Status, WaitReason};
use shared::workflow::{self, Receipt};

/// The feedback.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct RequestChangesRequest {
    /// The verdict in a few sentences: what must change before this can be published, and why.
    #[schemars(length(min = 1, max = MAX_FEEDBACK_CHARS))]
    feedback: String,
    /// One entry for each problem.
    #[serde(default)]
    #[schemars(length(max = MAX_FINDINGS))]
    findings: Vec<Finding>,
}

/// Whether the feedback was delivered.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RequestChangesReply {
    /// Whether the coding agent has received the feedback. If false, it is stored and will be delivered, or it was typed without proof of receipt.
    feedback_delivered: bool,
    /// Whether the coding agent is working again.
    coding_agent_reactivated: bool,
    /// What happened and what to do next.
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
    call: Call,
    request: RequestChangesRequest,
) -> Result<RequestChangesReply, Error> {
    let context = call.context().await?;
    let reviewer = call.instance().await?;
    let sent = workflow::request_changes(
        &context,
        call.run(),
        &reviewer,
        &request.feedback,
        request.findings,
    )
    .await?;
    let coder = sent.coder;
    let delivered = sent.receipt == Receipt::Taken;
    let delivery = match sent.receipt {
        Receipt::Taken => format!("{} has received it and is {}", coder.id, coder.status),
        Receipt::Unconfirmed => format!(
            "it was typed into the terminal of {} without proof of receipt; a person can send it again",
            coder.id
        ),
        Receipt::Waiting(reason) => format!(
            "it is stored and will be delivered to {1}; it waits for {0}",
            reason.unwrap_or(WaitReason::Busy).phrase(),
            coder.id
        ),
    };
    Ok(RequestChangesReply {
        feedback_delivered: delivered,
        coding_agent_reactivated: delivered && coder.status == Status::Running,
        message: format!(
            "Feedback of round {} recorded: {delivery}. Your review is done; end your turn.",
            sent.round
        ),
    })
}

//! The tool `create_pr`: approves the work and publishes it as a pull request.

use mcp_kit::pull_request::create_pr;
use mcp_kit::{Effects, Tool};

pub(crate) fn tool() -> Tool {
    Tool::new(
        "create_pr",
        "Approve and create a pull request",
        "Approve the reviewed work: push the coder's branch and open a pull request for it, or update the open one. This ends the review.",
        Effects::OpenWorldIdempotent,
        create_pr,
    )
}

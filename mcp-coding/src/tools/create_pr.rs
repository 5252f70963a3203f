//! The tool `create_pr`: publishes the work as a pull request.

use mcp_kit::pull_request::create_pr;
use mcp_kit::{Effects, Tool};

pub(crate) fn tool() -> Tool {
    Tool::new(
        "create_pr",
        "Create a pull request",
        "Push this branch and open a pull request for it, or update the open one. The worktree must be clean and ahead of its base.",
        Effects::OpenWorldIdempotent,
        create_pr,
    )
}

//! The sum of the tools; each has a file of its own.

mod analyze_repository;
mod create_task;

use mcp_kit::Tool;

pub(crate) fn all() -> Vec<Tool> {
    vec![create_task::tool(), analyze_repository::tool()]
}

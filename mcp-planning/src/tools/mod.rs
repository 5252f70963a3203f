//! The tools of the planning server, one per file.

mod analyze_repository;
mod create_task;

use mcp_kit::Tool;

pub(crate) fn all() -> Vec<Tool> {
    vec![create_task::tool(), analyze_repository::tool()]
}

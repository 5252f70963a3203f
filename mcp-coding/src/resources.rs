//! MCP resources of a coding agent.

use mcp_kit::Resource;
use mcp_kit::resources::{feedback, instance, task};

pub(crate) fn all() -> Vec<Resource> {
    vec![instance(), task(), feedback()]
}

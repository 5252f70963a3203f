//! MCP resources of a review agent.

use mcp_kit::Resource;
use mcp_kit::resources::{instance, task};

pub(crate) fn all() -> Vec<Resource> {
    vec![instance(), task()]
}

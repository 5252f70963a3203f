//! The tools of this server, one file each.

mod create_pr;
mod request_changes;

use mcp_kit::Tool;

pub(crate) fn all() -> Vec<Tool> {
    vec![request_changes::tool(), create_pr::tool()]
}

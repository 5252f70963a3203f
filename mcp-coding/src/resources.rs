//! What a coding agent may read.

use shared::mcp::Resource;
use shared::mcp::resources::{feedback, instance, task};

pub(crate) fn all() -> Vec<Resource> {
    vec![instance(), task(), feedback()]
}

//! What a review agent may read.

use mcp_kit::Resource;
use mcp_kit::resources::{instance, task};

pub(crate) fn all() -> Vec<Resource> {
    vec![instance(), task()]
}

//! The MCP server of a review agent: `request_changes` and `create_pr`.

mod resources;
mod server;
mod tools;

pub use server::definition;

//! The MCP server of a coding agent: `request_review` and `create_pr`.

mod resources;
mod server;
mod tools;

pub use server::definition;

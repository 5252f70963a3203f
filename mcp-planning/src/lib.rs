//! The MCP server of a planning agent: tools, resources and prompts.

mod job;
mod resources;
mod server;
mod tools;

pub use server::definition;

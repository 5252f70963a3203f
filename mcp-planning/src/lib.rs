//! What the planning agent's MCP server offers.

mod resources;
mod server;
mod tools;

pub use server::definition;

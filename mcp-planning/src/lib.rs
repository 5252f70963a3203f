//! What the planning agent's MCP server offers.

mod job;
mod open_work;
mod resources;
mod server;
mod tools;

pub use server::definition;

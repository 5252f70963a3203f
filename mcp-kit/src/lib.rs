//! MCP server kit: everything that the three servers share, and the only user of rmcp.
//!
//! A server crate describes its tools, resources and prompts as a [`Definition`]. The kit serves it on stdio (`serve`, `input`,
//! `handler`), finds the instance that the server acts for (`identity`), runs and records calls (`run_tool`, `audit`),
//! delivers messages to the server's agent (`delivery_loop`) and converts errors (`reply`).

mod audit;
mod call;
mod definition;
mod delivery_loop;
mod handler;
mod identity;
mod input;
pub mod pull_request;
mod reply;
mod request_id;
pub mod resources;
mod run_tool;
mod serve;
mod server_state;

pub use call::Call;
pub use definition::{Definition, Effects, Prompt, Resource, ResourceQuery, Tool};
pub use serve::serve;

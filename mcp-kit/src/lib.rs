//! The kit that all three servers are made with: the only user of rmcp here.
//!
//! A server crate says *what* it offers, as a [`Definition`]; the kit does everything that is the same
//! for all: stdio and signals (`serve`, `input`), who it acts for (`identity`), running a call so that it is
//! always answered and recorded (`call`, `audit`), delivering to the server's own agent (`delivery_loop`), errors (`reply`).

mod audit;
mod call;
mod definition;
mod delivery_loop;
mod handler;
mod identity;
mod input;
pub mod pull_request;
mod redact;
mod reply;
mod request_id;
pub mod resources;
mod serve;

pub use call::Call;
pub use definition::{Definition, Effects, Prompt, Resource, ResourceQuery, Tool};
pub use serve::serve;

//! Library of the Claude Codex servers, command line and dashboard.
//!
//! ```text
//! mcp-coding  mcp-review  mcp-planning  cli  dashboard    interface (the servers through `mcp-kit`)
//!                 │
//!             workflow                                    the verbs
//!                 │
//!              error                                      the boundary error
//!                 │
//!     store  git  tmux  agent  forge  config              primitives: one thing each, never each other
//!                 │
//!     process  file  followed_file                        the operating system
//!                 │
//!     model  fault  nearest                               vocabulary; `model` is a crate of its own
//! ```
//!
//! Nothing here prints, and only [`config`] reads the environment.

pub mod agent;
pub mod config;
pub mod error;
pub mod fault;
pub mod file;
pub mod followed_file;
pub mod forge;
pub mod git;
pub mod logging;
mod nearest;
pub mod process;
pub mod store;
pub mod tmux;
pub mod workflow;

pub use model;

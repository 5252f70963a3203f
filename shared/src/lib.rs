//! What the Claude Codex servers and its command line have in common.
//!
//! ```text
//! mcp-coding  mcp-review  mcp-planning  cli        interface (the servers through `mcp-kit`)
//!                 │
//!             workflow                             the verbs
//!                 │
//!     store  git  tmux  agent  forge               primitives: one thing each, never each other
//!                 │
//!     model  config  error  process  fault  file   vocabulary; `model` is a crate of its own
//! ```
//!
//! Nothing here prints, and only [`config`] reads the environment.

pub mod agent;
pub mod config;
pub mod error;
pub mod fault;
pub mod file;
pub mod forge;
pub mod git;
pub mod logging;
pub mod process;
pub mod store;
pub mod tmux;
pub mod workflow;

pub use model;

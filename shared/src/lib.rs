//! What the Claude Codex servers and its command line have in common.
//!
//! ```text
//! mcp-coding  mcp-review  mcp-planning  cli        interface (through `mcp` for the servers)
//!                 │
//!             workflow                             the verbs
//!                 │
//!     store  git  tmux  agent  forge  profile      primitives: one thing each, never each other
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
pub mod mcp;
pub mod process;
pub mod profile;
pub mod store;
pub mod tmux;
pub mod workflow;

pub use model;

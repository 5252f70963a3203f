//! One command each: its arguments, then its function.

pub(crate) mod attach;
pub(crate) mod clean;
pub(crate) mod code;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod events;
pub(crate) mod exec_agent;
pub(crate) mod finish_instance;
pub(crate) mod hook;
pub(crate) mod host_agent;
pub(crate) mod init;
pub(crate) mod list;
pub(crate) mod logs;
pub(crate) mod man;
mod mcp_json;
pub(crate) mod plan;
pub(crate) mod pr;
pub(crate) mod resume;
pub(crate) mod review;
pub(crate) mod send;
pub(crate) mod show;
pub(crate) mod stop;
pub(crate) mod sync;
pub(crate) mod tasks;
pub(crate) mod tdd;
mod watch;

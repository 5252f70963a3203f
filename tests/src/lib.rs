//! Support for tests on the real binaries: a hermetic environment to run them in, and clients that speak to them.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "what a test stands on fails by panicking, with the reason, or says why it is skipped"
)]

mod agent_env;
pub mod bench;
mod binaries;
mod client;
mod command_line;
pub mod dashboard;
mod environment;
mod github_remote;
pub mod large_database;
pub mod phase_env;
mod samples;
mod scripted_claude;
mod terminal;
mod waiting;

pub use agent_env::AgentEnv;
pub use binaries::{Server, binary, project_root};
pub use client::{Answer, Client, Era};
pub use command_line::check_command_line;
pub use environment::{TestEnv, error, feed, is_alive, kill, shown, text, write_program};
pub use github_remote::GithubRemote;
pub use samples::{sample_instance, sample_launch_request};
pub use scripted_claude::ScriptedClaude;
pub use terminal::Terminal;
pub use waiting::{WAIT_TIMEOUT, comes_true, until, until_async, until_or};

//! Support for tests on the real binaries: a place to run them in, and a client that speaks to them.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "what a test stands on fails by panicking, with the reason"
)]

mod binaries;
mod client;
mod command_line;
mod environment;
pub mod large_database;

pub use binaries::{Server, binary};
pub use client::{Answer, Client, Era, PATIENCE};
pub use command_line::check_command_line;
pub use environment::{TestEnv, project_root};

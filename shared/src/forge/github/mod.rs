//! GitHub's API, with octocrab for the connection, its security and the token.
//!
//! Requests and answers are our own: octocrab's typed calls know neither conditional requests nor a
//! bound on time and size, and they want fields that older Enterprise servers do not send. How all of it behaves is
//! tested in `tests/tests/github`.

mod client;
mod issues;
mod list;
mod merge;
mod pulls;
mod refusal;
mod request;
mod retry;
mod wire;

pub use client::{Github, Patience};
pub use issues::{CreatedIssue, Issue, NewIssue, OpenIssue};
pub use list::Listed;
pub use pulls::Fetched;

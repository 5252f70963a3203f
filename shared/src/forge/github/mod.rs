//! GitHub REST client on octocrab: `ETag`, retries, rate limits, bounded bodies.
//!
//! octocrab makes the connection, adds the token, builds request bodies and parses pull requests. Its `send` methods are not
//! used: they drop the headers that conditional requests, retries and error hints need, and read bodies of any size. Its issue
//! model is not used either: GitHub documents an issue's author and its labels' colours as nullable, the model requires them.
//! `tests/tests/github` tests the behaviour.

mod client;
mod issues;
mod list;
mod merge;
mod pulls;
mod refusal;
mod request;
mod retry;

pub use client::{Github, RetryPolicy};
pub use issues::{CreatedIssue, Issue, NewIssue};
pub use list::Listed;
pub use pulls::Fetched;

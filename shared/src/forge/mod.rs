//! Forge: the GitHub client, and which remotes are GitHub repositories.

mod error;
mod github;
mod post;
mod remote;

pub use error::ForgeError;
pub use github::{CreatedIssue, Fetched, Github, Issue, Listed, NewIssue, RetryPolicy};
pub use post::{PostError, post_json};
pub use remote::{GithubRemote, is_host_of_token, parse_remote};

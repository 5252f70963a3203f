//! Where issues and pull requests live: GitHub, or nowhere but here.

mod error;
mod github;
mod remote;

pub use error::ForgeError;
pub use github::{CreatedIssue, Fetched, Github, Issue, Listed, NewIssue, OpenIssue, Patience};
pub use remote::{GithubRemote, is_host_of_token, parse_remote};

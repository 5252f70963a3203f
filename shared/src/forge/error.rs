//! `ForgeError`: failures of GitHub requests, by what a person can do about them.

use std::time::Duration;

#[derive(Debug, thiserror::Error)]
pub enum ForgeError {
    #[error("`{url}` is not a valid URL of a GitHub API")]
    InvalidAddress { url: String },
    #[error("the token has characters that GitHub tokens never have")]
    InvalidToken,
    /// Nothing was sent.
    #[error("a connection to GitHub cannot be secured: {reason}")]
    NotSecurable { reason: String },
    #[error("GitHub has no repository {repository}, or this token may not see it")]
    RepositoryNotFound { repository: String },
    #[error("GitHub has no {what}, or this token may not see it")]
    NotFound { what: String },
    /// It is disabled or was deleted.
    #[error("GitHub no longer has {what}: {message}")]
    Gone { what: String, message: String },
    #[error("GitHub did not accept the token")]
    Unauthorized,
    #[error("the repository is archived and read-only")]
    Archived,
    /// `needs` has the permissions or scopes that GitHub requires for this request.
    #[error("GitHub refused permission: {message}")]
    Forbidden {
        message: String,
        needs: Option<String>,
    },
    /// `retry_after` is the time until GitHub accepts requests again, if known.
    #[error("GitHub's rate limit is reached: {message}")]
    RateLimited {
        message: String,
        retry_after: Option<Duration>,
    },
    #[error("there is already an open pull request for `{head}`")]
    PullRequestExists { head: String },
    #[error("`{head}` has no commits that `{base}` does not have")]
    NothingToCompare { head: String, base: String },
    #[error("GitHub has no branch `{base}` to merge into")]
    BaseNotFound { base: String },
    #[error("GitHub has no branch `{head}` to merge from")]
    HeadNotFound { head: String },
    #[error("this repository does not support draft pull requests")]
    DraftsNotOffered,
    #[error("GitHub rejected the request as invalid: {message}")]
    Invalid { message: String },
    #[error("pull request {number} conflicts with its base branch")]
    Conflict { number: u64 },
    #[error("the rules of the base branch block the merge of pull request {number}: {message}")]
    Protected { number: u64, message: String },
    #[error("this repository does not allow this merge method: {message}")]
    MethodNotAllowed { message: String },
    #[error("pull request {number} changed while it was being merged: {message}")]
    Moved { number: u64, message: String },
    #[error("pull request {number} cannot be merged: {message}")]
    NotMergeable { number: u64, message: String },
    #[error("the diff of pull request {number} is too large for GitHub's API")]
    DiffTooLarge { number: u64 },
    #[error("GitHub answered with status {status}: {message}")]
    Refused { status: u16, message: String },
    #[error("GitHub failed with status {status}: {message}")]
    ServerFailed { status: u16, message: String },
    #[error("GitHub did not answer within {} s", after.as_secs_f32().ceil())]
    TimedOut { after: Duration },
    #[error("GitHub cannot be reached: {reason}")]
    Unreachable { reason: String },
    /// The request was sent and its response lost; another request could create a duplicate.
    #[error("GitHub may or may not have created {what}: {source}")]
    Uncertain {
        what: String,
        #[source]
        source: Box<ForgeError>,
    },
    #[error("GitHub's response about {what} cannot be parsed: {reason}")]
    NotUnderstood { what: String, reason: String },
}

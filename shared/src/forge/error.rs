//! What can go wrong with GitHub, in kinds that a person can act on.

use std::time::Duration;

#[derive(Debug, thiserror::Error)]
pub enum ForgeError {
    #[error("`{url}` is not a usable address of a GitHub API")]
    InvalidAddress { url: String },
    #[error("the token has characters that no token of GitHub has")]
    InvalidToken,
    /// Nothing was sent.
    #[error("a connection to GitHub cannot be secured: {reason}")]
    NotSecurable { reason: String },
    #[error("GitHub has no repository {repository}, or this token may not see it")]
    RepositoryNotFound { repository: String },
    #[error("GitHub does not know {what}, or this token may not see it")]
    NotFound { what: String },
    /// It was there, or could be there, but is switched off or deleted.
    #[error("GitHub has no {what} any more: {message}")]
    Gone { what: String, message: String },
    #[error("GitHub did not accept the token")]
    Unauthorized,
    #[error("the repository is archived: nothing in it can be changed")]
    Archived,
    /// `needs` is what GitHub says a token must have for this request.
    #[error("GitHub forbids this: {message}")]
    Forbidden {
        message: String,
        needs: Option<String>,
    },
    /// `retry_after` is how long GitHub wants to be left alone, if it says so.
    #[error("GitHub allows no more requests for now: {message}")]
    RateLimited {
        message: String,
        retry_after: Option<Duration>,
    },
    #[error("there is an open pull request for `{head}` already")]
    PullRequestExists { head: String },
    #[error("`{head}` has no commits that `{base}` does not have")]
    NothingToCompare { head: String, base: String },
    #[error("GitHub has no branch `{base}` to merge into")]
    BaseNotFound { base: String },
    #[error("GitHub has no branch `{head}` to merge from")]
    HeadNotFound { head: String },
    #[error("GitHub offers no draft pull requests in this repository")]
    DraftsNotOffered,
    #[error("GitHub finds the request invalid: {message}")]
    Invalid { message: String },
    #[error("pull request {number} conflicts with its base branch")]
    Conflict { number: u64 },
    #[error("the rules of the base branch keep pull request {number} from being merged: {message}")]
    Protected { number: u64, message: String },
    #[error("this repository does not allow that way of merging: {message}")]
    MethodNotAllowed { message: String },
    #[error("pull request {number} changed while it was being merged: {message}")]
    Moved { number: u64, message: String },
    #[error("pull request {number} cannot be merged: {message}")]
    NotMergeable { number: u64, message: String },
    #[error("the diff of pull request {number} is larger than GitHub shows")]
    DiffTooLarge { number: u64 },
    #[error("GitHub answered {status}: {message}")]
    Refused { status: u16, message: String },
    #[error("GitHub is in trouble: it answered {status}: {message}")]
    ServerFailed { status: u16, message: String },
    #[error("GitHub did not answer within {} s", after.as_secs_f32().ceil())]
    TimedOut { after: Duration },
    #[error("GitHub cannot be reached: {reason}")]
    Unreachable { reason: String },
    /// The request was sent and its answer lost; sending it again could do it twice.
    #[error("GitHub may or may not have made {what}: {source}")]
    Uncertain {
        what: String,
        #[source]
        source: Box<ForgeError>,
    },
    #[error("GitHub's answer about {what} cannot be understood: {reason}")]
    NotUnderstood { what: String, reason: String },
}

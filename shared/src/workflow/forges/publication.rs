//! A publication: the request (`CreatePr`), the work with its coder and reviewer; and the terms of a merge.

use crate::error::{Code, Error};
use crate::git::Oid;
use crate::model::{Instance, MergeMethod, PullRequest, Review};

/// The pull request as its author asks for it.
#[derive(Debug, Clone)]
pub struct CreatePr {
    pub title: String,
    pub description: String,
    pub draft: bool,
}

/// What is to be published, and in whose name.
pub(crate) struct Work {
    pub(crate) coder: Instance,
    /// The round that this approves; none if the coder publishes itself.
    pub(crate) review: Option<Review>,
    pub(crate) branch: String,
    pub(crate) commit: Oid,
}

/// What a merge does with commits that the branch has got since the pull request was made or updated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewCommits {
    /// Refuses the merge.
    Refuse,
    /// Merges the pull request as it is.
    LeaveOut,
}

/// How a pull request is merged.
#[derive(Debug, Clone)]
pub struct MergeTerms {
    pub method: MergeMethod,
    pub new_commits: NewCommits,
    /// The commit that the person has seen, or its beginning; if the pull request has another, it is not merged.
    pub commit: Option<String>,
}

/// Tells whether a commit is the one that a person has seen, who gave its id or the first digits of it.
pub(crate) fn is_seen(commit: &str, seen: &str) -> bool {
    seen.len() >= 7 && commit.starts_with(seen)
}

/// Refuses a pull request that has another commit than the one that a person has seen.
pub(super) fn check_seen(pull: &PullRequest, terms: &MergeTerms) -> Result<(), Error> {
    let number = pull.number;
    match &terms.commit {
        Some(seen) if !is_seen(&pull.head_commit, seen) => Err(Error::new(
            Code::PullRequestOutdated,
            format!("pull request {number} has got commits since you looked"),
        )
        .hint(format!(
            "Nothing was changed. Look at what is new (`claude-codex pr diff {number}`), then merge it."
        ))),
        _ => Ok(()),
    }
}

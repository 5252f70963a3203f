//! Error conversion: codes and hints for what GitHub refuses.

use serde_json::json;

use super::{Code, Error};
use crate::forge::ForgeError as F;

impl From<F> for Error {
    fn from(error: F) -> Self {
        let shown = Self::new(code(&error), error.to_string());
        match &error {
            F::Forbidden {
                needs: Some(needs), ..
            } => shown.hint(format!(
                "Use a token that may do this in this repository: it needs {needs}."
            )),
            F::RateLimited {
                retry_after: Some(wait),
                ..
            } => {
                let seconds = wait.as_secs();
                shown
                    .hint(format!("Try again in {seconds} s."))
                    .details(json!({ "retryAfterSeconds": seconds }))
            }
            F::Conflict { number } => shown.hint(format!(
                "`claude-codex pr resolve {number}` lets its agent merge the base branch and resolve the conflict. By hand: merge the base branch into its branch, push, then merge again."
            )),
            other => shown.hint(hint(other)),
        }
    }
}

fn code(error: &F) -> Code {
    match error {
        F::InvalidAddress { .. } => Code::ConfigInvalid,
        F::Unauthorized | F::InvalidToken => Code::ForgeUnauthorized,
        F::Forbidden { .. } | F::Archived => Code::ForgeForbidden,
        F::RepositoryNotFound { .. } => Code::RepositoryNotFound,
        F::NotFound { .. } | F::Gone { .. } => Code::ForgeNotFound,
        F::RateLimited { .. } => Code::ForgeRateLimited,
        F::PullRequestExists { .. } => Code::PullRequestExists,
        F::NothingToCompare { .. } => Code::NothingToPublish,
        F::BaseNotFound { .. } => Code::BaseNotFound,
        F::HeadNotFound { .. } => Code::HeadNotFound,
        F::Conflict { .. } => Code::MergeConflict,
        F::Protected { .. } => Code::BranchProtected,
        F::MethodNotAllowed { .. } | F::Moved { .. } | F::NotMergeable { .. } => Code::NotMergeable,
        F::DraftsNotOffered | F::Invalid { .. } | F::DiffTooLarge { .. } | F::Refused { .. } => {
            Code::ForgeInvalid
        }
        F::Uncertain { .. } => Code::ForgeUncertain,
        F::NotSecurable { .. }
        | F::NotUnderstood { .. }
        | F::Unreachable { .. }
        | F::ServerFailed { .. }
        | F::TimedOut { .. } => Code::ForgeUnavailable,
    }
}

fn hint(error: &F) -> &'static str {
    match error {
        F::InvalidAddress { .. } => {
            "Set GITHUB_API_URL to the address of the API, such as https://HOST/api/v3."
        }
        F::InvalidToken => {
            "Set GITHUB_TOKEN to the token alone, without quotes, spaces or line ends."
        }
        F::Unauthorized => {
            "It may have expired. Set GITHUB_TOKEN to a valid token, or run `gh auth login`."
        }
        F::Forbidden { .. } => {
            "Use a token that may do this in this repository: `repo` (classic), or Contents, Pull requests and Issues with write access (fine-grained)."
        }
        F::Archived => "Unarchive the repository on GitHub, or work in a fork of it.",
        F::RepositoryNotFound { .. } => {
            "Check the remote's address (`git remote -v`). A private repository needs a token that may see it; to make something in it, one that may write."
        }
        F::NotFound { .. } => {
            "Check the number, the remote, and that the token may read this repository."
        }
        F::Gone { .. } => {
            "It was deleted, or issues are switched off in the repository's settings."
        }
        F::RateLimited { .. } => "Wait some minutes.",
        F::PullRequestExists { .. } => {
            "Call again: the existing pull request is found and brought up to date."
        }
        F::NothingToCompare { .. } => {
            "Commit something first. If it was merged already, there is nothing left to publish."
        }
        F::BaseNotFound { .. } => {
            "The base branch was deleted, renamed or never pushed: push it, or start from another with --base."
        }
        F::HeadNotFound { .. } => {
            "Push the branch to this repository first; it may have been deleted there."
        }
        F::DraftsNotOffered => "Call again without draft.",
        F::Invalid { .. } => "Change what it complains about, then call again.",
        F::Conflict { .. } => {
            "Merge the base branch into the branch, resolve the conflicts, push, then merge again."
        }
        F::Protected { .. } => {
            "Get the reviews and checks that the rules want, or ask somebody who may bypass them."
        }
        F::MethodNotAllowed { .. } => "Choose another of merge, squash and rebase.",
        F::Moved { .. } => "Look at what changed, then merge again.",
        F::NotMergeable { .. } => "See the pull request on GitHub for what is missing.",
        F::DiffTooLarge { .. } => "Fetch the branch and use `git diff` instead.",
        F::Refused { .. } => {
            "The repository or the API may have moved: check the remote and GITHUB_API_URL."
        }
        F::Uncertain { .. } => "Look on GitHub whether it is there before you try again.",
        F::NotSecurable { .. } => {
            "Install the system's CA certificates (the package `ca-certificates`)."
        }
        F::NotUnderstood { .. } => {
            "Check that GITHUB_API_URL is a GitHub API, and that no proxy answers in its place."
        }
        F::Unreachable { .. } => "Check the network and GITHUB_API_URL, then try again.",
        F::ServerFailed { .. } | F::TimedOut { .. } => "Try again in a moment.",
    }
}

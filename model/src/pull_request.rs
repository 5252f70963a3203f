//! Pull requests, the same for every forge.

use serde::{Deserialize, Serialize};

use super::Timestamp;
use crate::closed_enum;

/// Limits of what an author writes, for the tools' schemas and for the verb.
pub const MAX_TITLE_CHARS: usize = 256;
pub const MAX_DESCRIPTION_CHARS: usize = 60_000;

closed_enum!(
    /// Where a pull request stands.
    PullState, "pull request state" {
        Open = "open",
        Closed = "closed",
        Merged = "merged",
    }
);

closed_enum!(
    /// How the commits of a pull request reach its base branch.
    MergeMethod, "merge method" {
        /// A merge commit.
        Merge = "merge",
        /// All of it as one commit.
        Squash = "squash",
        /// Each commit again, on top of the base.
        Rebase = "rebase",
    }
);

closed_enum!(
    /// Whether a pull request can be merged into its base branch as that is now.
    Mergeable, "mergeability" {
        Clean = "clean",
        Conflicting = "conflicting",
        /// A rule of the forge is not satisfied.
        Blocked = "blocked",
        Unknown = "unknown",
    }
);

closed_enum!(
    /// What is wrong with the base branch of a pull request, so that nothing can be merged into it.
    BaseProblem, "problem of a base branch" {
        /// There is no branch of this name any more.
        Gone = "base_gone",
        /// It was rewritten from its first commit on.
        NoCommonHistory = "no_common_history",
    }
);

/// A pull request as its forge tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PullRequest {
    pub number: u64,
    pub url: String,
    pub title: String,
    pub body: String,
    pub state: PullState,
    pub draft: bool,
    pub head_branch: String,
    pub base_branch: String,
    pub head_commit: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merge_commit: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merged_at: Option<Timestamp>,
    /// What GitHub says of one that was asked for by its number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mergeable: Option<Mergeable>,
}

/// What a new pull request is to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPullRequest {
    pub title: String,
    pub body: String,
    pub head_branch: String,
    pub base_branch: String,
    pub draft: bool,
}

/// Begins every address of a pull request in the built-in forge.
const LOCAL: &str = "codex://pull/";

/// Returns the address of a pull request in the built-in forge: repository's folder and number.
///
/// `claude-codex pr` takes it wherever it takes a number.
pub fn local_url(repository: &str, number: u64) -> String {
    let folder = repository.trim_end_matches('/');
    let folder = folder.strip_suffix("/.git").unwrap_or(folder);
    let name = folder.rsplit('/').next().unwrap_or_default();
    let name: String = name
        .chars()
        .map(|character| match character {
            '.' | '_' | '-' => character,
            character if character.is_alphanumeric() => character,
            _ => '-',
        })
        .collect();
    format!("{LOCAL}{name}/{number}")
}

/// Tells whether an address is one of the built-in forge.
pub fn is_local_url(url: &str) -> bool {
    url.starts_with(LOCAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_addresses_name_the_folder_and_the_number() {
        assert_eq!(local_url("/home/me/my app", 3), "codex://pull/my-app/3");
        assert_eq!(local_url("/srv/app/.git", 3), "codex://pull/app/3");
        assert!(is_local_url(&local_url("/", 1)));
        assert!(!is_local_url("https://github.com/o/r/pull/1"));
    }
}

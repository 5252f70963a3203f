//! Pull requests, the same for every forge.

use serde::{Deserialize, Serialize};

use super::closed_enum::closed_enum;

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

/// A pull request as its forge tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    pub created_at: String,
    pub updated_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merged_at: Option<String>,
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

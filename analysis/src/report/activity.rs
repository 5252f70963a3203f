//! Reports of what happened lately and of conventions, each with its counts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Listing;

/// What happened in the weeks before the newest commit. Merges and bots are left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecentActivity {
    /// Days of history looked at, back from the newest commit.
    pub days: u32,
    /// Commits of these days on the current branch.
    pub commits: u32,
    /// How many people made them.
    pub authors: u32,
    /// Folders that still exist, those with most commits first.
    pub areas: Listing<ActiveArea>,
    /// Branches with commits of these days that the base branch does not have, the newest first, at most twelve.
    /// Version updates by bots are left out, and branches whose upstream is gone.
    pub branches: Listing<ActiveBranch>,
}

/// A folder that people work in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActiveArea {
    /// Path from the top of the repository, `.` for the top; at most three levels deep.
    pub folder: String,
    /// Commits that changed a file in it; of folders below it only where it is itself three levels deep.
    pub commits: u32,
    /// How many people made them.
    pub authors: u32,
    /// The files with most of these commits, at most three.
    pub files: Vec<String>,
    /// Active branches that change such files, at most five.
    pub branches: Vec<String>,
}

/// A branch with work that is not in the base branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActiveBranch {
    /// Its name.
    pub name: String,
    /// Commits that the base branch does not have.
    pub commits: u32,
    /// Days since its last commit.
    pub idle_days: u32,
    /// Who made its last commit.
    pub author: String,
    /// How many files it changes.
    pub files: u32,
    /// Folders in which it changes most files, at most three.
    pub areas: Vec<String>,
    /// Its open pull request, where those are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull: Option<u64>,
    /// A worktree has it checked out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub checked_out: bool,
}

/// Something that is usually done in the same way here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Convention {
    /// What is done.
    pub what: String,
    /// How often it was seen.
    pub seen: u64,
    /// Of how many that were looked at.
    pub of: u64,
    /// Examples, at most two.
    pub examples: Vec<String>,
}

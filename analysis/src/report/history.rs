//! The part of the codebase report that git's history gives: hotspots, owners, bus factor.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Listing;
use super::headline::grouped;

/// What the history tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HistoryReport {
    /// Commits that were read; merges are among them but change nothing by themselves.
    pub commits: u64,
    /// How many commits there are, if not all of them were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_commits: Option<u64>,
    /// Whether the clone is shallow, so that the history begins in the middle.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_shallow: bool,
    /// How many people there are; the same address, name or `.mailmap` entry is one person, bots are none.
    pub authors: u64,
    /// Date of the oldest commit that was read (author date, UTC, `YYYY-MM-DD`).
    pub first: String,
    /// Date of the newest commit.
    pub last: String,
    /// Lines added in all commits, as `git log --numstat -M` counts them.
    pub added: u64,
    /// Lines deleted in all commits.
    pub deleted: u64,
    /// Production files of today that change much and are large: where changes are risky.
    pub hotspots: Listing<Hotspot>,
    /// The same for test files.
    #[serde(default)]
    pub test_hotspots: Listing<Hotspot>,
    /// Who wrote what, by top-level folder. Bots and commits of `.git-blame-ignore-revs` are left out. None in a shallow clone.
    pub owners: Listing<FolderOwners>,
    /// The fewest people who together have more than half of the weighed lines of own code. None in a shallow clone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bus_factor: Option<u64>,
}

/// A file that changes much and is large.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hotspot {
    /// Path from the top of the repository.
    pub path: String,
    /// From 0 to 100: the square root of weighed churn times code lines, relative to the highest in this list. Lines
    /// changed in the last year of the history weigh fully, older ones half for each further year.
    pub score: f64,
    /// Commits that changed the file under this name or one that it had before; merges and those of
    /// `.git-blame-ignore-revs` left out.
    pub commits: u64,
    /// Lines added and deleted by these commits.
    pub churn: u64,
    /// Code lines today.
    pub code: u64,
    /// How many people changed it.
    pub authors: u64,
    /// Date of the last change.
    pub last_change: String,
}

/// Who wrote what in a folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FolderOwners {
    /// Top-level folder, `.` for files at the top.
    pub folder: String,
    /// The fewest people who together have more than half of the weighed lines.
    pub bus_factor: u64,
    /// How many people changed it.
    pub authors: u64,
    /// Lines added and deleted in files that are there today.
    pub churn: u64,
    /// The people with the largest shares, at most three, of those with two commits or more.
    pub owners: Vec<Owner>,
}

/// One person's share of a folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Owner {
    /// Its name.
    pub name: String,
    /// Share of the changed lines in percent; those of the last year weigh fully, older ones half for each further year.
    pub percent: f64,
    /// Date of the last change here.
    #[serde(default)]
    pub last_change: String,
}

impl HistoryReport {
    /// Says how much of the history this is.
    pub(super) fn extent(&self) -> String {
        let commits = grouped(self.commits);
        let authors = self.authors;
        match (self.bus_factor, self.of_commits) {
            (_, Some(all)) => format!(
                "the newest {commits} of {} commits, since {}, by {authors} authors",
                grouped(all),
                self.first
            ),
            (None, None) => format!("shallow clone with {commits} commits since {}", self.first),
            (Some(bus_factor), None) => {
                format!("{commits} commits by {authors} authors (bus factor {bus_factor})")
            }
        }
    }
}

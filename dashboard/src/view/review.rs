//! View of a person's review: what is shown, pending comments, and what was found, at their lines.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shared::model::{InstanceId, Severity, Timestamp, Verdict};

/// Unified, or side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DiffLayout {
    #[default]
    Unified,
    Split,
}

/// Which part of the work to show, and how.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct DiffQuery {
    /// Path of the repository of a pull request; by default the one that the dashboard was started in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// What changed since a round: `2`, or `person-1` for a round of a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// One commit of the work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The worktree as it is, with what is not committed.
    #[serde(skip_serializing_if = "is_false")]
    pub uncommitted: bool,
    pub view: DiffLayout,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_false(value: &bool) -> bool {
    !value
}

/// What a person reviews, and what was said about it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewView {
    /// Whose work it is.
    pub coder: InstanceId,
    /// The commit that comments and an approval are about.
    pub commit: String,
    /// Whether the lines that are shown are those of that commit, so that they can be commented on.
    pub commentable: bool,
    /// Whether changes can be requested here.
    pub can_request_changes: bool,
    pub can_approve: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
    /// How many comments are pending.
    pub pending: u32,
    /// Pending comments and findings of all rounds. Lines are those of the commit that is shown.
    pub notes: Vec<NoteView>,
    /// Oldest first.
    pub rounds: Vec<RoundView>,
    /// The newest first.
    pub commits: Vec<CommitView>,
    /// How many files of the worktree are not committed.
    pub uncommitted: u64,
    /// The commit that the pull request has, if it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
    pub shown: DiffQuery,
}

impl ReviewView {
    /// Returns the last round that has a commit other than the one under review.
    pub fn last_round(&self) -> Option<&RoundView> {
        let mut rounds = self.rounds.iter().rev();
        rounds.find(|round| round.decided_at.is_some() && round.commit != self.commit)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RoundView {
    pub round: u32,
    pub verdict: Verdict,
    pub coder: InstanceId,
    /// The agent that reviewed; absent if a person did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reviewer: Option<InstanceId>,
    pub commit: String,
    /// The description that the coder gave.
    pub description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
    pub findings: Vec<FindingView>,
    pub requested_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FindingView {
    pub file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    pub severity: Severity,
    pub message: String,
}

impl RoundView {
    /// Returns the name of the round in an address.
    pub fn key(&self) -> String {
        match self.reviewer {
            Some(_) => self.round.to_string(),
            None => format!("person-{}", self.round),
        }
    }
}

/// Something that was said about a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NoteView {
    pub file: String,
    /// The line, as it is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The line was changed or removed since: `line` is where it was.
    pub outdated: bool,
    pub source: NoteSource,
    pub message: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum NoteSource {
    /// A comment that is not sent yet.
    Draft { id: i64 },
    /// A finding of a round.
    Finding {
        round: u32,
        /// The agent that found it; absent if a person did.
        #[serde(skip_serializing_if = "Option::is_none")]
        reviewer: Option<InstanceId>,
        severity: Severity,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommitView {
    pub id: String,
    pub subject: String,
    pub author: String,
}

//! Review rounds: verdicts, findings and their limits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{InstanceId, Timestamp};
use crate::closed_enum;

/// Limits of a review, for the tools' schemas and for the verbs.
pub const MAX_REVIEW_DESCRIPTION_CHARS: usize = 20_000;
pub const MAX_FEEDBACK_CHARS: usize = 20_000;
pub const MAX_FINDINGS: usize = 100;
pub const MAX_FINDING_FILE_CHARS: usize = 1_000;
pub const MAX_FINDING_CHARS: usize = 4_000;

closed_enum!(
    /// How a round ended.
    Verdict, "verdict" {
        Pending = "pending",
        ChangesRequested = "changes_requested",
        Approved = "approved",
        /// The reviewer died or ran out of time; the round does not count.
        Lost = "lost",
    }
);

closed_enum!(
    /// How much a finding matters.
    Severity, "severity" {
        /// Must be fixed before a pull request.
        Blocking = "blocking",
        /// Should be fixed.
        Major = "major",
        /// Worth fixing when nearby.
        Minor = "minor",
    }
);

/// One thing a reviewer found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Finding {
    /// Path of the file, relative to the repository.
    #[schemars(length(min = 1, max = MAX_FINDING_FILE_CHARS))]
    pub file: String,
    /// Line that the finding is about, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub line: Option<u32>,
    /// How much it matters: blocking, major or minor.
    pub severity: Severity,
    /// What is wrong and what would be right.
    #[schemars(length(min = 1, max = MAX_FINDING_CHARS))]
    pub message: String,
}

/// One review round of a coding agent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Review {
    #[serde(skip)]
    pub id: i64,
    pub coding_instance_id: InstanceId,
    /// The agent that reviewed; none if a person did.
    pub review_instance_id: Option<InstanceId>,
    pub round: u32,
    pub commit_id: String,
    pub description: String,
    pub verdict: Verdict,
    pub feedback: Option<String>,
    pub findings: Vec<Finding>,
    pub requested_at: Timestamp,
    pub decided_at: Option<Timestamp>,
}

impl Review {
    /// Returns whether a person reviewed. Such a round does not count against the limit.
    pub fn is_by_person(&self) -> bool {
        self.review_instance_id.is_none()
    }

    /// Returns who reviewed, by name.
    pub fn reviewer_name(&self) -> &str {
        self.review_instance_id
            .as_ref()
            .map_or("a person", InstanceId::as_str)
    }

    /// Returns whether the round counts against the limit: not if a person reviewed, or if it was lost.
    pub fn counts(&self) -> bool {
        !self.is_by_person() && self.verdict != Verdict::Lost
    }
}

/// A line comment of a person that is not sent yet: it becomes a finding of their next round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DraftComment {
    pub id: i64,
    pub instance_id: InstanceId,
    /// The commit that the person was looking at.
    pub commit_id: String,
    pub file: String,
    pub line: u32,
    pub body: String,
    pub created_at: Timestamp,
}

impl From<DraftComment> for Finding {
    fn from(comment: DraftComment) -> Self {
        Self {
            file: comment.file,
            line: Some(comment.line),
            severity: Severity::Major,
            message: comment.body,
        }
    }
}

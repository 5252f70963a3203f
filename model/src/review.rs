//! One review round.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::InstanceId;
use crate::closed_enum;

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
    #[schemars(length(min = 1, max = 1000))]
    pub file: String,
    /// Line that the finding is about, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub line: Option<u32>,
    /// How much it matters: blocking, major or minor.
    pub severity: Severity,
    /// What is wrong and what would be right.
    #[schemars(length(min = 1, max = 4000))]
    pub message: String,
}

/// One review round of a coding agent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Review {
    #[serde(skip)]
    pub id: i64,
    pub coding_instance_id: InstanceId,
    pub review_instance_id: InstanceId,
    pub round: u32,
    pub commit_id: String,
    pub description: String,
    pub verdict: Verdict,
    pub feedback: Option<String>,
    pub findings: Vec<Finding>,
    pub requested_at: String,
    pub decided_at: Option<String>,
}

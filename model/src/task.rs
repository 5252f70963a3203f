//! Tasks: planned work with priority, estimate and status.

use serde::Serialize;

use super::{InstanceId, TaskId, Timestamp};
use crate::closed_enum;

/// Longest title and description; bounds that the tool's schema shows and the store relies on.
pub const MAX_TITLE_CHARS: usize = 200;
pub const MAX_DESCRIPTION_CHARS: usize = 50_000;
/// More than a working year is not an estimate.
pub const MAX_ESTIMATED_HOURS: f64 = 2_000.0;
pub const MAX_DEPENDENCIES: usize = 100;

closed_enum!(
    /// How soon a task should be done.
    Priority, "priority" {
        Low = "low",
        Medium = "medium",
        High = "high",
    }
);

closed_enum!(
    /// Where a task is.
    TaskStatus, "task status" {
        Open = "open",
        InProgress = "in_progress",
        Done = "done",
        Cancelled = "cancelled",
    }
);

/// One planned piece of work.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    pub id: TaskId,
    pub title: String,
    pub description: String,
    pub priority: Priority,
    pub estimated_hours: Option<f64>,
    pub status: TaskStatus,
    /// Whether everything it depends on is done.
    pub ready: bool,
    pub depends_on: Vec<TaskId>,
    pub created_by: Option<InstanceId>,
    pub issue_number: Option<u64>,
    pub issue_url: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

//! TDD runs: coder and reviewer take turns from a specification to a pull request.

use std::path::PathBuf;

use serde::Serialize;
use uuid::Uuid;

use super::instance::ProcessMark;
use super::{InstanceId, InvalidId, Timestamp};
use crate::closed_enum;

closed_enum!(
    /// Whether a run still goes on.
    TddStatus, "status of a TDD run" {
        Running = "running",
        Completed = "completed",
        Failed = "failed",
    }
);

closed_enum!(
    /// What a run is doing, and goes on with when it is taken up again.
    TddStep, "step of a TDD run" {
        /// The coder has its turn.
        Coding = "coding",
        /// What the coder handed over is judged.
        Reviewing = "reviewing",
    }
);

closed_enum!(
    /// Whose turn it is, or was.
    TddRole, "role in a TDD run" {
        Coder = "coder",
        Reviewer = "reviewer",
    }
);

/// One run. Its JSON is what `tdd show --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TddRun {
    /// Also the id of the coder: whatever is done with an agent can be done with it.
    pub task_id: InstanceId,
    pub spec_path: PathBuf,
    pub original_spec: String,
    pub current_iteration: u32,
    pub max_iterations: u32,
    pub branch_name: String,
    pub worktree_info: WorktreeInfo,
    /// What the coder handed over, oldest first.
    pub coder_responses: Vec<String>,
    /// What the reviewers said, oldest first.
    pub reviewer_responses: Vec<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub status: TddStatus,
    #[serde(skip)]
    pub repository: PathBuf,
    #[serde(skip)]
    pub step: TddStep,
    /// The coder's turn that is under way or ended last. Turns are numbered through all rounds.
    #[serde(skip)]
    pub turn: u32,
    /// How many turns of the present round the coder has ended.
    #[serde(skip)]
    pub turns_of_iteration: u32,
    /// What the coder is told in that turn.
    #[serde(skip)]
    pub prompt: String,
    /// Whether what is safe elsewhere is put away at the end.
    #[serde(skip)]
    pub cleanup: bool,
    #[serde(skip)]
    pub pr_url: Option<String>,
    #[serde(skip)]
    pub error: Option<String>,
    /// The process that drives it.
    #[serde(skip)]
    pub owner: Option<ProcessMark>,
}

/// Where the coder works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorktreeInfo {
    pub path: PathBuf,
    pub branch_name: String,
    pub base_branch: String,
}

/// How a run ended. Its JSON is what `tdd --json` prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TddResult {
    pub success: bool,
    pub pr_url: Option<String>,
    pub iterations: u32,
    pub task_id: InstanceId,
    pub error: Option<String>,
}

/// Makes the id of a run from the time: ids sort as the runs began.
pub fn new_run_id(now: Timestamp) -> Result<InstanceId, InvalidId> {
    let now = now.to_string();
    let digits: String = now.chars().filter(char::is_ascii_digit).take(14).collect();
    let (date, time) = digits.split_at_checked(8).unwrap_or((&digits, ""));
    let random = &Uuid::new_v4().simple().to_string()[..6];
    format!("{date}-{time}-{random}").parse()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_time_and_differ() {
        let first = new_run_id("2026-07-28T12:34:56.789Z".parse().unwrap()).unwrap();
        let second = new_run_id("2026-07-28T12:34:57.000Z".parse().unwrap()).unwrap();
        assert!(first.as_str().starts_with("20260728-123456-"), "{first}");
        assert!(first < second);
        let again = new_run_id("2026-07-28T12:34:56.789Z".parse().unwrap()).unwrap();
        assert_ne!(first, again);
    }
}

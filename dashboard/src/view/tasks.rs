//! Planned work and what it waits for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shared::model::{InstanceId, Task, TaskId};

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TasksView {
    pub repositories: Vec<String>,
    /// The one that is shown; none if there is none at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// Ready ones first, then open, in progress, done, cancelled; the more urgent and newer first.
    pub tasks: Vec<TaskView>,
    pub filter: TaskFilter,
    /// How many there are, also of those not shown.
    pub total: u64,
    /// How many can begin now, also of those not shown.
    pub ready: u64,
    /// The `offset` of the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<u64>,
    pub version: u64,
    pub read_only: bool,
}

/// Which tasks to show.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct TaskFilter {
    /// A repository's path; else the one that the dashboard was started in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// How many of the first are not shown.
    pub offset: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskView {
    #[serde(flatten)]
    pub task: Task,
    /// Tasks that wait for this one.
    pub blocks: Vec<TaskId>,
    /// Agents that work or have worked on it, the newest first.
    pub agents: Vec<InstanceId>,
    /// How many tasks are in the longest chain before it: its column in a drawing.
    pub level: u32,
}

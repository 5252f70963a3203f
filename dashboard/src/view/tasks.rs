//! Planned work and what it waits for.

use schemars::JsonSchema;
use serde::Serialize;
use shared::model::{InstanceId, Task, TaskId};

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TasksView {
    pub repositories: Vec<String>,
    /// The one that is shown; none if there is none at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// Ready ones first, then open, in progress, done, cancelled; the more urgent and older first.
    pub tasks: Vec<TaskView>,
    /// How many there are, also of those not shown.
    pub total: u64,
    pub version: u64,
    pub read_only: bool,
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

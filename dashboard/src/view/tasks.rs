//! View of tasks and their dependencies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shared::model::{InstanceId, Task, TaskId, Usage};

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TasksView {
    pub repositories: Vec<String>,
    /// The one that is shown, if there is any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// Ready ones first, then blocked, in progress, done, cancelled; within each by priority, newest first.
    pub tasks: Vec<TaskView>,
    pub filter: TaskFilter,
    /// How many there are, including those on other pages.
    pub total: u64,
    /// How many are ready to start, including those on other pages.
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
    /// A repository's path; by default the one that the dashboard was started in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// How many tasks to skip.
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
    /// The length of the longest chain of dependencies before it: its column in a drawing.
    pub level: u32,
    /// What those agents and their reviewers have used, and the estimated cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

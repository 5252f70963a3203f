//! The form that launches an agent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shared::error::Error;

use super::TaskRef;

/// What kind of work is begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LaunchKind {
    #[default]
    Code,
    Plan,
    /// From a specification to a pull request, unattended: the prompt is the specification.
    Tdd,
}

/// What a person fills in; the body of `POST /api/instances`, as JSON or as a form.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct LaunchForm {
    pub kind: LaunchKind,
    /// Path of the repository; else the one that the dashboard was started in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// What is to be done. May be left out with an issue, a task, or for a plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Number of the issue that it is about; not together with a task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issue: Option<u64>,
    /// A planned task whose dependencies are done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The branch to begin from; else the one that is checked out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The branch to work on; else one named after the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    pub require_review: bool,
    /// How many review rounds it gets: 1 to 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_reviews: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LaunchView {
    /// Repositories to choose from, as paths.
    pub repositories: Vec<String>,
    /// The one that is chosen; none if there is none to choose from.
    pub repository: Option<String>,
    /// Its branches, for `base`.
    pub branches: Vec<String>,
    /// Its tasks that can begin.
    pub ready_tasks: Vec<TaskRef>,
    /// What is in force if nothing is said.
    pub default_max_reviews: u32,
    pub default_require_review: bool,
    /// What stands in the fields: from the address, or what was just refused.
    pub form: LaunchForm,
    /// Why it was refused.
    pub problem: Option<Error>,
}

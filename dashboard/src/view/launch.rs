//! The launch form, and the view of its page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shared::error::Error;

use super::TaskRef;

/// The kind of work to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LaunchKind {
    #[default]
    Code,
    Plan,
    /// From a specification to a pull request, unattended: the prompt is the specification.
    Tdd,
}

/// The body of `POST /api/instances`, as JSON or as a form.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct LaunchForm {
    pub kind: LaunchKind,
    /// Path of the repository; by default the one that the dashboard was started in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// What to do. Optional with an issue or a task, or for a plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Number of an issue; not together with a task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issue: Option<u64>,
    /// A planned task whose dependencies are done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The branch to start from; by default the one that is checked out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The branch to work on; by default one named after the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    pub require_review: bool,
    /// How many review rounds it gets.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = shared::workflow::MAX_REVIEWS))]
    pub max_reviews: Option<u32>,
}

impl LaunchForm {
    /// Drops what the page hides for this kind of agent: a browser sends that, too, if it was filled in before.
    #[must_use]
    pub fn as_shown(self) -> Self {
        let shown = Self {
            kind: self.kind,
            repository: self.repository,
            prompt: self.prompt,
            ..Self::default()
        };
        match self.kind {
            LaunchKind::Code => Self {
                issue: self.issue,
                task: self.task,
                base: self.base,
                branch: self.branch,
                require_review: self.require_review,
                max_reviews: self.max_reviews,
                ..shown
            },
            LaunchKind::Tdd => Self {
                branch: self.branch,
                max_reviews: self.max_reviews,
                ..shown
            },
            LaunchKind::Plan => shown,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LaunchView {
    /// Repositories to choose from, as paths.
    pub repositories: Vec<String>,
    /// The chosen one, if there is any.
    pub repository: Option<String>,
    /// Its branches, for `base`.
    pub branches: Vec<String>,
    /// Its tasks that are ready to start.
    pub ready_tasks: Vec<TaskRef>,
    /// The configured defaults.
    pub default_max_reviews: u32,
    pub default_require_review: bool,
    /// The values of the fields: from the address, or of the form that was rejected.
    pub form: LaunchForm,
    /// Why the form was rejected.
    pub problem: Option<Error>,
}

//! Views of the pull requests of one repository, on GitHub or the built-in forge.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shared::error::Error;
use shared::model::{InstanceId, MergeMethod, PullRequest, PullState, Usage};
use shared::workflow::Standing;

use super::{DiffView, ReviewView};

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PullsView {
    pub repositories: Vec<String>,
    /// The one that is shown, if there is any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// The forge, in words.
    pub forge: String,
    /// Newest first.
    pub pulls: Vec<PullCard>,
    pub filter: PullFilter,
    /// Why they could not be loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<Error>,
    pub version: u64,
}

/// Which pull requests to show.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct PullFilter {
    /// A repository's path; by default the one that the dashboard was started in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// Only pull requests in this state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<PullState>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PullCard {
    #[serde(flatten)]
    pub pull: PullRequest,
    pub repository: String,
    /// Whether it is in the built-in forge.
    pub local: bool,
    /// The agent that made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance: Option<InstanceId>,
    /// What that agent and its reviewers have used, and the estimated cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// How it stands to its base and its branch, if it is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standing: Option<Standing>,
}

/// One pull request with what it changes.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PullView {
    #[serde(flatten)]
    pub card: PullCard,
    pub diff: DiffView,
    /// Of an open one that was made by an agent of this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review: Option<ReviewView>,
    /// Whether it can be merged or closed here: `POST /api/pulls/{n}/merge` with `repository` and
    /// `method`, `POST /api/pulls/{n}/close` with `repository`.
    pub can_change: bool,
    /// How a conflict is resolved if its agent cannot be sent back to do it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolve_hint: Option<String>,
    pub methods: Vec<MergeMethod>,
    pub version: u64,
}

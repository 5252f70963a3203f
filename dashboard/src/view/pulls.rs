//! Pull requests of one repository, on whichever forge it has.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shared::error::Error;
use shared::model::{InstanceId, MergeMethod, PullRequest, PullState};

use super::DiffView;

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PullsView {
    pub repositories: Vec<String>,
    /// The one that is shown; none if there is none at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// Which forge it is, for people.
    pub forge: String,
    /// Newest first.
    pub pulls: Vec<PullCard>,
    pub filter: PullFilter,
    /// Why they could not be had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<Error>,
    pub version: u64,
}

/// Which pull requests to show.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct PullFilter {
    /// A repository's path; else the one that the dashboard was started in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// In one state only; absent: all.
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
}

/// One pull request with what it changes.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PullView {
    #[serde(flatten)]
    pub card: PullCard,
    pub diff: DiffView,
    /// Whether it can be merged or closed here: `POST /api/pulls/{n}/merge` with `repository` and
    /// `method`, `POST /api/pulls/{n}/close` with `repository`.
    pub can_change: bool,
    pub methods: Vec<MergeMethod>,
    pub version: u64,
}

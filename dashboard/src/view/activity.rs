//! View of an agent's activity: what it was told, said, ran and changed, from its transcripts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shared::model::ActivityItem;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActivityView {
    /// Oldest first.
    pub items: Vec<ActivityItem>,
    /// The `after` of the next page; absent if the agent has no transcript.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The next page has something already.
    pub more: bool,
}

/// Which part to return; by default the last items.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ActivityQuery {
    /// Only what came after this cursor.
    pub after: Option<String>,
    /// How many items, about.
    pub limit: Option<usize>,
}

//! View of events, newest first, in pages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shared::model::InstanceId;

use super::TimelineEntry;

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventsView {
    /// Newest first.
    pub events: Vec<EventView>,
    pub filter: EventFilter,
    /// The `before` of the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_before: Option<i64>,
    pub version: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventView {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance: Option<InstanceId>,
    #[serde(flatten)]
    pub entry: TimelineEntry,
}

/// Which events to show; by default all.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct EventFilter {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance: Option<InstanceId>,
    /// The exact name of a tool, command, hook or system event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Only failures.
    pub errors: bool,
    /// Only events older than this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<i64>,
}

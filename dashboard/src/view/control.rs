//! View of terminal control: who may type into a terminal.

use schemars::JsonSchema;
use serde::Serialize;
use shared::model::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ControlView {
    /// Whether control of the terminal can be taken.
    pub available: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<Controller>,
}

/// The person who controls a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Controller {
    /// As they have named themselves.
    pub name: String,
    pub until: Timestamp,
}

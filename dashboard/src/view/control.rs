//! Who types into a terminal.

use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ControlView {
    /// Whether the terminal can be typed into at all.
    pub available: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<Controller>,
}

/// Whoever has taken control of a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Controller {
    /// As they called themselves.
    pub name: String,
    pub until: String,
}

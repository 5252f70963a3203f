//! Events: recorded tool calls and commands.

use serde::{Deserialize, Serialize};

use super::{InstanceId, Status};
use crate::closed_enum;

closed_enum!(
    /// Through which door a change came.
    EventSource, "event source" {
        Tool = "tool",
        Command = "command",
        Hook = "hook",
        System = "system",
    }
);

/// One move of one instance; `from` is absent for a new one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct StatusChange {
    pub instance: InstanceId,
    pub from: Option<Status>,
    pub to: Status,
}

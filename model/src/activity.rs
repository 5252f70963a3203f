//! Agent activity: what an agent said, was told, ran and changed, as people follow it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::closed_enum;
use crate::timestamp::Timestamp;

closed_enum!(
    /// What one item of an agent's activity is.
    ActivityKind, "kind of activity" {
        /// The agent said something.
        Said = "said",
        /// A person, another agent or a hook said something to it.
        Told = "told",
        /// It ran a command.
        Ran = "ran",
        /// It wrote or edited a file.
        Changed = "changed",
        /// Anything else that it did: read, searched, called a tool.
        Did = "did",
        /// Tests passed.
        Passed = "passed",
        /// Tests or a call failed.
        Failed = "failed",
        /// It works, but without something that it should have.
        Warned = "warned",
    }
);

/// One thing that an agent did. The text is harmless: bounded, without secrets, with hidden characters shown by number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActivityItem {
    pub kind: ActivityKind,
    /// When, if the record says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// One line; what was said may have several.
    pub text: String,
}

impl ActivityItem {
    /// Returns the first line of the text.
    pub fn first_line(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }
}

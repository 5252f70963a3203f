//! `Depth`: how thorough an analysis is.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How thorough an analysis is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Depth {
    /// What the files of the working tree tell at a glance.
    Shallow,
    /// Adds the history and the imports.
    Medium,
    /// Adds what needs parsing and comparing everything.
    Deep,
}

impl Depth {
    pub const ALL: [Self; 3] = [Self::Shallow, Self::Medium, Self::Deep];

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|depth| depth.name() == name)
    }

    /// Returns the word that callers use for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Shallow => "shallow",
            Self::Medium => "medium",
            Self::Deep => "deep",
        }
    }

    /// Returns the time after which an analysis of this depth returns the parts that it has.
    ///
    /// By default clients time out a tool after a minute.
    pub const fn time_limit(self) -> Duration {
        match self {
            Self::Shallow => Duration::from_secs(5),
            Self::Medium => Duration::from_secs(20),
            Self::Deep => Duration::from_secs(45),
        }
    }
}

//! The four things that an analysis can look at.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an analysis looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    Architecture,
    Issues,
    Codebase,
    Dependencies,
}

impl Scope {
    pub const ALL: [Self; 4] = [
        Self::Architecture,
        Self::Issues,
        Self::Codebase,
        Self::Dependencies,
    ];

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.name() == name)
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Architecture => "architecture",
            Self::Issues => "issues",
            Self::Codebase => "codebase",
            Self::Dependencies => "dependencies",
        }
    }
}

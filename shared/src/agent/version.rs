//! Version numbers of Claude Code, and the oldest supported one.

use std::fmt;

/// A release of Claude Code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    pub major: u32,
    pub minor: u32,
    pub patch: u32,
}

/// The oldest release on which all that `agent` expects was seen to hold. 2.1.197 works too, but can't be
/// kept from putting a file before the model for `@/path` in a message.
pub const MINIMUM_VERSION: Version = Version {
    major: 2,
    minor: 1,
    patch: 325,
};

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl Version {
    /// Reads `2.1.325 (Claude Code)`; what follows the three numbers doesn't matter.
    pub fn parse(text: &str) -> Option<Self> {
        let word = text.split_ascii_whitespace().next()?;
        let core = word.split(['-', '+']).next()?;
        let mut numbers = core.split('.').map(|number| number.parse().ok());
        let version = Self {
            major: numbers.next()??,
            minor: numbers.next()??,
            patch: numbers.next()??,
        };
        numbers.next().is_none().then_some(version)
    }
}

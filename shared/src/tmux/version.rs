//! Version numbers of tmux, and the oldest supported one.

use std::fmt;

/// The oldest tmux that knows `new-session -e`, `copy-mode -q` and `terminal-features`.
///
/// From 3.3 on a dead pane also tells the signal that ended it.
pub const MINIMUM_VERSION: Version = Version { major: 3, minor: 2 };

/// A tmux release; the letter of a patch release (`3.3a`) makes no difference to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    pub major: u32,
    pub minor: u32,
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.major, self.minor)
    }
}

/// Reads `3.3a`, `3.6` or `next-3.7`; `master` and `openbsd-7.8` carry no tmux release number.
pub(super) fn parse(version: &str) -> Option<Version> {
    let numbers = version.strip_prefix("next-").unwrap_or(version);
    let (major, rest) = numbers.split_once('.')?;
    let minor: &str = &rest[..rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len())];
    Some(Version {
        major: major.parse().ok()?,
        minor: minor.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::{MINIMUM_VERSION, Version, parse};

    #[test]
    fn release_numbers_are_read_and_ordered() {
        let version = |major, minor| Some(Version { major, minor });
        assert_eq!(parse("3.3a"), version(3, 3));
        assert_eq!(parse("3.10"), version(3, 10));
        assert_eq!(parse("next-3.7"), version(3, 7));
        assert_eq!(parse("3.6-rc2"), version(3, 6));
        assert_eq!(parse("master"), None);
        assert_eq!(parse("openbsd-7.8"), None);
        assert_eq!(parse("3."), None);
        assert!(
            parse("3.1c").unwrap() < MINIMUM_VERSION && parse("3.10").unwrap() > MINIMUM_VERSION
        );
    }
}

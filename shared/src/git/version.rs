//! The version of the installed git, and the oldest that is supported.

use std::fmt;

/// The oldest git that can be used.
///
/// 2.31 brought `'key'='value'` in `GIT_CONFIG_PARAMETERS` (a token for a push without argv or files), `rev-parse
/// --path-format` (absolute paths whatever the directory) and `locked`/`prunable` in `worktree list
/// --porcelain`. What is newer (`worktree list -z` and `hook run`, both 2.36) has a fallback.
pub const MINIMUM_VERSION: Version = Version {
    major: 2,
    minor: 31,
    patch: 0,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    pub major: u32,
    pub minor: u32,
    pub patch: u32,
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl Version {
    /// Reads `git version 2.39.5 (Apple Git-154)`, `git version 2.48.0.rc1` and the like.
    pub(super) fn parse(output: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(output);
        let mut numbers = text
            .split_whitespace()
            .nth(2)?
            .split('.')
            .map_while(|part| part.parse::<u32>().ok());
        Some(Self {
            major: numbers.next()?,
            minor: numbers.next()?,
            patch: numbers.next().unwrap_or(0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_all_vendors() {
        for (text, expected) in [
            ("git version 2.47.3\n", "2.47.3"),
            ("git version 2.39.5 (Apple Git-154)\n", "2.39.5"),
            ("git version 2.48.0.rc1\n", "2.48.0"),
            ("git version 2.45.1.windows.1\n", "2.45.1"),
            ("git version 3.0\n", "3.0.0"),
        ] {
            let version = Version::parse(text.as_bytes()).unwrap();
            assert_eq!(version.to_string(), expected);
            assert!(version > MINIMUM_VERSION);
        }
        assert!(Version::parse(b"hello").is_none());
        assert!(Version::parse(b"git version x.y").is_none());
    }
}

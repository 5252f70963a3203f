//! Object ids (SHA-1 and SHA-256).

use std::fmt;

/// The id of a commit, as 40 (SHA-1) or 64 (SHA-256) lower-case hexadecimal digits.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Oid(String);

impl Oid {
    /// Reads a full object id; abbreviations are revisions, not ids.
    pub fn parse(text: &str) -> Option<Self> {
        let full = matches!(text.len(), 40 | 64);
        (full && text.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .then(|| Self(text.to_ascii_lowercase()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the first ten digits, for people.
    pub fn short(&self) -> &str {
        self.0.get(..10).unwrap_or(&self.0)
    }

    /// Returns the id that stands for "nothing" in hooks, in the length of this one.
    pub(super) fn null_of_same_kind(&self) -> String {
        "0".repeat(self.0.len())
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl fmt::Debug for Oid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Oid({})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn object_ids_are_full() {
        assert!(Oid::parse(&"a".repeat(40)).is_some());
        assert!(Oid::parse(&"A".repeat(64)).is_some_and(|oid| oid.as_str() == "a".repeat(64)));
        assert!(Oid::parse("abcdef").is_none());
        assert!(Oid::parse(&"g".repeat(40)).is_none());
    }
}

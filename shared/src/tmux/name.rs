//! Session names that tmux cannot mistake for formats, targets or options.

use std::fmt;
use std::str::FromStr;

use super::error::{TmuxError, excerpt};

const MAX_LENGTH: usize = 100;

/// Defines a validated name: ASCII letters, digits and the given signs.
macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $signs:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(String);

        impl $name {
            /// Accepts 1 to 100 allowed characters that do not start with `-`.
            pub fn new(name: impl Into<String>) -> Result<Self, TmuxError> {
                let name = name.into();
                let allowed = |byte: u8| {
                    byte.is_ascii_alphanumeric() || $signs.as_bytes().contains(&byte)
                };
                let valid = (1..=MAX_LENGTH).contains(&name.len())
                    && !name.starts_with('-')
                    && name.bytes().all(allowed);
                if valid {
                    Ok(Self(name))
                } else {
                    Err(TmuxError::InvalidName { kind: $kind, signs: $signs, name: excerpt(&name) })
                }
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = TmuxError;

            fn from_str(name: &str) -> Result<Self, TmuxError> {
                Self::new(name)
            }
        }
    };
}

name!(
    /// The name of a tmux server's socket (`tmux -L`).
    SocketName,
    "socket",
    "_-"
);

name!(
    /// The name of a session; also the id of the agent in it.
    SessionName,
    "session",
    "_-"
);

name!(
    /// The mark of one launch, which its session carries.
    LaunchId,
    "launch",
    "_-"
);

name!(
    /// A program as tmux reports it in `pane_current_command`.
    ProgramName,
    "program",
    "_-.+"
);

impl SessionName {
    /// Returns the target of exactly this session; a bare name also matches prefixes and globs.
    ///
    /// Only with the colon does that hold for commands that take windows too (`list-panes`).
    pub(super) fn session_target(&self) -> String {
        format!("={}:", self.0)
    }

    /// Returns the target of one pane of the session, wherever in it a person has moved the pane.
    ///
    /// A bare `%7` may be resolved in another session that shows the same window.
    pub(super) fn pane_target(&self, pane: PaneId) -> String {
        format!("={}:.{pane}", self.0)
    }
}

/// tmux's name of a pane (`%12`), unique while its server lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PaneId(pub u32);

impl fmt::Display for PaneId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "%{}", self.0)
    }
}

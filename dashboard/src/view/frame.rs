//! What is around every page.

use super::Counts;

/// The parts of the site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    Board,
    Tasks,
    Pulls,
    Analysis,
    Events,
    Launch,
    /// None of them: an error.
    Elsewhere,
}

/// What was just done, to be said on the page that follows a form. It is in the address as `?done=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Done {
    MessageTaken,
    MessageWaits,
    ReviewBegun,
    Stopped,
    Resumed,
    Published,
    Merged,
    Closed,
    Launched,
}

impl Done {
    pub const ALL: [Self; 9] = [
        Self::MessageTaken,
        Self::MessageWaits,
        Self::ReviewBegun,
        Self::Stopped,
        Self::Resumed,
        Self::Published,
        Self::Merged,
        Self::Closed,
        Self::Launched,
    ];

    /// Returns the word in the address.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MessageTaken => "message-taken",
            Self::MessageWaits => "message-waits",
            Self::ReviewBegun => "review-begun",
            Self::Stopped => "stopped",
            Self::Resumed => "resumed",
            Self::Published => "published",
            Self::Merged => "merged",
            Self::Closed => "closed",
            Self::Launched => "launched",
        }
    }

    /// Returns what to say.
    pub const fn text(self) -> &'static str {
        match self {
            Self::MessageTaken => "The agent has your message.",
            Self::MessageWaits => {
                "Your message is stored; the agent gets it as soon as it can take it."
            }
            Self::ReviewBegun => "A reviewer is at work.",
            Self::Stopped => "The agent has ended.",
            Self::Resumed => "The agent is back.",
            Self::Published => "The pull request is open.",
            Self::Merged => "The pull request is merged.",
            Self::Closed => "The pull request is closed.",
            Self::Launched => "The agent is at work.",
        }
    }

    pub(crate) fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|done| done.as_str() == word)
    }
}

/// What every page is told beside its own content.
#[derive(Debug, Clone)]
pub struct Frame {
    pub section: Section,
    /// For the hidden field `csrf` of forms and for `<meta name=csrf>`.
    pub csrf: String,
    pub read_only: bool,
    /// Only `<main>` is wanted: the page itself is there already.
    pub fragment: bool,
    /// Path and query of this page, without `fragment` and `done`.
    pub url: String,
    /// The state that the page shows, for comparison with `/api/changes`.
    pub version: u64,
    /// For the title and the navigation; absent where nobody has counted.
    pub counts: Option<Counts>,
    pub done: Option<Done>,
}

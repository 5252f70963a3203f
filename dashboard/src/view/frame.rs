//! The frame of every page: section, CSRF token, counts, confirmation.

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
    /// None of them: an error page.
    Elsewhere,
}

/// The action that a form has just taken, confirmed on the next page. It is in the address as `?done=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Done {
    MessageTaken,
    MessageWaits,
    ReviewBegun,
    Stopped,
    Discarded,
    Resumed,
    Published,
    Merged,
    Closed,
    Updated,
    ConflictSent,
    Launched,
    Answered,
    Commented,
    CommentRemoved,
    SentBack,
    SentBackWaits,
    Approved,
    Reopened,
    TaskAdded,
    TaskChanged,
}

impl Done {
    pub const ALL: [Self; 21] = [
        Self::MessageTaken,
        Self::MessageWaits,
        Self::ReviewBegun,
        Self::Stopped,
        Self::Discarded,
        Self::Resumed,
        Self::Published,
        Self::Merged,
        Self::Closed,
        Self::Updated,
        Self::ConflictSent,
        Self::Launched,
        Self::Answered,
        Self::Commented,
        Self::CommentRemoved,
        Self::SentBack,
        Self::SentBackWaits,
        Self::Approved,
        Self::Reopened,
        Self::TaskAdded,
        Self::TaskChanged,
    ];

    /// Returns the word in the address.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MessageTaken => "message-taken",
            Self::MessageWaits => "message-waits",
            Self::ReviewBegun => "review-begun",
            Self::Stopped => "stopped",
            Self::Discarded => "discarded",
            Self::Resumed => "resumed",
            Self::Published => "published",
            Self::Merged => "merged",
            Self::Closed => "closed",
            Self::Updated => "updated",
            Self::ConflictSent => "conflict-sent",
            Self::Launched => "launched",
            Self::Answered => "answered",
            Self::Commented => "commented",
            Self::CommentRemoved => "comment-removed",
            Self::SentBack => "sent-back",
            Self::SentBackWaits => "sent-back-waits",
            Self::Approved => "approved",
            Self::Reopened => "reopened",
            Self::TaskAdded => "task-added",
            Self::TaskChanged => "task-changed",
        }
    }

    /// Returns the confirmation.
    pub const fn text(self) -> &'static str {
        match self {
            Self::MessageTaken => "The agent has received your message.",
            Self::MessageWaits => {
                "Your message is stored and will be delivered as soon as the agent can take it."
            }
            Self::ReviewBegun => "A reviewer has started.",
            Self::Stopped => "The agent has stopped.",
            Self::Discarded => "The agent has ended and its work is deleted.",
            Self::Resumed => "The agent has resumed.",
            Self::Published => "The pull request is open.",
            Self::Merged => "The pull request is merged.",
            Self::Closed => "The pull request is closed.",
            Self::Updated => "The pull request has every commit of its branch.",
            Self::ConflictSent => "The agent was told to resolve the conflict.",
            Self::Launched => "The agent has started.",
            Self::Answered => "The dialog is answered.",
            Self::Commented => "Your comment is stored. It is sent with your review.",
            Self::CommentRemoved => "Your comment is removed.",
            Self::SentBack => "The agent has received your review.",
            Self::SentBackWaits => {
                "Your review is stored and will be delivered as soon as the agent can take it."
            }
            Self::Approved => "This commit is approved.",
            Self::Reopened => "The pull request is open again.",
            Self::TaskAdded => "The task is planned.",
            Self::TaskChanged => "The task is changed.",
        }
    }

    pub(crate) fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|done| done.as_str() == word)
    }
}

/// What every page needs beside its own content.
#[derive(Debug, Clone)]
pub struct Frame {
    pub section: Section,
    /// For the hidden field `csrf` of forms and for `<meta name=csrf>`.
    pub csrf: String,
    pub read_only: bool,
    /// Render only `<main>`, for a page that is already in the browser.
    pub fragment: bool,
    /// Path and query of this page, without `fragment` and `done`.
    pub url: String,
    /// The version of the change feed that the page shows.
    pub version: u64,
    /// For the title and the navigation; absent if they could not be loaded.
    pub counts: Option<Counts>,
    pub done: Option<Done>,
}

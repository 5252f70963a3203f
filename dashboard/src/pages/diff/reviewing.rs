//! URLs of a diff review: the page, its parts and its actions.

use maud::{Markup, html};

use crate::pages::forms::query;
use crate::view::{DiffLayout, DiffQuery, Frame, ReviewView};

/// A review of a diff, and where it is sent.
#[derive(Debug, Clone, Copy)]
pub(in crate::pages) struct Reviewing<'v> {
    pub(in crate::pages) view: &'v ReviewView,
    /// The page that shows it.
    pub(in crate::pages) page: &'v str,
    /// Where its actions are, such as `/api/pulls/1`.
    pub(in crate::pages) api: &'v str,
    /// Of a pull request.
    pub(in crate::pages) repository: Option<&'v str>,
    pub(in crate::pages) frame: &'v Frame,
}

impl Reviewing<'_> {
    /// Returns whether the lines that are shown take comments.
    pub(super) const fn is_commentable(&self) -> bool {
        self.view.commentable && !self.frame.read_only
    }

    /// Returns the address of another part, or another layout.
    pub(super) fn link(&self, wanted: &DiffQuery) -> String {
        let mut fields = Vec::new();
        let repository = self.repository.map(|path| ("repository", path));
        fields.extend(repository.map(|(name, path)| format!("{name}={}", query(path))));
        let since = wanted.since.as_deref().map(|round| ("since", round));
        let commit = wanted.commit.as_deref().map(|commit| ("commit", commit));
        for (name, value) in since.into_iter().chain(commit) {
            fields.push(format!("{name}={}", query(value)));
        }
        if wanted.uncommitted {
            fields.push("uncommitted=true".to_owned());
        }
        if wanted.view == DiffLayout::Split {
            fields.push("view=split".to_owned());
        }
        if fields.is_empty() {
            return self.page.to_owned();
        }
        format!("{}?{}", self.page, fields.join("&"))
    }

    pub(super) fn repository_field(&self) -> Markup {
        html! {
            @if let Some(path) = self.repository { input type="hidden" name="repository" value=(path); }
        }
    }
}

/// Returns the beginning of a commit id; anything else as it is.
pub(super) fn short(commit: &str) -> &str {
    commit
        .get(..12)
        .filter(|_| {
            commit.len() >= 40 && commit.bytes().take(40).all(|byte| byte.is_ascii_hexdigit())
        })
        .unwrap_or(commit)
}

//! Around a diff under review: what is shown (rounds, commits, layout), and the bar that sends the review.

use maud::{Markup, html};
use shared::model::review::MAX_FEEDBACK_CHARS;

use super::reviewing::{Reviewing, short};
use crate::pages::forms::csrf;
use crate::pages::icons::icon;
use crate::pages::labels::counted;
use crate::view::{DiffLayout, DiffQuery};

/// Chooses what is shown, and says what is not.
pub(super) fn choices(reviewing: &Reviewing<'_>) -> Markup {
    let view = reviewing.view;
    let shown = &view.shown;
    let with = |since: Option<String>, commit: Option<String>, uncommitted: bool| {
        reviewing.link(&DiffQuery {
            repository: None,
            since,
            commit,
            uncommitted,
            view: shown.view,
        })
    };
    let laid_out = |view: DiffLayout| {
        reviewing.link(&DiffQuery {
            view,
            repository: None,
            ..shown.clone()
        })
    };
    let is_all = shown.since.is_none() && shown.commit.is_none() && !shown.uncommitted;
    let last = view.last_round();
    html! {
        div.review-choices {
            div.segments role="group" aria-label="What is shown" {
                a href=(with(None, None, false)) aria-current=[is_all.then_some("true")] { "All changes" }
                @if let Some(round) = last {
                    @let key = round.key();
                    a href=(with(Some(key.clone()), None, false)) aria-current=[(shown.since.as_ref() == Some(&key)).then_some("true")] {
                        "Since " @if round.reviewer.is_none() { "your " } "round " (round.round)
                    }
                }
                @if view.uncommitted > 0 {
                    a href=(with(None, None, true)) aria-current=[shown.uncommitted.then_some("true")] { "With uncommitted" }
                }
            }
            @if !view.commits.is_empty() {
                details.pop #commits {
                    summary.btn { (icon("diff")) (counted(view.commits.len() as u64, "commit", "commits")) }
                    ol.commits {
                        @for commit in &view.commits {
                            li {
                                a href=(with(None, Some(commit.id.clone()), false)) aria-current=[(shown.commit.as_ref() == Some(&commit.id)).then_some("true")] {
                                    span.mono { (short(&commit.id)) } " " (commit.subject)
                                }
                            }
                        }
                    }
                }
            }
            div.segments role="group" aria-label="Layout" {
                a href=(laid_out(DiffLayout::Unified)) aria-current=[(shown.view == DiffLayout::Unified).then_some("true")] { "Unified" }
                a href=(laid_out(DiffLayout::Split)) aria-current=[(shown.view == DiffLayout::Split).then_some("true")] { "Side by side" }
            }
            @if view.uncommitted > 0 {
                span.muted #uncommitted {
                    (counted(view.uncommitted, "file is not committed", "files are not committed"))
                }
            }
            @if let Some(published) = &view.published {
                span.muted #unpublished { "The pull request is still at " span.mono { (short(published)) } ": " span.mono { (short(&view.commit)) } " is not published yet" }
            }
        }
    }
}

/// The bar that sends all comments and an optional text as one round.
pub(super) fn bar(reviewing: &Reviewing<'_>) -> Markup {
    let (view, frame) = (reviewing.view, reviewing.frame);
    if frame.read_only {
        return html! {};
    }
    if !view.can_request_changes && !view.can_approve {
        return html! {
            @if let Some(why) = &view.why_not { p.nothing #review-not { "It can't be reviewed now: " (why) "." } }
        };
    }
    let pending = u64::from(view.pending);
    html! {
        form #review .review-bar method="post" action={ (reviewing.api) "/request-changes" } {
            (csrf(frame))
            (reviewing.repository_field())
            label.sr for="review-text" { "What is to be changed" }
            textarea #review-text name="text" rows="1" maxlength=(MAX_FEEDBACK_CHARS) placeholder=(if view.pending > 0 { "Say more, if you like…" } else { "What is to be changed…" }) {}
            span.muted.small #review-about {
                "on " span.mono { (short(&view.commit)) }
                @if pending > 0 { ", with " (counted(pending, "comment", "comments")) }
            }
            @if view.can_request_changes {
                button.btn type="submit" {
                    (icon("review")) "Request changes" @if pending > 0 { " (" (pending) ")" }
                }
            }
            @if view.can_approve {
                button.btn.primary type="submit" name="commit" value=(view.commit) formaction={ (reviewing.api) "/approve" } { (icon("check")) "Approve" }
            }
        }
    }
}

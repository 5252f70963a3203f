//! The pages of pull requests: the list, and one with its diff.

use maud::{Markup, html};
use shared::model::{MergeMethod, Mergeable, PullState};

use super::agent_record::review_rounds;
use super::board::{cost, pull_address};
use super::diff::{Reviewing, counts, shown_diff};
use super::forms::{Button, csrf, query, repository_choice};
use super::icons::icon;
use super::labels::{counted, pull_state};
use super::layout::Page;
use super::problem::problem_box;
use super::time::ago;
use crate::markdown::markdown;
use crate::view::{Frame, PullCard, PullView, PullsView, repository_name};

pub fn pulls(view: &PullsView, frame: &Frame) -> Markup {
    let state = view.filter.state.map(PullState::as_str);
    let kept: Vec<(&str, &str)> = state.map(|state| ("state", state)).into_iter().collect();
    let content = html! {
        div.head {
            div {
                h1 { "Pull requests" }
                p.lead {
                    @if let Some(repository) = &view.repository { (repository_name(repository)) " · " }
                    (view.forge)
                }
            }
            div.filters {
                (repository_choice(&view.repositories, view.repository.as_deref(), false, &kept))
                (states(view))
            }
        }
        @if let Some(problem) = &view.problem { (problem_box(problem)) }
        @if view.pulls.is_empty() {
            p.nothing { "There are none. Agents open them with " code { "create_pr" } " once their work is reviewed." }
        } @else {
            section.panel #list aria-label="List of pull requests" {
                table.list {
                    thead { tr { th { "Pull request" } th { "State" } th { "Branch" } th { "Agent" } th { "Changed" } } }
                    tbody { @for card in &view.pulls { (row(card)) } }
                }
            }
        }
    };
    Page::new("Pull requests", content).render(frame)
}

fn states(view: &PullsView) -> Markup {
    let repository = view.repository.as_deref().unwrap_or_default();
    let link = |state: Option<PullState>| match state {
        Some(state) => format!("/pulls?repository={}&state={state}", query(repository)),
        None => format!("/pulls?repository={}", query(repository)),
    };
    let choices = [
        (None, "All"),
        (Some(PullState::Open), "Open"),
        (Some(PullState::Merged), "Merged"),
        (Some(PullState::Closed), "Closed"),
    ];
    html! {
        div.segments role="group" aria-label="State" {
            @for (state, label) in choices {
                a href=(link(state)) aria-current=[(view.filter.state == state).then_some("true")] { (label) }
            }
        }
    }
}

fn row(card: &PullCard) -> Markup {
    let pull = &card.pull;
    html! {
        tr #{ "pull-" (pull.number) } data-card {
            td.main-cell data-label="Pull request" {
                a.row-link href=(pull_address(pull.number, &card.repository)) { span.muted.num { "#" (pull.number) } " " strong { (pull.title) } }
            }
            td data-label="State" { (pull_state(pull.state, pull.draft)) (standing(card)) }
            td.mono data-label="Branch" { (pull.head_branch) span.muted { " → " (pull.base_branch) } }
            td data-label="Agent" {
                @match &card.instance {
                    Some(agent) => a.mono href={ "/agents/" (agent) } { (agent) },
                    None => span.muted { "–" },
                }
            }
            td data-label="Changed" { (ago(pull.updated_at)) span.muted { " ago" } }
        }
    }
}

pub fn pull(view: &PullView, frame: &Frame) -> Markup {
    let pull = &view.card.pull;
    let address = format!("/pulls/{}", pull.number);
    let api = format!("/api/pulls/{}", pull.number);
    let reviewing = view.review.as_ref().map(|review| Reviewing {
        view: review,
        page: &address,
        api: &api,
        repository: Some(&view.card.repository),
        frame,
    });
    let content = html! {
        nav.crumbs aria-label="Where you are" {
            a href={ "/pulls?repository=" (query(&view.card.repository)) } { "Pull requests" } span { "#" (pull.number) }
        }
        div.head {
            div {
                h1 { (pull.title) " " span.muted { "#" (pull.number) } }
                p.card-line {
                    (pull_state(pull.state, pull.draft))
                    span.mono { (pull.head_branch) } (icon("arrow")) span.mono { (pull.base_branch) }
                    (counts(view.diff.additions, view.diff.deletions))
                    @if let Some(agent) = &view.card.instance {
                        span { "by " a.mono href={ "/agents/" (agent) } { (agent) } }
                    }
                    @if let Some(usage) = &view.card.usage { (cost(usage)) }
                    span.muted { "opened " (ago(pull.created_at)) " ago" }
                    @if let Some(at) = pull.merged_at { span.muted { "merged " (ago(at)) " ago" } }
                    @if !view.card.local { (elsewhere(&pull.url)) }
                }
                (standing(&view.card))
                @if conflicts(view) && let Some(hint) = &view.resolve_hint { p.muted data-resolve { (hint) } }
            }
            (decide(view, frame))
        }
        @if !pull.body.trim().is_empty() {
            section.panel aria-label="Description" { (markdown(pull.body.trim())) }
        }
        @if let Some(review) = &view.review && !review.rounds.is_empty() {
            details.earlier #earlier {
                summary { (counted(review.rounds.len() as u64, "review round", "review rounds")) }
                (review_rounds(&review.rounds))
            }
        }
        (shown_diff(&view.diff, reviewing.as_ref()))
    };
    let mut page = Page::new(format!("#{} {}", pull.number, pull.title), content);
    page.review = reviewing.is_some();
    page.class = "wide";
    page.render(frame)
}

/// How an open pull request stands, in words.
fn standing(card: &PullCard) -> Markup {
    let phrases = card
        .standing
        .as_ref()
        .map(|standing| standing.phrases(&card.pull.base_branch))
        .unwrap_or_default();
    html! {
        @if !phrases.is_empty() { p.muted data-standing { (phrases.join(" · ")) } }
    }
}

/// A link to GitHub, only for web addresses.
fn elsewhere(url: &str) -> Markup {
    html! {
        @if url.starts_with("https://") || url.starts_with("http://") {
            a href=(url) rel="noopener noreferrer" { (icon("link")) "on the forge" }
        }
    }
}

fn conflicts(view: &PullView) -> bool {
    let standing = view.card.standing.as_ref();
    standing.is_some_and(|standing| {
        standing.mergeable == Mergeable::Conflicting && standing.obstacle.is_none()
    })
}

fn decide(view: &PullView, frame: &Frame) -> Markup {
    let pull = &view.card.pull;
    let address = |verb: &str| format!("/api/pulls/{}/{verb}", pull.number);
    if pull.state == PullState::Closed && !frame.read_only {
        let reopen = address("reopen");
        return html! {
            div.actions {
                (Button {
                    id: "action-reopen",
                    address: &reopen,
                    label: "Reopen",
                    icon: "resume",
                    class: "",
                    confirm: None,
                    fields: &[("repository", view.card.repository.as_str())],
                }.live(frame))
            }
        };
    }
    if !view.can_change || frame.read_only || pull.state != PullState::Open {
        return html! {};
    }
    let (close, update, resolve) = (address("close"), address("update"), address("resolve"));
    let standing = view.card.standing.as_ref();
    let is_outdated = standing.is_some_and(|standing| standing.new_commits > 0);
    let repository = [("repository", view.card.repository.as_str())];
    html! {
        div.actions {
            form.inline #action-merge method="post" action=(address("merge")) data-confirm={ "Merge #" (pull.number) " into " (pull.base_branch) "?" } {
                (csrf(frame))
                input type="hidden" name="repository" value=(view.card.repository);
                input type="hidden" name="commit" value=(pull.head_commit);
                label.sr for="method" { "How" }
                select #method name="method" {
                    @for method in &view.methods { option value=(method) { (method_word(*method)) } }
                }
                button.btn.primary type="submit" { (icon("check")) "Merge" }
            }
            @if is_outdated {
                (Button {
                    id: "action-update",
                    address: &update,
                    label: "Take in new commits",
                    icon: "pull",
                    class: "",
                    confirm: None,
                    fields: &repository,
                }.live(frame))
            }
            @if conflicts(view) && view.resolve_hint.is_none() {
                (Button {
                    id: "action-resolve",
                    address: &resolve,
                    label: "Let its agent resolve the conflict",
                    icon: "resume",
                    class: "",
                    confirm: None,
                    fields: &repository,
                }.live(frame))
            }
            (Button {
                id: "action-close",
                address: &close,
                label: "Close",
                icon: "cross",
                class: "danger",
                confirm: Some("Close this pull request without merging it?"),
                fields: &repository,
            }.live(frame))
        }
    }
}

const fn method_word(method: MergeMethod) -> &'static str {
    match method {
        MergeMethod::Merge => "Merge commit",
        MergeMethod::Squash => "Squash",
        MergeMethod::Rebase => "Rebase",
    }
}

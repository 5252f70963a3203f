//! The board: every agent in the column of what it needs.

use maud::{Markup, html};
use shared::model::InstanceKind;

use super::forms::{query, repository_choice};
use super::icons::icon;
use super::layout::Page;
use super::time::ago;
use super::words::{activity, counted, kind, kind_word, status};
use crate::view::{BoardView, Card, Column, ColumnKey, Frame, IgnoredSettings, repository_name};

pub fn board(view: &BoardView, frame: &Frame) -> Markup {
    let content = html! {
        div.head {
            div {
                h1 { "Board" }
                p.lead { (summary(view)) }
            }
            (filters(view))
        }
        @for ignored in &view.ignored { (ignored_settings(ignored)) }
        div.board {
            @for column in &view.columns {
                (shown_column(column, view))
            }
        }
    };
    let mut page = Page::new("Board", content);
    page.class = "wide";
    page.render(frame)
}

/// Says what of a repository's own settings is ignored, in the words of the command line.
pub(super) fn ignored_settings(ignored: &IgnoredSettings) -> Markup {
    html! {
        p.ignored role="note" {
            (icon("hand"))
            span { strong title=(ignored.repository) { (repository_name(&ignored.repository)) } ": " (ignored.notice) }
        }
    }
}

fn summary(view: &BoardView) -> String {
    let counts = view.counts;
    let at_work = counted(
        (counts.working + counts.in_review).into(),
        "agent at work",
        "agents at work",
    );
    match counts.waiting {
        0 => format!("{at_work}, none waits for you"),
        1 => format!("{at_work}, 1 waits for you"),
        many => format!("{at_work}, {many} wait for you"),
    }
}

fn filters(view: &BoardView) -> Markup {
    let repository = view.filter.repository.as_deref();
    let link = |kind: Option<InstanceKind>| {
        let mut parts = Vec::new();
        if let Some(repository) = repository {
            parts.push(format!("repository={}", query(repository)));
        }
        if let Some(kind) = kind {
            parts.push(format!("kind={kind}"));
        }
        if parts.is_empty() {
            "/".to_owned()
        } else {
            format!("/?{}", parts.join("&"))
        }
    };
    let kinds = [
        (None, "All"),
        (Some(InstanceKind::Coding), "Coders"),
        (Some(InstanceKind::Review), "Reviewers"),
        (Some(InstanceKind::Planning), "Planners"),
    ];
    let kind = view.filter.kind.map(InstanceKind::as_str);
    let kept: Vec<(&str, &str)> = kind.map(|kind| ("kind", kind)).into_iter().collect();
    html! {
        div.filters {
            input #find .script-only type="search" placeholder="Filter  /" aria-label="Filter what is shown" autocomplete="off" hidden;
            (repository_choice(&view.repositories, repository, true, &kept))
            div.segments role="group" aria-label="Kind" {
                @for (kind, label) in kinds {
                    a href=(link(kind)) aria-current=[(view.filter.kind == kind).then_some("true")] { (label) }
                }
            }
        }
    }
}

fn shown_column(column: &Column, view: &BoardView) -> Markup {
    let key = column.key.as_str();
    let waits = column.key == ColumnKey::Waiting && !column.cards.is_empty();
    html! {
        section.column .(key) .alarm[waits] #{ "column-" (key) } aria-labelledby={ "title-" (key) } {
            h2 #{ "title-" (key) } {
                @if waits { (icon("hand")) }
                (column.title)
                span.count { (view.counts.of(column.key)) }
            }
            @if column.cards.is_empty() {
                p.empty { (nothing(column.key)) }
            }
            ul.cards {
                @for card in &column.cards {
                    (shown_card(card, column.key, view.repositories.len() > 1))
                }
            }
            @if column.more > 0 {
                p.empty { "and " (column.more) " more" }
            }
        }
    }
}

const fn nothing(key: ColumnKey) -> &'static str {
    match key {
        ColumnKey::Waiting => "Nobody waits for you.",
        ColumnKey::Working => "Nobody is at work.",
        ColumnKey::Review => "Nothing is in review.",
        ColumnKey::Published => "No open pull request.",
        ColumnKey::Ended => "Nothing has ended yet.",
    }
}

fn shown_card(card: &Card, column: ColumnKey, several: bool) -> Markup {
    let title = match &card.task {
        // Whom it reviews stands below, as a link.
        _ if card.kind == InstanceKind::Review => "Review",
        Some(task) => task.title.as_str(),
        None if card.title.is_empty() => kind_word(card.kind),
        None => card.title.as_str(),
    };
    html! {
        li.card #{ "card-" (card.id) } data-card data-agent=(card.id) {
            div.card-head {
                (kind(card.kind))
                p.card-title { (title) }
                span.since { (ago(&card.status_since)) }
            }
            a.card-link href={ "/agents/" (card.id) } { (card.id) }
            @if let Some(need) = &card.need {
                p.need { (icon("alert")) span title=(need) { (need) } }
            }
            p.card-line {
                (status(card.status))
                @if let Some(round) = card.round {
                    (rounds(round.used, round.most))
                }
                (activity(&card.activity))
                @if card.owed > 0 {
                    span.owed title="messages that it has not taken yet" { (icon("message")) (card.owed) }
                }
            }
            (places(card, column, several))
            (relations(card))
            @if let Some(event) = &card.last_event {
                p.card-foot.failed[event.failed] {
                    span.mono.cut { (event.name) @if event.failed { " failed" } }
                    (ago(&event.at)) span.muted { "ago" }
                }
            }
        }
    }
}

/// Where it works; who has ended works nowhere.
fn places(card: &Card, column: ColumnKey, several: bool) -> Markup {
    let branch = card.branch.as_deref();
    if column == ColumnKey::Ended || (branch.is_none() && !several) {
        return html! {};
    }
    html! {
        p.card-line.place {
            @if several {
                span.chip { (icon("folder")) (repository_name(&card.repository)) }
            }
            @if let Some(branch) = branch {
                span.chip.mono title=(branch) { (icon("branch")) span.cut { (branch) } }
            }
        }
    }
}

fn relations(card: &Card) -> Markup {
    if card.parent.is_none()
        && card.reviewer.is_none()
        && card.pr_number.is_none()
        && card.issue_number.is_none()
    {
        return html! {};
    }
    html! {
        p.card-line.relations {
            @if let Some(parent) = &card.parent {
                span { "of " a href={ "/agents/" (parent) } { (parent) } }
            }
            @if let Some(reviewer) = &card.reviewer {
                span { "reviewer " a href={ "/agents/" (reviewer) } { (reviewer) } }
            }
            @if let Some(number) = card.issue_number {
                span { "issue #" (number) }
            }
            @if let Some(number) = card.pr_number {
                a.chip href=(pull_address(number, &card.repository)) { (icon("pull")) "#" (number) }
            }
        }
    }
}

/// Where a pull request is shown.
pub(super) fn pull_address(number: u64, repository: &str) -> String {
    format!("/pulls/{number}?repository={}", query(repository))
}

/// Review rounds as dots: used ones are full.
pub(super) fn rounds(used: u32, most: u32) -> Markup {
    let said = if most == 0 {
        format!("round {used}")
    } else {
        format!("round {used} of {most}")
    };
    html! {
        span.rounds title=(said) {
            // More would be a row of dots that nobody counts.
            @if (1..=6).contains(&most) {
                span.dots aria-hidden="true" {
                    @for number in 1..=most {
                        i.full[number <= used] {}
                    }
                }
            }
            span { (said) }
        }
    }
}

//! The board page: agents as cards, in columns by what they need.

use maud::{Markup, html};
use shared::model::{InstanceKind, Usage, Verdict};
use shared::workflow::Activity;

use super::diff::counts;
use super::forms::{csrf, query, repository_choice};
use super::icons::icon;
use super::labels::{counted, did_word, kind, kind_word, status_tone, status_word};
use super::layout::Page;
use super::time::ago;
use crate::view::{
    ApprovalOf, BoardFilter, BoardView, Card, Column, ColumnKey, Frame, IgnoredSettings,
    repository_name,
};

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
        @if has_nothing(view) {
            (first_steps(frame))
        } @else {
            div.board {
                @for column in &view.columns {
                    (shown_column(column, view.repositories.len() > 1, frame))
                }
            }
        }
    };
    let mut page = Page::new("Board", content);
    page.class = "wide";
    page.render(frame)
}

/// Whether no agent was ever launched; a filter that matches none is something else.
fn has_nothing(view: &BoardView) -> bool {
    view.filter == BoardFilter::default()
        && view
            .columns
            .iter()
            .all(|column| column.cards.is_empty() && column.more == 0)
}

/// What to do first, on a board without agents.
fn first_steps(frame: &Frame) -> Markup {
    let steps = [
        (
            "Launch a coder",
            "claude-codex code \"Fix the login page\"",
            "It works in its own worktree and asks a reviewer when it is done.",
        ),
        (
            "Or plan first",
            "claude-codex plan \"Add a search page\"",
            "A planner reads the repository and stores the work as tasks.",
        ),
        (
            "Or watch a demo",
            "claude-codex demo",
            "A whole round from task to merge with scripted agents: no account, no tokens.",
        ),
    ];
    html! {
        section.welcome.panel #first-steps aria-labelledby="first-steps-title" {
            h2 #first-steps-title { "No agents yet" }
            p.muted { "They appear here as soon as you launch one, grouped by what they need from you." }
            ol {
                @for (title, command, what) in steps {
                    li { strong { (title) } code { (command) } span.muted { (what) } }
                }
            }
            @if !frame.read_only {
                a.btn.primary href="/launch" { (icon("plus")) "Launch an agent" }
            }
        }
    }
}

/// The notice about ignored settings of a repository, as on the command line.
pub(super) fn ignored_settings(ignored: &IgnoredSettings) -> Markup {
    html! {
        p.ignored role="note" {
            (icon("hand"))
            span { strong title=(ignored.repository) { (repository_name(&ignored.repository)) } ": " (ignored.notice) }
        }
    }
}

fn summary(view: &BoardView) -> String {
    let shown = |key: ColumnKey| {
        let column = view.columns.iter().find(|column| column.key == key);
        column.map_or(0, |column| column.cards.len() as u64)
    };
    let at_work = counted(
        shown(ColumnKey::Working) + shown(ColumnKey::Review),
        "agent at work",
        "agents at work",
    );
    match shown(ColumnKey::Waiting) {
        0 => format!("{at_work}, none waiting for you"),
        waiting => format!("{at_work}, {waiting} waiting for you"),
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

fn shown_column(column: &Column, several: bool, frame: &Frame) -> Markup {
    let key = column.key.as_str();
    let waits = column.key == ColumnKey::Waiting && !column.cards.is_empty();
    html! {
        section.column .(key) .alarm[waits] #{ "column-" (key) } aria-labelledby={ "title-" (key) } {
            h2 #{ "title-" (key) } {
                @if waits { (icon("hand")) }
                (column.title)
                span.count { (column.cards.len() + column.more as usize) }
            }
            @if column.cards.is_empty() {
                p.empty { (nothing(column.key)) }
            }
            ul.cards {
                @for card in &column.cards {
                    (shown_card(card, several, frame))
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
        ColumnKey::Waiting => "No agent is waiting for you.",
        ColumnKey::Working => "No agent is working.",
        ColumnKey::Review => "Nothing is in review.",
        ColumnKey::Published => "No pull request is open.",
        ColumnKey::Ended => "No agent has ended yet.",
    }
}

fn shown_card(card: &Card, several: bool, frame: &Frame) -> Markup {
    let title = match (&card.parent, &card.task) {
        (Some(coder), _) if card.kind == InstanceKind::Review => format!("Review of {coder}"),
        (_, Some(task)) => task.title.clone(),
        _ if card.title.is_empty() => kind_word(card.kind).to_owned(),
        _ => card.title.clone(),
    };
    html! {
        li.card #{ "card-" (card.id) } data-card data-agent=(card.id) {
            div.card-head {
                (kind(card.kind))
                p.card-title title=(title) { (title) }
            }
            @if let Some(need) = &card.need {
                p.need { (icon("alert")) span title=(need) { (need) } }
            } @else {
                p.card-now {
                    span.pill .(status_tone(card.status)) { (status_word(card.status)) }
                    @if let Some((tone, words)) = doing(card) {
                        span.cut .activity.(tone) title=(words) { (words) }
                    }
                }
            }
            (dialog(card, true, frame))
            div.card-foot {
                a.card-link.cut href={ "/agents/" (card.id) } title=[card.branch.as_deref().map(|branch| format!("branch {branch}"))] { (card.id) }
                span.since { (ago(card.status_since)) }
            }
            div.card-foot.marks { (marks(card, several)) }
        }
    }
}

/// The dialog of an agent: what it asks, and a button for each answer. `stay`: an answer leads back to the board.
pub(super) fn dialog(card: &Card, stay: bool, frame: &Frame) -> Markup {
    let Some(dialog) = &card.dialog else {
        return html! {};
    };
    html! {
        form.dialog #{ "dialog-" (card.id) } method=[(!frame.read_only).then_some("post")] action={ "/api/instances/" (card.id) "/answer" } {
            @if !dialog.detail.is_empty() {
                pre.dialog-about tabindex="0" { (dialog.detail.join("\n")) }
            }
            p { strong { (dialog.question) } }
            @if !frame.read_only {
                (csrf(frame))
                input type="hidden" name="dialog" value=(dialog.fingerprint);
                @if stay { input type="hidden" name="stay" value="true"; }
                div.dialog-choices {
                    @for choice in &dialog.choices {
                        button.btn.small type="submit" name="choice" value=(choice.number) title=(choice.label) { span.cut { (choice.label) } }
                    }
                }
            }
        }
    }
}

/// What an agent is doing, or did last, in words.
fn doing(card: &Card) -> Option<(&'static str, String)> {
    let did = card.last_event.as_ref();
    let last = did.and_then(|event| did_word(&event.name, event.failed));
    let with = |doing: &str| match last {
        Some(last) => format!("{doing}; {last}"),
        None => doing.to_owned(),
    };
    match &card.activity {
        Activity::Busy => Some(("busy", with("busy"))),
        Activity::Idle => Some(("idle", with("idle"))),
        Activity::WaitingForPerson { on } => Some(("asks", format!("asks: {on}"))),
        Activity::Gone => Some(("gone", "its process is gone".to_owned())),
        Activity::TerminalUnreachable => Some(("gone", "its terminal can't be reached".to_owned())),
        // What somebody did to it last says no more than its status.
        Activity::Ended => None,
        Activity::Unknown => last.map(|last| ("idle", last.to_owned())),
    }
}

/// The small marks in the last line of a card; each is left out where it says nothing.
fn marks(card: &Card, several: bool) -> Markup {
    html! {
        @if several {
            span.chip.cut title=(card.repository) { (icon("folder")) span.cut { (repository_name(&card.repository)) } }
        }
        @if let Some(reviewer) = &card.reviewer {
            a.chip href={ "/agents/" (reviewer) } title={ "reviewed by " (reviewer) } { (icon("review")) span.sr { "Reviewer " (reviewer) } }
        }
        @if let Some(round) = card.round { (rounds(round.used, round.most)) }
        @match card.verdict {
            Some(Verdict::Approved) => (approved(card.approval)),
            Some(Verdict::ChangesRequested) => span.mark-sent-back title="The last review requested changes" { "changes requested" },
            Some(Verdict::Pending | Verdict::Lost) | None => {},
        }
        @if let Some(size) = &card.size && size.additions + size.deletions > 0 {
            a.size href={ "/agents/" (card.id) "/diff" } title="lines that its commits change" { (counts(size.additions, size.deletions)) }
        }
        @if let Some(usage) = &card.usage { (cost(usage)) }
        @if card.owed > 0 {
            span.owed title="messages not taken yet" { (icon("message")) (card.owed) }
        }
        @if let Some(number) = card.issue_number {
            span.chip title="issue" { "issue #" (number) }
        }
        @if let Some(number) = card.pr_number {
            a.chip href=(pull_address(number, &card.repository)) title="pull request" { (icon("pull")) "#" (number) }
        }
    }
}

fn approved(of: Option<ApprovalOf>) -> Markup {
    match of {
        None => html! {
            span.mark-good title="The last review approved it" { (icon("check")) "approved" }
        },
        Some(ApprovalOf::ThisCommit) => html! {
            span.mark-good title="The last review approved this commit" { (icon("check")) "approved" }
        },
        Some(ApprovalOf::OlderCommit) => html! {
            span.muted.mark-older title="The last review approved an older commit" { "older commit approved" }
        },
    }
}

/// Returns the address of a pull request's page.
pub(super) fn pull_address(number: u64, repository: &str) -> String {
    format!("/pulls/{number}?repository={}", query(repository))
}

/// What was used, in a word; the tokens in its title.
pub(super) fn cost(usage: &Usage) -> Markup {
    html! {
        span.cost.muted title={ "Estimated cost: " (usage.tokens_in_words()) } { (usage.in_short()) }
    }
}

/// Review rounds as dots; used ones are filled.
pub(super) fn rounds(used: u32, most: u32) -> Markup {
    let said = if most == 0 {
        format!("round {used}")
    } else {
        format!("round {used} of {most}")
    };
    html! {
        span.rounds title=(said) {
            // More dots than one can count at a glance are not drawn.
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

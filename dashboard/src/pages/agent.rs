//! The page of one agent: terminal, actions, messages, reviews, timeline; and its diff.

use maud::{Markup, html};
use shared::model::Usage;
use shared::model::pull_request::MAX_TITLE_CHARS;
use shared::workflow::MAX_MESSAGE_CHARS;

use super::activity::activity as activity_list;
use super::agent_record::{messages, review_rounds, timeline};
use super::board::{dialog, ignored_settings, pull_address, rounds};
use super::diff::{Reviewing, shown_diff};
use super::forms::{Button, csrf};
use super::icons::icon;
use super::labels::{activity, kind_icon, kind_word, status};
use super::layout::Page;
use super::terminal::terminal_box;
use super::time::ago;
use crate::view::{ActionKey, AgentDiffView, AgentView, Card, DiscardView, Frame, repository_name};

/// The question before an agent's work is deleted: it names what is lost.
pub fn discard(view: &DiscardView, frame: &Frame) -> Markup {
    let page = format!("/agents/{}", view.card.id);
    let content = html! {
        (heading(&view.card, Tab::Overview))
        section.panel #discard aria-labelledby="discard-title" {
            h2 #discard-title { "Discard its work?" }
            p { "This deletes " (view.lost) "." }
            @if view.is_lost {
                p.need { (icon("alert")) span { (view.work) ": nobody can bring that back." } }
            }
            div.row {
                @if !frame.read_only {
                    form.inline method="post" action={ "/api/instances/" (view.card.id) "/discard" } {
                        (csrf(frame))
                        input type="hidden" name="lost" value=(view.lost);
                        button.btn.danger type="submit" { (icon("cross")) "Discard it" }
                    }
                }
                a.btn href=(page) { "Keep it" }
            }
        }
    };
    Page::new(format!("Discard {}", view.card.id), content).render(frame)
}

/// The tabs of an agent's page; each has an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tab {
    Overview,
    Changes,
}

pub fn agent(view: &AgentView, frame: &Frame) -> Markup {
    let content = html! {
        (heading(&view.card, Tab::Overview))
        (need(&view.card))
        (dialog(&view.card, false, frame))
        @if let Some(ignored) = &view.ignored { (ignored_settings(ignored)) }
        (actions(view, frame))
        div #agent .agent {
            (terminal_box(view.card.id.as_str(), &view.control, frame))
            div #side .agent-side {
                (message_form(view, frame))
                (facts(view))
                (messages(&view.messages, view.card.id.as_str()))
            }
            div #record .agent-record {
                (last_screen(view))
                (review_rounds(&view.rounds))
                (activity_list(&view.activity, view.card.id.as_str()))
                (timeline(&view.timeline, view.card.id.as_str()))
                (prompt(view))
            }
        }
    };
    let mut page = Page::new(view.card.id.as_str(), content);
    page.terminal = true;
    page.class = "wide";
    page.render(frame)
}

pub fn agent_diff(view: &AgentDiffView, frame: &Frame) -> Markup {
    let address = format!("/agents/{}/diff", view.card.id);
    let api = format!("/api/instances/{}", view.card.id);
    let reviewing = view.review.as_ref().map(|review| Reviewing {
        view: review,
        page: &address,
        api: &api,
        repository: None,
        frame,
    });
    let content = html! {
        (heading(&view.card, Tab::Changes))
        (need(&view.card))
        (shown_diff(&view.diff, reviewing.as_ref()))
    };
    let mut page = Page::new(format!("Changes of {}", view.card.id), content);
    page.review = reviewing.is_some();
    page.class = "wide";
    page.render(frame)
}

fn heading(card: &Card, tab: Tab) -> Markup {
    let address = format!("/agents/{}", card.id);
    let title = card
        .task
        .as_ref()
        .map_or(card.title.as_str(), |task| task.title.as_str());
    html! {
        nav.crumbs aria-label="Where you are" { a href="/" { "Board" } span { (card.id) } }
        div.head {
            div {
                h1.agent-title {
                    span.kind-large .(card.column.as_str()) { (icon(kind_icon(card.kind))) }
                    span.mono { (card.id) }
                    (status(card.status))
                }
                p.lead { (kind_word(card.kind)) " · " (title) }
                p.card-line {
                    (activity(&card.activity))
                    span.muted { "for " (ago(card.status_since)) }
                    @if let Some(round) = card.round { (rounds(round.used, round.most)) }
                    @if let Some(parent) = &card.parent {
                        span { "reviews " a href={ "/agents/" (parent) } { (parent) } }
                    }
                    @if let Some(reviewer) = &card.reviewer {
                        span { "reviewed by " a href={ "/agents/" (reviewer) } { (reviewer) } }
                    }
                    @if let Some(number) = card.pr_number {
                        a.chip href=(pull_address(number, &card.repository)) { (icon("pull")) "pull request #" (number) }
                    }
                }
            }
            nav.segments aria-label="Parts" {
                a href=(address) aria-current=[(tab == Tab::Overview).then_some("page")] { (icon("terminal")) "Overview" }
                a href={ (address) "/diff" } aria-current=[(tab == Tab::Changes).then_some("page")] { (icon("diff")) "Changes" }
            }
        }
    }
}

fn need(card: &Card) -> Markup {
    html! {
        @if let Some(need) = &card.need {
            p #need .need.need-large role="alert" { (icon("hand")) span { strong { "Waiting for you. " } (need) } }
        }
    }
}

fn actions(view: &AgentView, frame: &Frame) -> Markup {
    let address = |verb: &str| format!("/api/instances/{}/{verb}", view.card.id);
    let (review, stop, resume) = (address("review"), address("stop"), address("resume"));
    let button = |id, address, label, icon| Button {
        id,
        address,
        label,
        icon,
        class: "",
        confirm: None,
        fields: &[],
    };
    html! {
        div #actions .actions {
            (button("action-review", &review, "Request review", "review").shown(frame, view.action(ActionKey::Review)))
            (publish(view, frame))
            (button("action-resume", &resume, "Resume", "resume").shown(frame, view.action(ActionKey::Resume).filter(|action| action.allowed)))
            (Button {
                class: "danger",
                confirm: Some("Stop this agent? Its session ends; work that exists nowhere else is kept."),
                ..button("action-stop", &stop, "Stop", "stop")
            }.shown(frame, view.action(ActionKey::Stop)))
            // A page of its own asks: what is lost is looked up when somebody wants to know.
            @if !frame.read_only && view.action(ActionKey::Discard).is_some_and(|action| action.allowed) {
                a #action-discard .btn.danger href={ "/agents/" (view.card.id) "/discard" } { (icon("cross")) "Discard…" }
            }
            @if let Some(command) = &view.attach_command {
                div.attach #attach-command {
                    code #attach { (command) }
                    button.quiet.script-only type="button" data-copy="attach" title="Copy the command that attaches a terminal" hidden { (icon("copy")) span.sr { "Copy" } }
                }
            }
        }
    }
}

fn publish(view: &AgentView, frame: &Frame) -> Markup {
    let Some(action) = view.action(ActionKey::Pull) else {
        return html! {};
    };
    if !action.allowed || frame.read_only {
        let why = action
            .why_not
            .as_deref()
            .unwrap_or("this dashboard is read-only");
        return html! {
            button.btn #publish type="button" disabled title=(why) { (icon("pull")) "Open pull request" }
        };
    }
    let title = view
        .card
        .task
        .as_ref()
        .map_or(view.card.title.as_str(), |task| task.title.as_str());
    html! {
        details.pop #publish {
            summary.btn { (icon("pull")) "Open pull request" }
            form.stack method="post" action={ "/api/instances/" (view.card.id) "/pull" } {
                (csrf(frame))
                label { "Title" input type="text" name="title" required maxlength=(MAX_TITLE_CHARS) value=(title); }
                label { "Description" textarea name="description" rows="4" required {} }
                label.check { input type="checkbox" name="draft" value="true"; "Draft" }
                button.btn.primary type="submit" { "Open it" }
            }
        }
    }
}

fn facts(view: &AgentView) -> Markup {
    let card = &view.card;
    html! {
        section.panel #facts aria-label="Facts" {
            dl.facts {
                div { dt { "Repository" } dd title=(card.repository) { (repository_name(&card.repository)) } }
                @if let Some(branch) = &card.branch {
                    div { dt { "Branch" } dd.mono { (branch) span.muted { " from " (view.base_branch) } } }
                }
                @if let Some(task) = &card.task {
                    div { dt { "Task" } dd { a href={ "/tasks#task-" (task.id) } { (task.title) } } }
                }
                @if let Some(number) = card.issue_number {
                    div { dt { "Issue" } dd { "#" (number) } }
                }
                div { dt { "Worktree" } dd.mono.path { (view.worktree) @if !view.has_worktree { span.muted { " (gone)" } } } }
                @if let Some(usage) = &card.usage { (used(usage)) }
                div { dt { "Launched" } dd { (ago(card.created_at)) " ago" } }
                @if let Some(note) = &view.note {
                    div.note { dt { "Note" } dd { (note) } }
                }
            }
        }
    }
}

/// The last screen of an agent that has ended, and how its program ended.
fn last_screen(view: &AgentView) -> Markup {
    let ending = view.ending.as_ref();
    let Some(ending) = ending.filter(|ending| !ending.screen.is_empty()) else {
        return html! {};
    };
    html! {
        section.panel #ending aria-labelledby="ending-title" {
            h2 #ending-title { (icon("terminal")) "Last screen" }
            p.muted.small { "The agent " (ending.in_words()) ", " (ago(ending.at)) " ago." }
            pre.text { (ending.screen) }
        }
    }
}

/// What it has used: models, tokens, context, cost.
fn used(usage: &Usage) -> Markup {
    html! {
        div { dt { "Model" } dd.mono { (usage.models.join(", ")) } }
        div { dt { "Tokens" } dd { (usage.tokens_in_words()) } }
        @if let Some(context) = usage.context {
            div { dt { "Context" } dd { (context.in_words()) } }
        }
        div #cost {
            dt { "Cost" }
            dd {
                @match usage.cost() {
                    Some(cost) => { (cost) span.muted { " (estimate)" } },
                    None => span.muted { "no price is known for " (usage.unpriced_models.join(", ")) },
                }
            }
        }
    }
}

fn message_form(view: &AgentView, frame: &Frame) -> Markup {
    let Some(action) = view.action(ActionKey::Message) else {
        return html! {};
    };
    if frame.read_only || !action.allowed {
        return html! {};
    }
    html! {
        section.panel #send aria-labelledby="send-title" {
            h2 #send-title { (icon("message")) "Send a message" }
            form.stack method="post" action={ "/api/instances/" (view.card.id) "/messages" } {
                (csrf(frame))
                label.sr for="message-text" { "Message" }
                textarea #message-text name="text" rows="2" required maxlength=(MAX_MESSAGE_CHARS) placeholder={ "Message to " (view.card.id) "…" } {}
                div.row {
                    span.muted.small { "Delivered as soon as the agent can take it." }
                    button.btn.primary type="submit" { "Send" }
                }
            }
        }
    }
}

fn prompt(view: &AgentView) -> Markup {
    if view.prompt.trim().is_empty() {
        return html! {};
    }
    html! {
        section.panel #prompt aria-labelledby="prompt-title" {
            h2 #prompt-title { "Prompt" }
            pre.text { (view.prompt.trim()) }
        }
    }
}

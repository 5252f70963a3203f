//! The events page, newest first, with filters.

use maud::{Markup, html};
use shared::model::InstanceId;

use super::agent_record::{changes, said};
use super::forms::query;
use super::icons::icon;
use super::labels::pill;
use super::layout::Page;
use super::time::{ago, duration};
use crate::view::{EventFilter, EventView, EventsView, Frame};

/// Suggested names; any other can be typed.
const NAMES: &[&str] = &[
    "request_review",
    "request_changes",
    "create_pr",
    "create_task",
    "analyze_repository",
    "code",
    "plan",
    "review",
    "stop",
    "resume",
    "send",
    "pr merge",
    "pr close",
];

pub fn events(view: &EventsView, frame: &Frame) -> Markup {
    let content = html! {
        div.head {
            div {
                h1 { "Events" }
                p.lead { "Tool calls, commands, hooks and system events, newest first" }
            }
            (filter_form(&view.filter))
        }
        @if view.events.is_empty() {
            p.nothing { "No events match." }
        } @else {
            section.panel #list aria-label="List of events" {
                table.list.events {
                    thead { tr { th { "When" } th { "What" } th { "Agent" } th { "Status" } th.num { "Took" } } }
                    tbody { @for event in &view.events { (row(event)) } }
                }
            }
        }
        nav.pages aria-label="More" {
            @if view.filter.before.is_some() {
                a.btn href={ "/events" (parameters(&view.filter, None)) } { "Newest" }
            }
            @if let Some(before) = view.next_before {
                a.btn rel="next" href={ "/events" (parameters(&view.filter, Some(before))) } { "Older" (icon("arrow")) }
            }
        }
    };
    Page::new("Events", content).render(frame)
}

fn filter_form(filter: &EventFilter) -> Markup {
    html! {
        form.filters method="get" action="/events" {
            label.sr for="event-agent" { "Agent" }
            input #event-agent type="search" name="instance" placeholder="Agent" value=[filter.instance.as_ref()] size="18";
            label.sr for="event-name" { "Name" }
            input #event-name type="search" name="name" list="event-names" placeholder="Name" value=[filter.name.as_ref()] size="16";
            datalist #event-names { @for name in NAMES { option value=(name) {} } }
            label.check { input type="checkbox" name="errors" value="true" checked[filter.errors]; "failures only" }
            button.btn type="submit" { (icon("search")) "Filter" }
        }
    }
}

fn parameters(filter: &EventFilter, before: Option<i64>) -> String {
    let mut parts = Vec::new();
    if let Some(instance) = &filter.instance {
        parts.push(format!("instance={}", query(instance.as_str())));
    }
    if let Some(name) = &filter.name {
        parts.push(format!("name={}", query(name)));
    }
    if filter.errors {
        parts.push("errors=true".to_owned());
    }
    if let Some(before) = before {
        parts.push(format!("before={before}"));
    }
    if parts.is_empty() {
        String::new()
    } else {
        format!("?{}", parts.join("&"))
    }
}

fn row(event: &EventView) -> Markup {
    let entry = &event.entry;
    html! {
        tr.failed[entry.error_code.is_some()] #{ "event-" (entry.id) } data-card {
            td data-label="When" { (ago(entry.at)) }
            td.main-cell data-label="What" {
                details #{ "details-" (entry.id) } {
                    summary {
                        span.mono { (entry.name) }
                        @if let Some(code) = &entry.error_code { " " (pill("danger", code)) }
                    }
                    (said(entry))
                }
            }
            td data-label="Agent" {
                @match &event.instance {
                    Some(agent) => a.mono href={ "/agents/" (agent) } { (agent) },
                    None => span.muted { "–" },
                }
            }
            td data-label="Status" {
                (changes(&entry.changes, event.instance.as_ref().map(InstanceId::as_str)))
                @if entry.changes.is_empty() { span.muted { "–" } }
            }
            td.num data-label="Took" { (duration(entry.duration_ms)) }
        }
    }
}

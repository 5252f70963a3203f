//! An agent's record: review rounds, messages and timeline.

use maud::{Markup, html};
use serde_json::Value;
use shared::model::{EventSource, MessageState, Severity, StatusChange};

use super::icons::icon;
use super::labels::{event_word, message_state, pill, status_word, verdict};
use super::time::{ago, duration};
use crate::markdown::markdown;
use crate::plot::shortened;
use crate::view::{FindingView, MessageView, RoundView, TimelineEntry};

pub(super) fn review_rounds(rounds: &[RoundView]) -> Markup {
    if rounds.is_empty() {
        return html! {};
    }
    html! {
        section.panel #reviews aria-labelledby="reviews-title" {
            h2 #reviews-title { (icon("review")) "Reviews" }
            ol.rounds-list {
                @for round in rounds.iter().rev() {
                    li {
                        p.card-line {
                            strong { "Round " (round.round) }
                            (verdict(round.verdict))
                            span.muted { (ago(round.decided_at.unwrap_or(round.requested_at))) " ago" }
                        }
                        p.small {
                            "by "
                            @if let Some(reviewer) = &round.reviewer {
                                a.mono href={ "/agents/" (reviewer) } { (reviewer) }
                            } @else { "a person" }
                            " on " span.mono { (round.commit.get(..10).unwrap_or(&round.commit)) }
                        }
                        @if !round.description.is_empty() {
                            div.asked { (markdown(&round.description)) }
                        }
                        @if let Some(feedback) = &round.feedback {
                            div.said { (markdown(feedback)) }
                        }
                        @if !round.findings.is_empty() {
                            ul.findings { @for found in &round.findings { (finding(found)) } }
                        }
                    }
                }
            }
        }
    }
}

fn finding(found: &FindingView) -> Markup {
    let tone = match found.severity {
        Severity::Blocking => "danger",
        Severity::Major => "waiting",
        Severity::Minor => "ended",
    };
    html! {
        li {
            (pill(tone, found.severity.as_str()))
            span.mono.path { (found.file) @if let Some(line) = found.line { ":" (line) } }
            (markdown(&found.message))
        }
    }
}

pub(super) fn messages(messages: &[MessageView], id: &str) -> Markup {
    if messages.is_empty() {
        return html! {};
    }
    html! {
        section.panel #messages aria-labelledby="messages-title" {
            h2 #messages-title { (icon("message")) "Messages" }
            ul.messages {
                @for message in messages.iter().rev() {
                    li #{ "message-" (message.id) } {
                        p.card-line {
                            (message_state(message.state))
                            span { "from " strong { (message.from) } }
                            span.muted { (ago(message.taken_at.unwrap_or(message.at))) " ago" }
                        }
                        p.small.clamp { (message.excerpt) }
                        @if let Some(by) = message.taken_by {
                            p.muted.small { "seen by " (by.as_str().replace('_', " ")) }
                        }
                        @if let Some(reason) = message.waiting_for {
                            p.waits.small { "waiting for " (reason.phrase()) }
                        }
                        @if message.state == MessageState::Unconfirmed {
                            p.waits.small {
                                "typed, but there is no proof that the agent has it; "
                                code { "claude-codex send " (id) " --again " (message.id) }
                                " types it again"
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Events, newest first, with their parameters and results.
pub(super) fn timeline(entries: &[TimelineEntry], id: &str) -> Markup {
    html! {
        section.panel #timeline aria-labelledby="timeline-title" {
            h2 #timeline-title {
                (icon("events")) "Timeline"
                a.more href={ "/events?instance=" (id) } { "all events" }
            }
            @if entries.is_empty() {
                p.empty { "Nothing has happened yet." }
            }
            ol.timeline {
                @for entry in entries.iter().rev() {
                    li.failed[entry.error_code.is_some()] .(source_class(entry.source)) #{ "event-" (entry.id) } {
                        details #{ "details-" (entry.id) } {
                            summary {
                                span.event-name title=(entry.name) { (event_word(&entry.name)) }
                                @if let Some(code) = &entry.error_code { (pill("danger", code)) }
                                (changes(&entry.changes, Some(id)))
                                span.event-when { (duration(entry.duration_ms)) " · " (ago(entry.at)) " ago" }
                            }
                            (said(entry))
                        }
                    }
                }
            }
        }
    }
}

const fn source_class(source: EventSource) -> &'static str {
    match source {
        EventSource::Tool => "tool",
        EventSource::Command => "command",
        EventSource::Hook => "hook",
        EventSource::System => "system",
    }
}

/// Status changes.
pub(super) fn changes(changes: &[StatusChange], own: Option<&str>) -> Markup {
    html! {
        @for change in changes {
            span.change {
                @if own != Some(change.instance.as_str()) { span.muted { (change.instance) " " } }
                @if let Some(from) = change.from { (status_word(from)) }
                (icon("arrow"))
                (status_word(change.to))
            }
        }
    }
}

/// Parameters and result of an event.
pub(super) fn said(entry: &TimelineEntry) -> Markup {
    html! {
        div.said-values {
            p.muted.small { (entry.server) " · " (entry.source.as_str()) }
            (values("Asked", &entry.parameters))
            @if let Some(result) = &entry.result { (values("Answered", result)) }
        }
    }
}

fn values(title: &str, value: &Value) -> Markup {
    let empty = value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty);
    if empty {
        return html! {};
    }
    html! {
        h3 { (title) }
        @if let Some(fields) = value.as_object() {
            dl.values {
                @for (name, field) in fields {
                    div { dt { (name) } dd { (plain(field)) } }
                }
            }
        } @else {
            pre.text { (plain(value)) }
        }
    }
}

fn plain(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    };
    shortened(&text, 4_000)
}

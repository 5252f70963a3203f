//! An agent's activity on its page: what it was told, said, ran and changed.

use maud::{Markup, html};
use shared::model::ActivityKind;

use super::icons::icon;
use super::time::ago;
use crate::view::ActivityView;

/// Newest first. The script asks for what comes after the cursor, and fetches the page again if there is anything.
pub(super) fn activity(view: &ActivityView, id: &str) -> Markup {
    let Some(cursor) = &view.cursor else {
        return html! {};
    };
    html! {
        section.panel #activity aria-labelledby="activity-title"
            data-activity={ "/api/instances/" (id) "/activity" } data-cursor=(cursor) {
            h2 #activity-title { (icon("events")) "Activity" }
            @if view.items.is_empty() {
                p.empty { "It has not done anything yet." }
            }
            ol.timeline.activity {
                @for item in view.items.iter().rev() {
                    li .(item.kind.as_str()) {
                        span.activity-text {
                            @if let Some(word) = speaker(item.kind) { strong { (word) " " } }
                            (item.text)
                        }
                        @if let Some(at) = item.at { span.event-when { (ago(at)) " ago" } }
                    }
                }
            }
        }
    }
}

const fn speaker(kind: ActivityKind) -> Option<&'static str> {
    match kind {
        ActivityKind::Said => Some("said"),
        ActivityKind::Told => Some("was told"),
        _ => None,
    }
}

//! A live terminal, in a box on the agent's page or on a page of its own.

use maud::{Markup, PreEscaped, html};

use super::icons::icon;
use super::layout::Page;
use crate::view::{ControlView, Frame, TerminalView};

/// Keys that a phone's keyboard does not have: the name that is sent, the label, the name that is read out.
const TOUCH_KEYS: [(&str, &str, &str); 8] = [
    ("Escape", "Esc", "Escape"),
    ("Tab", "Tab", "Tab"),
    ("C-c", "Ctrl-C", "Control C"),
    ("Left", "←", "Arrow left"),
    ("Down", "↓", "Arrow down"),
    ("Up", "↑", "Arrow up"),
    ("Right", "→", "Arrow right"),
    ("Enter", "Enter", "Enter"),
];

/// A terminal's own page. Its screen and scrollback are there without scripts.
pub fn terminal(view: &TerminalView, frame: &Frame) -> Markup {
    let content = html! {
        nav.crumbs aria-label="Where you are" {
            a href="/" { "Board" } a href={ "/agents/" (view.id) } { (view.id) } span { "Terminal" }
        }
        (shown(&view.id, &view.control, Some(view), frame))
    };
    let mut page = Page::new(format!("Terminal of {}", view.id), content);
    page.terminal = true;
    page.class = "wide full";
    page.render(frame)
}

/// The box on the agent's page; the script fills it.
pub(super) fn terminal_box(id: &str, control: &ControlView, frame: &Frame) -> Markup {
    shown(id, control, None, frame)
}

fn shown(id: &str, control: &ControlView, view: Option<&TerminalView>, frame: &Frame) -> Markup {
    let title = view.map_or("", |view| view.title.as_str());
    html! {
        // The script owns the content: a refresh of the page does not touch it.
        section.term #terminal data-keep data-terminal=(id) data-can-control[control.available && !frame.read_only] aria-label={ "Terminal of " (id) } {
            div.term-bar {
                span.term-lights aria-hidden="true" { i {} i {} i {} }
                span.term-title data-part="title" { @if title.is_empty() { (id) } @else { (title) } }
                span.term-who data-part="who" role="status" {
                    @if let Some(controller) = &control.controller { (controller.name) " is in control" }
                }
                span.term-tools {
                    button.term-button.script-only type="button" data-part="follow" hidden { (icon("down")) "Follow" }
                    @if !frame.read_only {
                        button.term-button.script-only type="button" data-part="control" hidden disabled[!control.available] title=[control.why_not.as_deref()] {
                            (icon("keyboard")) span { "Take control" }
                        }
                    }
                    @if view.is_none() {
                        a.term-button href={ "/agents/" (id) "/terminal" } title="Terminal in full size" { (icon("expand")) span.sr { "Terminal in full size" } }
                    }
                }
            }
            div.term-view data-part="view" tabindex="0" role="group" aria-label="Screen" {
                div.term-sheet data-part="sheet" {
                    @if let Some(view) = view {
                        @let scrolled = usize::try_from(view.scrolled).unwrap_or(0).min(view.rows.len());
                        div.term-rows.history data-part="history" { (rows(&view.rows[..scrolled])) }
                        div.term-rows data-part="screen" { (rows(&view.rows[scrolled..])) }
                    } @else {
                        div.term-rows.history data-part="history" {}
                        div.term-rows data-part="screen" {
                            noscript { "Live terminals need JavaScript. " a href={ "/agents/" (id) "/terminal" } { "See its present screen" } }
                        }
                    }
                    span.term-cursor data-part="cursor" hidden {}
                }
            }
            @if !frame.read_only {
                // For screens without a keyboard; the style shows it only there.
                div.term-keys.script-only data-part="keys" role="group" aria-label="Keys" hidden {
                    @for (key, label, name) in TOUCH_KEYS {
                        button.term-button type="button" data-key=(key) aria-label=(name) { (label) }
                    }
                }
            }
            textarea.term-input.sr data-part="input" aria-label={ "Type into the terminal of " (id) } rows="1" autocomplete="off" autocapitalize="off" spellcheck="false" tabindex="-1" {}
        }
    }
}

fn rows(rows: &[String]) -> Markup {
    html! {
        @for row in rows {
            // From `screen`, which escapes everything except its own tags.
            div.tr { (PreEscaped(row)) }
        }
    }
}

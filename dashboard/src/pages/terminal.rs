//! A live terminal: a box on the agent's page, or a page of its own.

use maud::{Markup, PreEscaped, html};

use super::icons::icon;
use super::layout::Page;
use crate::view::{ControlView, Frame, TerminalView};

/// A terminal's own page. What it shows now and what has scrolled away is there without scripts.
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
        // The script owns what is inside: a refresh of the page leaves it alone.
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
                        a.term-button href={ "/agents/" (id) "/terminal" } title="The terminal alone" { (icon("expand")) span.sr { "The terminal alone" } }
                    }
                }
            }
            div.term-view data-part="view" tabindex="0" role="group" aria-label="What it shows" {
                div.term-sheet data-part="sheet" {
                    @if let Some(view) = view {
                        @let scrolled = usize::try_from(view.scrolled).unwrap_or(0).min(view.rows.len());
                        div.term-rows.history data-part="history" { (rows(&view.rows[..scrolled])) }
                        div.term-rows data-part="screen" { (rows(&view.rows[scrolled..])) }
                    } @else {
                        div.term-rows.history data-part="history" {}
                        div.term-rows data-part="screen" {
                            noscript { "Live terminals need JavaScript. " a href={ "/agents/" (id) "/terminal" } { "See what it shows now" } }
                        }
                    }
                    span.term-cursor data-part="cursor" hidden {}
                }
            }
            textarea.term-input.sr data-part="input" aria-label={ "Type into the terminal of " (id) } rows="1" autocomplete="off" autocapitalize="off" spellcheck="false" tabindex="-1" {}
        }
    }
}

fn rows(rows: &[String]) -> Markup {
    html! {
        @for row in rows {
            // Made by `screen`, which escapes everything that it does not make itself.
            div.tr { (PreEscaped(row)) }
        }
    }
}

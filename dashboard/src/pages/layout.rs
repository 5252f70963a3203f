//! The layout of every page: head, navigation, confirmation, list of keys.

use maud::{DOCTYPE, Markup, html};

use super::icons::{icon, mark, sprite};
use super::labels::counted;
use crate::assets::address;
use crate::view::{Frame, Section};

/// The content of a page, without its frame.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) title: String,
    pub(super) content: Markup,
    /// Has a terminal: its styles and script are loaded.
    pub(super) terminal: bool,
    /// Has a diff under review: its styles and script are loaded.
    pub(super) review: bool,
    /// Uses the whole window.
    pub(super) class: &'static str,
}

impl Page {
    pub(super) fn new(title: impl Into<String>, content: Markup) -> Self {
        Self {
            title: title.into(),
            content,
            terminal: false,
            review: false,
            class: "",
        }
    }

    /// Renders the whole page, or only its `<main>` for a page that is already in the browser.
    pub(super) fn render(self, frame: &Frame) -> Markup {
        let waiting = frame.counts.map_or(0, |counts| counts.waiting);
        let title = if waiting > 0 {
            format!("({waiting}) {} · Claude Codex", self.title)
        } else {
            format!("{} · Claude Codex", self.title)
        };
        let main = html! {
            main #main .(self.class) tabindex="-1" data-title=(title) data-version=(frame.version)
                data-waiting=[frame.counts.map(|counts| counts.waiting)] {
                @if let Some(done) = frame.done {
                    p.flash role="status" { (icon("check")) (done.text()) }
                }
                (self.content)
            }
        };
        if frame.fragment {
            return main;
        }
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="csrf" content=(frame.csrf);
                    title { (title) }
                    link #favicon rel="icon" type="image/svg+xml"
                        href=(address(if waiting > 0 { "icon-waiting.svg" } else { "icon.svg" }))
                        data-calm=(address("icon.svg")) data-waiting=(address("icon-waiting.svg"));
                    link rel="stylesheet" href=(address("app.css"));
                    link rel="stylesheet" href=(address("parts.css"));
                    @if self.terminal {
                        link rel="stylesheet" href=(address("terminal.css"));
                    }
                    @if self.review {
                        link rel="stylesheet" href=(address("review.css"));
                    }
                    // Before the first paint, to prevent a flash of the wrong theme.
                    script src=(address("theme.js")) {}
                    script type="module" src=(address("app.js")) {}
                    @if self.terminal {
                        script type="module" src=(address("terminal.js")) {}
                    }
                    @if self.review {
                        script type="module" src=(address("review.js")) {}
                    }
                }
                body {
                    (sprite())
                    a.skip href="#main" { "Skip to content" }
                    (navigation(frame))
                    div.content {
                        div #offline role="status" hidden {
                            (icon("alert")) span { "Disconnected. This page may be out of date; reconnecting…" }
                        }
                        (main)
                    }
                    (keys())
                }
            }
        }
    }
}

fn navigation(frame: &Frame) -> Markup {
    let links = [
        (Section::Board, "/", "board", "Board"),
        (Section::Tasks, "/tasks", "tasks", "Tasks"),
        (Section::Pulls, "/pulls", "pull", "Pulls"),
        (Section::Analysis, "/analysis", "analysis", "Analysis"),
        (Section::Events, "/events", "events", "Events"),
    ];
    let waiting = frame.counts.map_or(0, |counts| counts.waiting);
    html! {
        header.side {
            a.brand href="/" { (mark()) span { "Claude Codex" } }
            nav aria-label="Pages" {
                @for (section, link, name, label) in links {
                    a href=(link) aria-current=[(section == frame.section).then_some("page")] {
                        (icon(name)) span { (label) }
                        @if section == Section::Board {
                            span #waiting-count .badge hidden[waiting == 0] title=(counted(waiting, "agent waiting for you", "agents waiting for you")) { (waiting) }
                        }
                    }
                }
            }
            @if frame.read_only {
                p.read-only { "Read-only" }
            } @else {
                a.btn.primary.launch href="/launch" aria-current=[(frame.section == Section::Launch).then_some("page")] {
                    (icon("plus")) span { "Launch" }
                }
            }
            div.side-foot {
                span #live .live role="status" hidden { "Live" }
                button #palette-button .quiet type="button" hidden title="Find anything (Ctrl-K)" { (icon("find")) span.sr { "Find anything" } }
                button #notify .quiet type="button" hidden title="Notify me when an agent waits for me" { (icon("bell")) span.sr { "Notifications" } }
                button #theme .quiet type="button" hidden title="Light or dark" { (icon("moon")) span.sr { "Light or dark" } }
                button #keys-button .quiet type="button" hidden title="Keys (?)" { (icon("keyboard")) span.sr { "Keys" } }
            }
        }
    }
}

/// The list of keyboard shortcuts, shown by `?`.
fn keys() -> Markup {
    let keys = [
        (&["j", "k"] as &[&str], "next and previous entry"),
        (&["h", "l"], "column to the left and right"),
        (&["Enter"], "open it"),
        (&["w"], "next agent that waits for you"),
        (&["/"], "filter"),
        (
            &["Ctrl", "K"],
            "find agents, tasks, pull requests and actions",
        ),
        (
            &["g", "b"],
            "board; t tasks, p pull requests, a analysis, e events",
        ),
        (&["n"], "launch an agent"),
        (&["?"], "this list"),
    ];
    html! {
        dialog #keys aria-labelledby="keys-title" {
            h2 #keys-title { "Keys" }
            dl.keys {
                @for (names, meaning) in keys {
                    div {
                        dt { @for name in names { kbd { (name) } } }
                        dd { (meaning) }
                    }
                }
            }
            form method="dialog" { button.btn { "Close" } }
        }
    }
}

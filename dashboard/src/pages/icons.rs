//! SVG icons: one sprite per page, referenced by name.

use maud::{Markup, PreEscaped, html};

/// Paths of the icons, in a square of 16.
const ICONS: &[(&str, &str)] = &[
    ("board", "M2.5 3h3v10h-3zM6.7 3h3v6.5h-3zM10.8 3h3v8.5h-3z"),
    (
        "tasks",
        "M2.5 4l1 1 2-2M2.5 8.5l1 1 2-2M2.5 13l1 1 2-2M8 4.2h5.5M8 8.7h5.5M8 13.2h5.5",
    ),
    (
        "pull",
        "M4 5.5v5M4 5.5a1.5 1.5 0 100-3 1.5 1.5 0 000 3zM4 13.5a1.5 1.5 0 100-3 1.5 1.5 0 000 3zM12 13.5a1.5 1.5 0 100-3 1.5 1.5 0 000 3zM12 10.5V6.5a2 2 0 00-2-2H8M9.5 2.8L7.8 4.5l1.7 1.7",
    ),
    ("analysis", "M2.5 13.5h11M4.5 11V8M8 11V3.5M11.5 11V6"),
    ("events", "M1.5 8h3l2-5 3 10 2-5h3"),
    ("plus", "M8 3v10M3 8h10"),
    (
        "find",
        "M7 11.5a4.5 4.5 0 100-9 4.5 4.5 0 000 9zM10.3 10.3L14 14",
    ),
    ("coding", "M5.5 4.5L2 8l3.5 3.5M10.5 4.5L14 8l-3.5 3.5"),
    (
        "review",
        "M1.5 8S4 3.8 8 3.8 14.5 8 14.5 8 12 12.2 8 12.2 1.5 8 1.5 8zM8 9.8a1.8 1.8 0 100-3.6 1.8 1.8 0 000 3.6z",
    ),
    (
        "planning",
        "M2.5 4.5L6 3l4 1.5L13.5 3v8.5L10 13l-4-1.5L2.5 13zM6 3v8.5M10 4.5V13",
    ),
    (
        "branch",
        "M5 5.5v5M5 5.5a1.5 1.5 0 100-3 1.5 1.5 0 000 3zM5 13.5a1.5 1.5 0 100-3 1.5 1.5 0 000 3zM11 6.5a1.5 1.5 0 100-3 1.5 1.5 0 000 3zM11 6.5c0 3-6 1.5-6 4",
    ),
    (
        "hand",
        "M5 8V4a1 1 0 012 0v3-4a1 1 0 012 0v4-3a1 1 0 012 0v4.5c0 3-1.5 5-4 5-2 0-3-1-4.2-3.4L2.4 8.6a1 1 0 011.7-1z",
    ),
    ("alert", "M8 2.2L14.3 13H1.7zM8 6.5v3M8 11.2v.2"),
    ("clock", "M8 14A6 6 0 108 2a6 6 0 000 12zM8 5v3.2l2 1.3"),
    ("message", "M2.5 3.5h11v7.5h-6l-3 2.5V11h-2z"),
    ("stop", "M4.5 4.5h7v7h-7z"),
    ("resume", "M5 3.5l7.5 4.5L5 12.5z"),
    ("copy", "M5.5 5.5h7.5v7.5H5.5zM3 10.5V3h7.5"),
    ("terminal", "M2 3h12v10H2zM4.5 6l2 2-2 2M8.5 10.3h3"),
    (
        "expand",
        "M9.5 2.5h4v4M13.5 2.5l-4.5 4.5M6.5 13.5h-4v-4M2.5 13.5L7 9",
    ),
    ("diff", "M4 2h5l3 3v9H4zM6.2 7.2h3.6M8 5.4V9M6.2 11.3h3.6"),
    ("check", "M3 8.5l3.3 3.3L13 5"),
    ("cross", "M4 4l8 8M12 4l-8 8"),
    (
        "search",
        "M7 11.5a4.5 4.5 0 100-9 4.5 4.5 0 000 9zM10.3 10.3l3.4 3.4",
    ),
    ("edit", "M3 13l.6-2.6L11 3l2 2-7.4 7.4zM9.5 4.5l2 2"),
    ("moon", "M13 9.5A5.5 5.5 0 016.5 3 5.5 5.5 0 1013 9.5z"),
    ("bell", "M4 11.5V7a4 4 0 018 0v4.5l1.2 1H2.8zM6.8 14.2h2.4"),
    (
        "link",
        "M6.5 9.5l3-3M7 4.8l1.7-1.7a2.6 2.6 0 013.7 3.7L10.7 8.5M9 11.2l-1.7 1.7a2.6 2.6 0 01-3.7-3.7l1.7-1.7",
    ),
    ("folder", "M2 4h4l1.5 1.5H14V13H2z"),
    ("arrow", "M3 8h10M9 4l4 4-4 4"),
    ("down", "M8 3v10M4 9l4 4 4-4"),
    (
        "keyboard",
        "M1.5 4h13v8h-13zM4 6.5h.2M7 6.5h.2M10 6.5h.2M12 6.5h.2M4.5 9.5h7",
    ),
];

/// The sprite with all icons, hidden; once on every page.
pub(super) fn sprite() -> Markup {
    html! {
        svg.sprite aria-hidden="true" width="0" height="0" {
            @for (name, path) in ICONS {
                symbol id={ "i-" (name) } viewBox="0 0 16 16" { path d=(path) {} }
            }
        }
    }
}

/// A decorative icon; the text beside it has the meaning.
pub(super) fn icon(name: &str) -> Markup {
    html! { svg.icon aria-hidden="true" { use href={ "#i-" (name) } {} } }
}

/// The logo.
pub(super) fn mark() -> Markup {
    PreEscaped(
        "<svg class=\"mark\" viewBox=\"0 0 28 28\" aria-hidden=\"true\"><rect class=\"mark-back\" width=\"28\" height=\"28\" rx=\"7\"/>\
         <path class=\"mark-line\" d=\"M7.5 9.5L12 14l-4.5 4.5M14.5 19h6\"/></svg>"
            .to_owned(),
    )
}

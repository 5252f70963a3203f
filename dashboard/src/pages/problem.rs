//! Error pages, and the page for visitors without a token.

use maud::{DOCTYPE, Markup, html};
use shared::error::Error;

use super::icons::{icon, mark, sprite};
use super::layout::Page;
use crate::assets::address;
use crate::view::Frame;

/// The error page, also for a form that was rejected.
pub fn problem(error: &Error, frame: &Frame) -> Markup {
    let content = html! {
        div.lonely {
            h1 { "That did not work" }
            (problem_box(error))
            p { a.btn href="/" { "Go to the board" } }
        }
    };
    Page::new("That did not work", content).render(frame)
}

pub(super) fn problem_box(error: &Error) -> Markup {
    html! {
        div.problem role="alert" {
            (icon("alert"))
            div {
                p { strong { (error.message) } }
                @if let Some(hint) = &error.hint { p { (hint) } }
                p.muted.small.mono { (error.code) }
            }
        }
    }
}

/// The page for visitors without a token. It reveals nothing else.
pub fn locked() -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Claude Codex" }
                link rel="stylesheet" href=(address("app.css"));
                link rel="stylesheet" href=(address("parts.css"));
            }
            body.locked {
                (sprite())
                main.lonely {
                    (mark())
                    h1 { "This dashboard is locked" }
                    p { "Open the address that " code { "claude-codex dashboard" } " printed: it has a token in it, which this browser then keeps." }
                }
            }
        }
    }
}

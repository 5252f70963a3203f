//! The pages: each a function from what it shows to HTML.

use maud::{DOCTYPE, Markup, html};
use shared::error::Error;

use crate::view::{
    AgentDiffView, AgentView, AnalysisList, AnalysisView, BoardView, EventsView, Frame, LaunchView,
    PullView, PullsView, TasksView, TerminalView,
};

/// A page, or only its `<main>` if that is what is wanted.
fn page(title: &str, frame: &Frame, content: &Markup) -> Markup {
    let main = html! { main { (content) } };
    if frame.fragment {
        return main;
    }
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="csrf" content=(frame.csrf);
                title { (title) }
            }
            body { (main) }
        }
    }
}

fn placeholder(title: &str, frame: &Frame, view: &impl serde::Serialize) -> Markup {
    let text = serde_json::to_string_pretty(view).unwrap_or_default();
    page(title, frame, &html! { h1 { (title) } pre { (text) } })
}

pub fn board(view: &BoardView, frame: &Frame) -> Markup {
    placeholder("Board", frame, view)
}

pub fn agent(view: &AgentView, frame: &Frame) -> Markup {
    placeholder(view.card.id.as_str(), frame, view)
}

pub fn agent_diff(view: &AgentDiffView, frame: &Frame) -> Markup {
    placeholder(view.card.id.as_str(), frame, view)
}

pub fn terminal(view: &TerminalView, frame: &Frame) -> Markup {
    placeholder(&view.id, frame, view)
}

pub fn tasks(view: &TasksView, frame: &Frame) -> Markup {
    placeholder("Tasks", frame, view)
}

pub fn pulls(view: &PullsView, frame: &Frame) -> Markup {
    placeholder("Pull requests", frame, view)
}

pub fn pull(view: &PullView, frame: &Frame) -> Markup {
    placeholder(&view.card.pull.title, frame, view)
}

pub fn analyses(view: &AnalysisList, frame: &Frame) -> Markup {
    placeholder("Analysis", frame, view)
}

pub fn analysis(view: &AnalysisView, frame: &Frame) -> Markup {
    placeholder(&view.summary.id, frame, view)
}

pub fn events(view: &EventsView, frame: &Frame) -> Markup {
    placeholder("Events", frame, view)
}

pub fn launch(view: &LaunchView, frame: &Frame) -> Markup {
    placeholder("Launch", frame, view)
}

/// Says what went wrong; also what follows a form that was refused.
pub fn problem(error: &Error, frame: &Frame) -> Markup {
    placeholder("That did not work", frame, error)
}

/// Says that the address with the token is needed. Whoever sees it has shown no token, so it tells nothing else.
pub fn locked() -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head { meta charset="utf-8"; title { "Claude Codex" } }
            body { main { p { "Open the address that `claude-codex dashboard` printed." } } }
        }
    }
}

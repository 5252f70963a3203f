//! The launch form. If it is rejected it comes back with the values that were filled in.

use maud::{Markup, html};
use shared::workflow::MAX_REVIEWS;

use super::forms::csrf;
use super::icons::icon;
use super::layout::Page;
use super::problem::problem_box;
use crate::view::{Frame, LaunchForm, LaunchKind, LaunchView, repository_name};

pub fn launch(view: &LaunchView, frame: &Frame) -> Markup {
    let content = html! {
        div.head {
            div {
                h1 { "Launch an agent" }
                p.lead { "It works in a worktree and a terminal of its own." }
            }
        }
        @if let Some(problem) = &view.problem { (problem_box(problem)) }
        @if frame.read_only {
            p.nothing { "This dashboard is read-only: launch from the command line." }
        } @else if view.repositories.is_empty() {
            p.nothing { "No repository is known yet. Start the dashboard inside one, or launch the first agent with " code { "claude-codex code" } "." }
        } @else {
            (form(view, frame))
        }
    };
    Page::new("Launch", content).render(frame)
}

fn form(view: &LaunchView, frame: &Frame) -> Markup {
    let form = &view.form;
    html! {
        form.panel.stack.launch-form method="post" action="/api/instances" {
            (csrf(frame))
            (kinds(form))
            label {
                "Repository"
                select name="repository" required data-reload="/launch" {
                    @for repository in &view.repositories {
                        option value=(repository) selected[view.repository.as_ref() == Some(repository)] { (repository_name(repository)) }
                    }
                }
            }
            label {
                "What to do"
                textarea name="prompt" rows="6" placeholder="Fix the login page: …" autofocus { (form.prompt.as_deref().unwrap_or_default()) }
                small.only-code { "Optional with a task or an issue." }
                small.only-tdd { "The specification: what to build, and how to tell that it works." }
            }
            div.only-code.not-tdd {
                @if !view.ready_tasks.is_empty() || form.task.is_some() {
                    label {
                        "Task"
                        select name="task" {
                            option value="" { "none" }
                            @for task in &view.ready_tasks {
                                option value=(task.id) selected[form.task.as_deref() == Some(task.id.as_str())] { (task.title) }
                            }
                        }
                    }
                }
                label {
                    "Issue"
                    input type="number" name="issue" min="1" value=[form.issue] placeholder="number";
                }
            }
            details.more-options.not-plan open[form.base.is_some() || form.branch.is_some() || form.max_reviews.is_some()] #more-options {
                summary { "Branches and reviews" }
                div.grid-2 {
                    label.only-code.not-tdd {
                        "Base branch"
                        input type="text" name="base" list="branches" value=[form.base.as_ref()] placeholder="the one that is checked out";
                        datalist #branches { @for branch in &view.branches { option value=(branch) {} } }
                    }
                    label.only-code {
                        "Work on branch"
                        input type="text" name="branch" value=[form.branch.as_ref()] placeholder="codex/…, named after the agent";
                    }
                    label.only-code {
                        "Maximum review rounds"
                        input type="number" name="maxReviews" min="1" max=(MAX_REVIEWS) value=[form.max_reviews] placeholder=(view.default_max_reviews);
                    }
                    label.check.only-code.not-tdd {
                        input type="checkbox" name="requireReview" value="true" checked[form.require_review || view.default_require_review];
                        "Must be reviewed before it is published"
                    }
                }
            }
            div.row {
                span.muted.small { "Checked by the same rules as on the command line." }
                button.btn.primary type="submit" { (icon("plus")) "Launch" }
            }
        }
    }
}

fn kinds(form: &LaunchForm) -> Markup {
    let kinds = [
        (
            LaunchKind::Code,
            "code",
            "coding",
            "Coder",
            "does one task, has it reviewed, opens a pull request",
        ),
        (
            LaunchKind::Plan,
            "plan",
            "planning",
            "Planner",
            "analyzes the repository and divides the work into tasks",
        ),
        (
            LaunchKind::Tdd,
            "tdd",
            "review",
            "Specification",
            "writes tests and code, with reviews, until a pull request is open; unattended",
        ),
    ];
    html! {
        fieldset.kinds {
            legend { "Kind" }
            @for (kind, value, name, label, what) in kinds {
                label.kind-choice {
                    input type="radio" name="kind" value=(value) checked[form.kind == kind];
                    span { (icon(name)) strong { (label) } span.muted { (what) } }
                }
            }
        }
    }
}

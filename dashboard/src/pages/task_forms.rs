//! Forms of the tasks page: a new task, and what can be changed about one.

use maud::{Markup, html};
use shared::model::{Priority, Task, TaskId, TaskStatus};

use super::forms::{Button, csrf};
use super::icons::icon;
use crate::view::{Frame, TasksView};

pub(super) fn new_task(view: &TasksView, frame: &Frame) -> Markup {
    let Some(repository) = view.repository.as_deref().filter(|_| !frame.read_only) else {
        return html! {};
    };
    html! {
        details.pop #new-task {
            summary.btn { (icon("plus")) "New task" }
            form.stack method="post" action="/api/tasks" {
                (task_fields(None, repository, frame))
                button.btn.primary type="submit" { "Add" }
            }
        }
    }
}

/// What a person says about a task, as it is now.
fn task_fields(task: Option<&Task>, repository: &str, frame: &Frame) -> Markup {
    let waits_for: Vec<&str> = task
        .map(|task| task.depends_on.iter().map(TaskId::as_str).collect())
        .unwrap_or_default();
    let hours = task.and_then(|task| task.estimated_hours);
    html! {
        (csrf(frame))
        input type="hidden" name="repository" value=(repository);
        label { "Title" input type="text" name="title" required maxlength="200" value=[task.map(|task| &task.title)]; }
        label { "Description" textarea name="description" rows="4" maxlength="50000" { (task.map_or("", |task| task.description.as_str())) } }
        label { "Priority" (priorities(task.map_or(Priority::Medium, |task| task.priority), "")) }
        label { "Hours" input type="number" name="estimatedHours" min="0.1" max="2000" step="any" value=[hours]; }
        label { "Waits for (ids)" input type="text" name="dependsOn" placeholder="task-1a2b3c4d …" value=(waits_for.join(" ")); }
    }
}

/// All that a person may change about one task.
pub(super) fn task_actions(task: &Task, repository: &str, frame: &Frame) -> Markup {
    if frame.read_only {
        return html! {};
    }
    let id = &task.id;
    let fields = [("repository", repository)];
    let button = |what: &str, label: &str, image: &str, confirm: Option<&str>| {
        Button {
            id: &format!("{what}-{id}"),
            address: &format!("/api/tasks/{id}/{what}"),
            label,
            icon: image,
            class: "small",
            confirm,
            fields: &fields,
        }
        .live(frame)
    };
    let is_open = matches!(task.status, TaskStatus::Open | TaskStatus::InProgress);
    html! {
        div.actions {
            details.pop #{ "edit-" (id) } {
                summary.btn.small { (icon("edit")) "Edit" }
                form.stack method="post" action={ "/api/tasks/" (id) } {
                    input type="hidden" name="complete" value="true";
                    (task_fields(Some(task), repository, frame))
                    button.btn.primary type="submit" { "Save" }
                }
            }
            @if is_open {
                form.inline #{ "priority-" (id) } method="post" action={ "/api/tasks/" (id) } {
                    (csrf(frame))
                    input type="hidden" name="repository" value=(repository);
                    label.sr for={ "priority-of-" (id) } { "Priority" }
                    (priorities(task.priority, &format!("priority-of-{id}")))
                    button.btn.small type="submit" { "Set" }
                }
                (button("close", "Close", "check", None))
                (button("cancel", "Cancel", "stop", Some("Cancel this task? Tasks that wait for it go on waiting.")))
            } @else {
                (button("reopen", "Reopen", "resume", None))
            }
        }
    }
}

fn priorities(chosen: Priority, id: &str) -> Markup {
    html! {
        select name="priority" id=[(!id.is_empty()).then_some(id)] {
            @for priority in Priority::ALL.iter().rev() {
                option value=(priority) selected[*priority == chosen] { (priority) }
            }
        }
    }
}

//! The tasks page: dependency graph, and the list with ready tasks first.

use std::collections::HashMap;

use maud::{Markup, html};
use shared::model::{TaskId, TaskStatus};

use super::board::cost;
use super::forms::{query, repository_choice};
use super::icons::icon;
use super::labels::{counted, pill, priority, task_word};
use super::layout::Page;
use super::task_forms::{new_task, task_actions};
use super::time::ago;
use crate::plot::{Node, graph};
use crate::view::{Frame, TaskView, TasksView, repository_name};

/// How many tasks are drawn; more would be illegible.
const MAX_DRAWN: usize = 80;

pub fn tasks(view: &TasksView, frame: &Frame) -> Markup {
    let content = html! {
        div.head {
            div {
                h1 { "Tasks" }
                p.lead {
                    (counted(view.total, "task", "tasks")) ", " (view.ready) " ready to start"
                    @if let Some(repository) = &view.repository { " · " (repository_name(repository)) }
                }
            }
            div.row {
                (repository_choice(&view.repositories, view.repository.as_deref(), false, &[]))
                (new_task(view, frame))
            }
        }
        @if view.total == 0 {
            p.nothing { "No tasks are planned yet. " a href="/launch?kind=plan" { "Launch a planner" } ", or plan with " code { "claude-codex plan" } "." }
        } @else {
            (drawing(view))
            (list(view, frame))
        }
    };
    Page::new("Tasks", content).render(frame)
}

fn is_ready(task: &TaskView) -> bool {
    task.task.status == TaskStatus::Open && task.task.ready
}

/// The graph of tasks that have dependencies or dependents.
fn drawing(view: &TasksView) -> Markup {
    let linked: Vec<&TaskView> = view
        .tasks
        .iter()
        .filter(|task| !task.task.depends_on.is_empty() || !task.blocks.is_empty())
        .take(MAX_DRAWN)
        .collect();
    if linked.is_empty() {
        return html! {};
    }
    let place: HashMap<&TaskId, usize> = linked
        .iter()
        .enumerate()
        .map(|(index, task)| (&task.task.id, index))
        .collect();
    let nodes: Vec<Node> = linked
        .iter()
        .map(|task| {
            let (word, class) = task_word(task.task.status, task.task.ready);
            Node {
                title: task.task.title.clone(),
                note: format!("{word} · {} priority", task.task.priority),
                class,
                link: format!("#task-{}", task.task.id),
            }
        })
        .collect();
    let edges: Vec<(usize, usize)> = linked
        .iter()
        .enumerate()
        .flat_map(|(to, task)| {
            let before = task.task.depends_on.iter();
            before
                .filter_map(|id| place.get(id))
                .map(move |&from| (from, to))
        })
        .collect();
    html! {
        section.panel.graph-panel #graph aria-labelledby="graph-title" {
            h2 #graph-title { "Dependencies" }
            div.scroll tabindex="0" role="region" aria-label="Dependency graph" {
                (graph(&nodes, &edges, "Tasks and their dependencies; the list below has the same information"))
            }
        }
    }
}

fn list(view: &TasksView, frame: &Frame) -> Markup {
    let titles: HashMap<&TaskId, &str> = view
        .tasks
        .iter()
        .map(|task| (&task.task.id, task.task.title.as_str()))
        .collect();
    html! {
        section.panel #list aria-label="List of tasks" {
            table.list {
                thead { tr { th { "Task" } th { "State" } th { "Priority" } th.num { "Hours" } th { "Waits for" } th { "Agents" } th { span.sr { "Launch" } } } }
                tbody {
                    @for task in &view.tasks {
                        (row(task, &titles, view, frame))
                    }
                }
            }
        }
        nav.pages aria-label="More" {
            @if view.filter.offset > 0 {
                a.btn href=(page_address(view, 0)) { "First" }
            }
            @if let Some(offset) = view.next_offset {
                a.btn rel="next" href=(page_address(view, offset)) { "More" (icon("arrow")) }
            }
        }
    }
}

fn page_address(view: &TasksView, offset: u64) -> String {
    let repository = view.repository.as_deref().unwrap_or_default();
    format!("/tasks?repository={}&offset={offset}", query(repository))
}

fn row(view: &TaskView, titles: &HashMap<&TaskId, &str>, all: &TasksView, frame: &Frame) -> Markup {
    let task = &view.task;
    let (word, tone) = task_word(task.status, task.ready);
    let repository = all.repository.as_deref().unwrap_or_default();
    html! {
        tr #{ "task-" (task.id) } data-card tabindex="-1" {
            td.main-cell data-label="Task" {
                details #{ "about-" (task.id) } {
                    summary { strong { (task.title) } }
                    @if !task.description.is_empty() { p.text { (task.description) } }
                    p.muted.small {
                        span.mono { (task.id) } " · planned " (ago(task.created_at)) " ago"
                        @if let Some(usage) = &view.usage { " · " (cost(usage)) }
                        @if let Some(planner) = &task.created_by { " by " a href={ "/agents/" (planner) } { (planner) } }
                    }
                    (task_actions(task, repository, frame))
                }
            }
            td data-label="State" { (pill(tone, word)) }
            td data-label="Priority" { (priority(task.priority)) }
            td.num data-label="Hours" { @if let Some(hours) = task.estimated_hours { (hours) } @else { span.muted { "–" } } }
            td data-label="Waits for" {
                @if task.depends_on.is_empty() {
                    span.muted { "–" }
                } @else {
                    ul.plain {
                        @for id in &task.depends_on {
                            li {
                                @match titles.get(id) {
                                    Some(title) => a href={ "#task-" (id) } { (title) },
                                    None => span.mono { (id) },
                                }
                            }
                        }
                    }
                }
            }
            td data-label="Agents" {
                @if view.agents.is_empty() && task.issue_number.is_none() {
                    span.muted { "–" }
                } @else {
                    ul.plain {
                        @for agent in &view.agents { li { a.mono href={ "/agents/" (agent) } { (agent) } } }
                        @if let Some(number) = task.issue_number { li.muted { "issue #" (number) } }
                    }
                }
            }
            td.end-cell {
                @if is_ready(view) && !frame.read_only {
                    a.btn.primary.small href={ "/launch?task=" (query(task.id.as_str())) "&repository=" (query(repository)) } { (icon("resume")) "Launch" }
                }
            }
        }
    }
}

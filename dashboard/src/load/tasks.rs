//! Tasks with what waits for what.

use std::collections::HashMap;

use shared::error::Error;
use shared::model::{Priority, Task, TaskId, TaskStatus};

use crate::app::App;
use crate::view::{TaskView, TasksView};

/// More than anybody plans.
const MOST: u64 = 1_000;

pub(crate) async fn tasks(app: &App, repository: Option<&str>) -> Result<TasksView, Error> {
    let version = app.changes.version();
    let repositories = app.repositories().await?;
    let repository = app.choose(&repositories, repository)?;
    let (tasks, total, mut agents) = match repository.clone() {
        None => (Vec::new(), 0, HashMap::new()),
        Some(key) => {
            let read = app.context.store.read(move |r| {
                let page = r.tasks(&key, false, 0, MOST)?;
                Ok((page.tasks, page.total, r.task_agents(&key)?))
            });
            read.await?
        }
    };
    let levels = levels(&tasks);
    let mut blocks: HashMap<TaskId, Vec<TaskId>> = HashMap::new();
    for task in &tasks {
        for before in &task.depends_on {
            blocks
                .entry(before.clone())
                .or_default()
                .push(task.id.clone());
        }
    }
    let mut views: Vec<TaskView> = tasks
        .into_iter()
        .map(|task| TaskView {
            blocks: blocks.remove(&task.id).unwrap_or_default(),
            agents: agents.remove(&task.id).unwrap_or_default(),
            level: levels.get(&task.id).copied().unwrap_or(0),
            task,
        })
        .collect();
    // Stable: within each, the oldest first.
    views.sort_by_key(|view| place(&view.task));
    Ok(TasksView {
        repositories,
        repository,
        tasks: views,
        total,
        version,
        read_only: app.options.read_only,
    })
}

fn place(task: &Task) -> (u8, u8) {
    let state = match task.status {
        TaskStatus::Open if task.ready => 0,
        TaskStatus::Open => 1,
        TaskStatus::InProgress => 2,
        TaskStatus::Done => 3,
        TaskStatus::Cancelled => 4,
    };
    let urgency = match task.priority {
        Priority::High => 0,
        Priority::Medium => 1,
        Priority::Low => 2,
    };
    (state, urgency)
}

/// Returns how long the longest chain before each task is.
///
/// Tasks come in the order in which they were made, and depend only on earlier ones.
fn levels(tasks: &[Task]) -> HashMap<TaskId, u32> {
    let mut levels: HashMap<TaskId, u32> = HashMap::new();
    for task in tasks {
        let before = task.depends_on.iter().filter_map(|id| levels.get(id));
        let level = before.max().map_or(0, |level| level + 1);
        levels.insert(task.id.clone(), level);
    }
    levels
}

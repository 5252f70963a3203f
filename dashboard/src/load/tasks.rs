//! Loads tasks with their dependencies.

use std::collections::HashMap;

use shared::error::Error;
use shared::model::{Task, TaskId};
use shared::workflow;

use crate::app::App;
use crate::view::{TaskFilter, TaskView, TasksView};

/// Tasks on one page.
const PAGE_SIZE: u64 = 100;

pub(crate) async fn tasks(app: &App, filter: TaskFilter) -> Result<TasksView, Error> {
    let version = app.change_feed.version();
    let repositories = app.repositories().await?;
    let repository = app.choose(&repositories, filter.repository.as_deref())?;
    let mut view = TasksView {
        repositories,
        repository: repository.clone(),
        tasks: Vec::new(),
        total: 0,
        ready: 0,
        next_offset: None,
        filter,
        version,
        read_only: app.options.read_only,
    };
    let Some(key) = repository else {
        return Ok(view);
    };
    let offset = u64::from(view.filter.offset);
    let (page, ready, mut blocks, mut agents) = app
        .context
        .store
        .read(move |r| {
            let page = r.tasks_by_place(&key, false, offset, PAGE_SIZE)?;
            let (blocks, agents) = (r.waiting_tasks(&page.tasks)?, r.task_agents(&page.tasks)?);
            Ok((page, r.ready_tasks(&key)?, blocks, agents))
        })
        .await?;
    let ids = page.tasks.iter().map(|task| task.id.clone()).collect();
    let mut usage = workflow::task_usage(&app.context, ids).await?;
    let levels = levels(&page.tasks);
    let tasks = page.tasks.into_iter().map(|task| TaskView {
        blocks: blocks.remove(&task.id).unwrap_or_default(),
        agents: agents.remove(&task.id).unwrap_or_default(),
        usage: usage.remove(&task.id),
        level: levels.get(&task.id).copied().unwrap_or(0),
        task,
    });
    view.tasks = tasks.collect();
    (view.total, view.ready, view.next_offset) = (page.total, ready, page.next_offset);
    Ok(view)
}

/// Returns the length of the longest chain of dependencies before each task, among those on the page.
///
/// Most tasks depend only on older ones; a person may have made one wait for a newer one.
fn levels(tasks: &[Task]) -> HashMap<TaskId, u32> {
    let mut in_order: Vec<&Task> = tasks.iter().collect();
    in_order.sort_by(|one, other| (&one.created_at, &one.id).cmp(&(&other.created_at, &other.id)));
    let mut levels: HashMap<TaskId, u32> = HashMap::new();
    // One pass is enough for older ones, and no chain is longer than the page.
    for _ in 0..=tasks.len() {
        let mut changed = false;
        for task in &in_order {
            let before = task.depends_on.iter().filter_map(|id| levels.get(id));
            let level = before.max().map_or(0, |level| level + 1);
            changed |= levels.insert(task.id.clone(), level) != Some(level);
        }
        if !changed {
            break;
        }
    }
    levels
}

//! Planning: tasks and what they wait for.

use std::sync::OnceLock;

use serde_json::Value;

use super::task_issue::{TaskIssue, open_issue};
use super::{Context, Run};
use crate::error::Error;
use crate::model::task::{
    MAX_DEPENDENCIES, MAX_DESCRIPTION_CHARS, MAX_ESTIMATED_HOURS, MAX_TITLE_CHARS,
};
use crate::model::text::{check_block, check_line};
use crate::model::{InstanceId, Priority, Task, TaskId};
use crate::store::{NewTask, Writer};

/// When this process was asked for a task for the first time: what is older was made by another, which is gone.
static FIRST_CALL: OnceLock<String> = OnceLock::new();

/// A task as a planner asks for it.
#[derive(Debug, Clone)]
pub struct CreateTask {
    pub title: String,
    pub description: String,
    pub priority: Priority,
    pub estimated_hours: Option<f64>,
    pub depends_on: Vec<String>,
    /// Whether to open an issue as well; none: as the configuration says.
    pub create_issue: Option<bool>,
}

/// A task that now exists, and what became of its issue.
#[derive(Debug, Clone)]
pub struct CreatedTask {
    pub task: Task,
    pub issue: TaskIssue,
}

/// Stores a task, and opens an issue for it if wanted. What it depends on must exist, so no cycle can arise.
///
/// A task whose issue could not be opened is kept. The same task asked for again by the same planner
/// is that one, and only its issue is opened. A call with an issue that is made again because its answer never
/// came (it was cancelled, or the server was killed) is answered with the task that it had made. `reply` is
/// what will be answered.
pub async fn create_task(
    context: &Context,
    run: &Run,
    planner: &InstanceId,
    request: CreateTask,
    reply: impl FnOnce(&CreatedTask) -> Value + Send + 'static,
) -> Result<CreatedTask, Error> {
    let wants_issue = request
        .create_issue
        .unwrap_or(context.settings().planning.create_issues);
    let new = checked(context, planner, &request)?;
    run.step("Storing the task")?;
    if !wants_issue {
        let store = move |w: &Writer<'_>| {
            Ok(CreatedTask {
                task: w.insert_task(&new)?,
                issue: TaskIssue::NotWanted,
            })
        };
        return Ok(run.write_last(&context.store, store, reply).await?);
    }
    let mut task = context
        .store
        .write(move |w| {
            let now = w.now()?;
            let since = FIRST_CALL.get_or_init(|| now);
            if let Some(task) = w.unanswered_task(&new, since)? {
                return Ok(task);
            }
            match w.task_without_issue(&new)? {
                Some(task) => Ok(task),
                None => w.insert_task(&new),
            }
        })
        .await?;
    let issue = open_issue(context, run, planner, &mut task).await;
    Ok(CreatedTask { task, issue })
}

fn checked(
    context: &Context,
    planner: &InstanceId,
    request: &CreateTask,
) -> Result<NewTask, Error> {
    let title = check_line(&request.title, MAX_TITLE_CHARS)
        .map_err(|problem| Error::argument("taskTitle", problem))?;
    let description = check_block(&request.description, MAX_DESCRIPTION_CHARS)
        .map_err(|problem| Error::argument("taskDescription", problem))?;
    if let Some(hours) = request.estimated_hours
        && !(hours > 0.0 && hours <= MAX_ESTIMATED_HOURS)
    {
        return Err(Error::argument(
            "estimatedHours",
            format!("must be more than 0 and at most {MAX_ESTIMATED_HOURS}"),
        ));
    }
    if request.depends_on.len() > MAX_DEPENDENCIES {
        return Err(Error::argument(
            "dependsOn",
            format!("names more than {MAX_DEPENDENCIES} tasks"),
        ));
    }
    let depends_on = request
        .depends_on
        .iter()
        .map(|id| id.parse::<TaskId>())
        .collect::<Result<Vec<_>, _>>()
        .map_err(|problem| Error::argument("dependsOn", format!("names no task: {problem}")))?;
    Ok(NewTask {
        repository: Context::repository_key(context.repository()?.root()),
        title,
        description,
        priority: request.priority,
        estimated_hours: request.estimated_hours,
        depends_on,
        created_by: Some(planner.clone()),
    })
}

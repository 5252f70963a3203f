//! `create_task`: a planned task with its dependencies, idempotent for a repeated call.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Mutex, OnceLock, PoisonError};

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::task_issue::{TaskIssue, open_issue};
use super::task_limits;
use crate::error::Error;
use crate::model::{InstanceId, Priority, Task, TaskId, TaskStatus, Timestamp};
use crate::store::{NewTask, StoreError, Writer};
use crate::workflow::{Context, Run, Step};

/// When this process was asked for a task for the first time: what is older was made by another, which is gone.
static FIRST_CALL: OnceLock<Timestamp> = OnceLock::new();
/// The last tasks that this process has made, each with the token by which a client says that it takes no answer.
static MADE: Mutex<VecDeque<(TaskId, CancellationToken)>> = Mutex::new(VecDeque::new());
/// Clients give up within minutes; no planner makes that many tasks in that time.
const MAX_MADE: usize = 200;

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
/// is that one, and only its issue is opened. A call that is made again because its answer was not taken (it was
/// cancelled, or with an issue, the server was killed) is answered with the task that it had made. `reply` is what
/// will be answered.
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
    run.step(Step::StoringTask)?;
    let cancel = run.cancel_token().clone();
    if !wants_issue {
        let store = move |w: &Writer<'_>| {
            let task = match untaken(w, &new)? {
                Some(task) => task,
                None => w.insert_task(&new)?,
            };
            made(&task, cancel);
            Ok(CreatedTask {
                task,
                issue: TaskIssue::NotWanted,
            })
        };
        return Ok(run.write_last(&context.store, store, reply).await?);
    }
    let mut task = context
        .store
        .write(move |w| {
            let known = match repeated(w, &new)? {
                Some(task) => Some(task),
                None => w.task_without_issue(&new)?,
            };
            let task = match known {
                Some(task) => task,
                None => w.insert_task(&new)?,
            };
            made(&task, cancel);
            Ok(task)
        })
        .await?;
    let issue = open_issue(context, run, planner, &mut task).await;
    Ok(CreatedTask { task, issue })
}

/// Remembers by which token the answer about a task may be refused.
fn made(task: &Task, cancel: CancellationToken) {
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    made.retain(|(id, _)| *id != task.id);
    if made.len() == MAX_MADE {
        made.pop_front();
    }
    made.push_back((task.id.clone(), cancel));
}

/// Returns the task that the same call has made before, if its answer was not taken or may not have arrived.
fn repeated(writer: &Writer<'_>, like: &NewTask) -> Result<Option<Task>, StoreError> {
    let since = *FIRST_CALL.get_or_init(Timestamp::now);
    match untaken(writer, like)? {
        Some(task) => Ok(Some(task)),
        None => writer.repeated_task(like, since),
    }
}

/// Returns an open task of the same planner that says the same and whose answer was not taken.
fn untaken(writer: &Writer<'_>, like: &NewTask) -> Result<Option<Task>, StoreError> {
    let ids: Vec<TaskId> = MADE
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .iter()
        .filter(|(_, cancel)| cancel.is_cancelled())
        .map(|(id, _)| id.clone())
        .collect();
    let wanted: BTreeSet<&TaskId> = like.depends_on.iter().collect();
    for id in ids {
        let task = match writer.task(&like.repository, &id) {
            Ok(task) => task,
            Err(StoreError::TaskNotFound { .. }) => continue,
            Err(error) => return Err(error),
        };
        if task.status == TaskStatus::Open
            && task.created_by == like.created_by
            && (&task.title, &task.description) == (&like.title, &like.description)
            && (task.priority, task.estimated_hours) == (like.priority, like.estimated_hours)
            && task.depends_on.iter().collect::<BTreeSet<_>>() == wanted
        {
            return Ok(Some(task));
        }
    }
    Ok(None)
}

fn checked(
    context: &Context,
    planner: &InstanceId,
    request: &CreateTask,
) -> Result<NewTask, Error> {
    let title = task_limits::title("taskTitle", &request.title)?;
    let description = task_limits::description("taskDescription", &request.description)?;
    let estimated_hours = task_limits::hours("estimatedHours", request.estimated_hours)?;
    let depends_on = task_limits::dependencies("dependsOn", &request.depends_on)?;
    Ok(NewTask {
        repository: Context::repository_key(context.repository()?.root()),
        title,
        description,
        priority: request.priority,
        estimated_hours,
        depends_on,
        created_by: Some(planner.clone()),
    })
}

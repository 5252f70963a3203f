//! Tasks by a person: add, edit, close, reopen, cancel.

use super::task_limits;
use crate::error::{Code, Error};
use crate::model::{InstanceId, Priority, Task, TaskId, TaskStatus};
use crate::store::{NewTask, TaskChange};
use crate::workflow::{Context, Run, Step};

/// What a person says about a task; for a new one, the title is needed.
#[derive(Debug, Clone, Default)]
pub struct TaskEdit {
    pub title: Option<String>,
    /// An empty one is allowed.
    pub description: Option<String>,
    pub priority: Option<Priority>,
    pub estimated_hours: Option<f64>,
    /// Takes the estimate back.
    pub no_estimate: bool,
    /// All tasks that it waits for.
    pub depends_on: Option<Vec<String>>,
}

/// How a person moves a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskMove {
    Close,
    Reopen,
    Cancel,
}

impl TaskMove {
    const fn status(self) -> TaskStatus {
        match self {
            Self::Close => TaskStatus::Done,
            Self::Reopen => TaskStatus::Open,
            Self::Cancel => TaskStatus::Cancelled,
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Close => "closed",
            Self::Reopen => "reopened",
            Self::Cancel => "cancelled",
        }
    }
}

/// Why a task stays as it is.
enum Refusal {
    Cycle(TaskId),
    AtWork(InstanceId),
    InProgress,
}

/// Stores a task that a person plans.
pub async fn add_task(context: &Context, run: &Run, edit: TaskEdit) -> Result<Task, Error> {
    let title = edit.title.as_deref().unwrap_or_default();
    let title = task_limits::title("title", title)?;
    let change = checked(&edit)?;
    let new = NewTask {
        repository: Context::repository_key(context.repository()?.root()),
        title,
        description: change.description.unwrap_or_default(),
        priority: change.priority.unwrap_or(Priority::Medium),
        estimated_hours: change.estimated_hours,
        depends_on: change.depends_on.unwrap_or_default(),
        created_by: None,
    };
    run.step(Step::StoringTask)?;
    Ok(context.store.write(move |w| w.insert_task(&new)).await?)
}

/// Changes what a person names; the rest stays. A task can't wait for one that waits for it.
pub async fn edit_task(
    context: &Context,
    run: &Run,
    id: &TaskId,
    edit: TaskEdit,
) -> Result<Task, Error> {
    let change = checked(&edit)?;
    let repository = Context::repository_key(context.repository()?.root());
    run.step(Step::ChangingTask)?;
    let task = id.clone();
    let changed = context
        .store
        .write(move |w| {
            let before = change.depends_on.as_deref().unwrap_or_default();
            Ok(match w.first_waiting_for(&task, before)? {
                Some(other) => Err(Refusal::Cycle(other)),
                None => Ok(w.change_task(&repository, &task, &change)?),
            })
        })
        .await?;
    changed.map_err(|refusal| refused(id, &refusal, "changed"))
}

/// Closes, reopens or cancels a task, unless an agent works on it. One that is there already stays.
pub async fn move_task(
    context: &Context,
    run: &Run,
    id: &TaskId,
    to: TaskMove,
) -> Result<Task, Error> {
    let repository = Context::repository_key(context.repository()?.root());
    run.step(Step::ChangingTask)?;
    let task = id.clone();
    let moved = context
        .store
        .write(move |w| {
            let present = w.task(&repository, &task)?;
            if present.status == to.status() {
                return Ok(Ok(present));
            }
            let agents = w.agents_of_task(&task)?;
            let at_work = agents.into_iter().find(|(_, status)| status.is_live());
            if let Some((agent, _)) = at_work {
                return Ok(Err(Refusal::AtWork(agent)));
            }
            if to == TaskMove::Reopen && present.status == TaskStatus::InProgress {
                return Ok(Err(Refusal::InProgress));
            }
            w.set_task_status(&task, to.status())?;
            Ok(Ok(w.task(&repository, &task)?))
        })
        .await?;
    moved.map_err(|refusal| refused(id, &refusal, to.word()))
}

fn refused(id: &TaskId, refusal: &Refusal, done: &str) -> Error {
    match refusal {
        Refusal::Cycle(other) if other == id => {
            Error::argument("dependsOn", "names the task itself")
        }
        Refusal::Cycle(other) => {
            Error::argument("dependsOn", format!("names {other}, which waits for {id}"))
        }
        Refusal::AtWork(agent) => {
            let message = format!("{id} can't be {done}: {agent} works on it");
            Error::new(Code::IllegalState, message)
                .hint(format!("`claude-codex stop {agent}` ends the agent."))
        }
        Refusal::InProgress => {
            let message =
                format!("{id} can't be {done}: it is in progress, with its work published");
            Error::new(Code::IllegalState, message).hint(
                "`claude-codex pr list` lists the pull requests; closing one opens its task again.",
            )
        }
    }
}

fn checked(edit: &TaskEdit) -> Result<TaskChange, Error> {
    let title = edit.title.as_deref();
    let description = match edit.description.as_deref() {
        Some(text) if text.trim().is_empty() => Some(String::new()),
        Some(text) => Some(task_limits::description("description", text)?),
        None => None,
    };
    let depends_on = edit.depends_on.as_deref();
    Ok(TaskChange {
        title: title
            .map(|text| task_limits::title("title", text))
            .transpose()?,
        description,
        priority: edit.priority,
        estimated_hours: task_limits::hours("estimatedHours", edit.estimated_hours)?,
        no_estimate: edit.no_estimate,
        depends_on: depends_on
            .map(|ids| task_limits::dependencies("dependsOn", ids))
            .transpose()?,
    })
}

//! Actions on tasks: add, edit, close, reopen, cancel.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use shared::error::Error;
use shared::model::{Priority, Task, TaskId};
use shared::workflow::{self, Context, TaskEdit, TaskMove};

use crate::app::AppState;
use crate::extract::{JsonOrForm, PathParam};
use crate::record::{RecordedAction, run_recorded};
use crate::reply::Failure;
use crate::view::Done;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct TaskRequest {
    /// Path of the repository; by default the one that the dashboard was started in.
    repository: Option<String>,
    /// What it is, in a line. A new task needs one.
    title: Option<String>,
    /// What is to be done, for the agent that does it.
    description: Option<String>,
    /// By default medium.
    priority: Option<Priority>,
    /// An estimate.
    estimated_hours: Option<f64>,
    /// Tasks that must be done before it.
    depends_on: Option<TaskIds>,
    /// Whether this is all of the task: a field that is absent is emptied. Forms leave out what is empty.
    complete: bool,
}

/// A list of ids; in a form, one text with spaces or commas between them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum TaskIds {
    List(Vec<String>),
    Text(String),
}

impl TaskRequest {
    fn edit(&self) -> TaskEdit {
        let depends_on = self.depends_on.as_ref().map(|ids| match ids {
            TaskIds::List(ids) => ids.clone(),
            TaskIds::Text(text) => text
                .split([' ', ',', '\n', '\r', '\t'])
                .filter(|id| !id.is_empty())
                .map(str::to_owned)
                .collect(),
        });
        TaskEdit {
            title: self.title.clone(),
            description: or_empty(self.description.clone(), self.complete),
            priority: self.priority,
            estimated_hours: self.estimated_hours,
            no_estimate: self.complete && self.estimated_hours.is_none(),
            depends_on: or_empty(depends_on, self.complete),
        }
    }
}

fn or_empty<T: Default>(given: Option<T>, complete: bool) -> Option<T> {
    given.or_else(|| complete.then(T::default))
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct MoveRequest {
    /// Path of the repository; by default the one that the dashboard was started in.
    repository: Option<String>,
}

pub(crate) async fn add_task(
    State(app): State<AppState>,
    body: JsonOrForm<TaskRequest>,
) -> Result<Response, Failure> {
    let context = app.context_in(body.value.repository.as_deref()).await?;
    let edit = body.value.edit();
    let page = page(&context)?;
    let action = action("tasks add", json!({ "title": edit.title }));
    let task = run_recorded(&app, action, move |run| async move {
        workflow::add_task(&context, &run, edit).await
    })
    .await?;
    Ok(body.answer(StatusCode::CREATED, &task, &page, Done::TaskAdded))
}

pub(crate) async fn edit_task(
    State(app): State<AppState>,
    PathParam(id): PathParam,
    body: JsonOrForm<TaskRequest>,
) -> Result<Response, Failure> {
    let context = app.context_in(body.value.repository.as_deref()).await?;
    let id = known(&context, &id).await?;
    let edit = body.value.edit();
    let page = page(&context)?;
    let action = action("tasks edit", json!({ "id": id }));
    let task = run_recorded(&app, action, move |run| async move {
        workflow::edit_task(&context, &run, &id, edit).await
    })
    .await?;
    Ok(body.answer(StatusCode::OK, &task, &page, Done::TaskChanged))
}

pub(crate) async fn close_task(
    app: State<AppState>,
    id: PathParam,
    body: JsonOrForm<MoveRequest>,
) -> Result<Response, Failure> {
    moved(app, id, body, TaskMove::Close, "tasks close").await
}

pub(crate) async fn reopen_task(
    app: State<AppState>,
    id: PathParam,
    body: JsonOrForm<MoveRequest>,
) -> Result<Response, Failure> {
    moved(app, id, body, TaskMove::Reopen, "tasks reopen").await
}

pub(crate) async fn cancel_task(
    app: State<AppState>,
    id: PathParam,
    body: JsonOrForm<MoveRequest>,
) -> Result<Response, Failure> {
    moved(app, id, body, TaskMove::Cancel, "tasks cancel").await
}

async fn moved(
    State(app): State<AppState>,
    PathParam(id): PathParam,
    body: JsonOrForm<MoveRequest>,
    to: TaskMove,
    name: &'static str,
) -> Result<Response, Failure> {
    let context = app.context_in(body.value.repository.as_deref()).await?;
    let id = known(&context, &id).await?;
    let page = page(&context)?;
    let action = action(name, json!({ "id": id }));
    let task = run_recorded(&app, action, move |run| async move {
        workflow::move_task(&context, &run, &id, to).await
    })
    .await?;
    Ok(body.answer(StatusCode::OK, &task, &page, Done::TaskChanged))
}

async fn known(context: &Context, id: &str) -> Result<TaskId, Error> {
    let id = id.parse::<TaskId>();
    let id = id.map_err(|problem| Error::argument("id", problem))?;
    workflow::find_task(context, &id).await
}

/// Returns the address of the page that lists the tasks of a repository.
fn page(context: &Context) -> Result<String, Error> {
    let key = Context::repository_key(context.repository()?.root());
    let query = serde_urlencoded::to_string([("repository", key)]);
    Ok(format!("/tasks?{}", query.unwrap_or_default()))
}

fn action(name: &'static str, parameters: Value) -> RecordedAction<Task> {
    RecordedAction {
        name,
        parameters,
        instance: None,
        summary: |task| (json!({ "id": task.id, "status": task.status }), None),
    }
}

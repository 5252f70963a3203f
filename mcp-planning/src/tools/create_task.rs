//! The tool `create_task`.

use mcp_kit::{Call, Effects, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use shared::error::Error;
use shared::model::task::{
    MAX_DEPENDENCIES, MAX_DESCRIPTION_CHARS, MAX_ESTIMATED_HOURS, MAX_TITLE_CHARS,
};
use shared::model::{Priority, Task};
use shared::workflow::{self, CreateTask, CreatedTask, TaskIssue};

/// The task to store.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct CreateTaskRequest {
    /// What is to be done, in one line.
    #[schemars(length(min = 1, max = MAX_TITLE_CHARS))]
    task_title: String,
    /// What an agent needs to know to do it: goal, files, constraints, how to see that it is done.
    #[schemars(length(min = 1, max = MAX_DESCRIPTION_CHARS))]
    task_description: String,
    /// How soon it should be done: low, medium or high.
    priority: Priority,
    /// How long it may take, in hours; more than 0.
    #[serde(default)]
    #[schemars(range(max = MAX_ESTIMATED_HOURS), extend("exclusiveMinimum" = 0))]
    estimated_hours: Option<f64>,
    /// Ids of tasks that must be done first. They must exist.
    #[serde(default)]
    #[schemars(length(max = MAX_DEPENDENCIES))]
    depends_on: Vec<String>,
    /// Whether to open an issue for it as well. Default: planning.createIssues of the configuration.
    #[serde(default)]
    create_issue: Option<bool>,
}

/// The task that now exists.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CreateTaskReply {
    /// Id to name it by in `dependsOn` and in `claude-codex code --task ID`.
    task_id: String,
    /// Number of the issue that was opened for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    issue_number: Option<u64>,
    /// Address of that issue.
    #[serde(skip_serializing_if = "Option::is_none")]
    issue_url: Option<String>,
    /// What was stored and what comes next.
    message: String,
}

pub(crate) fn tool() -> Tool {
    Tool::new(
        "create_task",
        "Create a task",
        "Store a planned task with priority, estimate and the tasks it depends on, so that coding agents can be launched on it.",
        Effects::OpenWorld,
        create_task,
    )
}

async fn create_task(call: Call, request: CreateTaskRequest) -> Result<CreateTaskReply, Error> {
    let context = call.context().await?;
    let planner = call.instance().await?;
    let created = workflow::create_task(
        &context,
        call.run(),
        &planner,
        CreateTask {
            title: request.task_title,
            description: request.task_description,
            priority: request.priority,
            estimated_hours: request.estimated_hours,
            depends_on: request.depends_on,
            create_issue: request.create_issue,
        },
        |created| json!(reply(created)),
    )
    .await?;
    Ok(reply(&created))
}

fn reply(created: &CreatedTask) -> CreateTaskReply {
    let task = &created.task;
    let state = if task.ready {
        "It can be started now"
    } else {
        "It waits for the tasks it depends on"
    };
    CreateTaskReply {
        message: format!(
            "Task {id} stored: {title}. {state}; a person starts it with `claude-codex code --task {id}`.{issue}",
            id = task.id,
            title = task.title,
            issue = about_issue(task, &created.issue),
        ),
        task_id: task.id.to_string(),
        issue_number: task.issue_number,
        issue_url: task.issue_url.clone(),
    }
}

fn about_issue(task: &Task, issue: &TaskIssue) -> String {
    match issue {
        TaskIssue::NotWanted => String::new(),
        TaskIssue::Opened => {
            let number = task.issue_number.unwrap_or_default();
            let url = task.issue_url.as_deref().unwrap_or_default();
            format!(" Issue #{number} was opened for it: {url}")
        }
        TaskIssue::LocalForge { why } => {
            format!(
                " It has no issue, because the forge is local ({why}); the task alone is enough."
            )
        }
        TaskIssue::Missing(error) => format!(
            " Its issue is missing: {} ({}). {} To try again, call create_task with the same taskTitle and taskDescription and createIssue true: the task is found, and only the issue is opened.",
            error.message,
            error.code,
            error.hint.as_deref().unwrap_or_default(),
        ),
    }
}

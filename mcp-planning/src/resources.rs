//! MCP resources of a planning agent: tasks and complete reports, in pages.

use analysis::Archive;
use mcp_kit::resources::instance;
use mcp_kit::{Call, Resource, ResourceQuery};
use serde_json::{Value, json};
use shared::error::{Code, Error};
use shared::workflow::Context;

/// Tasks on one page; with the longest titles still far below the size at which clients truncate.
const PAGE_SIZE: u64 = 50;
/// How much of a description a list shows; the whole is in the task itself.
const MAX_EXCERPT: usize = 300;

pub(crate) fn all() -> Vec<Resource> {
    vec![
        instance(),
        Resource::new(
            "codex://tasks",
            "tasks",
            "The repository's planned tasks, oldest first, in pages of 50; `next` is the address of the page that follows",
            tasks,
        )
        .with_template("codex://tasks{?offset}"),
        Resource::new(
            "codex://tasks/",
            "task",
            "One planned task, whole",
            task,
        )
        .with_template("codex://tasks/{id}"),
        Resource::new(
            "codex://analysis/",
            "analysis",
            "A complete report of analyze_repository, in pages whose texts add up to one JSON document; `next` is the address of the page that follows",
            analysis,
        )
        .with_template("codex://analysis/{id}{?offset}"),
        Resource::new(
            "codex://schemas/",
            "schema",
            "What the fields of a report of analyze_repository mean, as JSON schema; `report` is its scope, or focus",
            schema,
        )
        .with_template("codex://schemas/{report}"),
    ]
}

async fn tasks(call: Call, query: ResourceQuery) -> Result<Value, Error> {
    let context = call.context().await?;
    let repository = Context::repository_key(context.repository()?.root());
    let page = context
        .store
        .read(move |r| r.tasks(&repository, query.offset, PAGE_SIZE))
        .await?;
    let tasks: Vec<Value> = page
        .tasks
        .iter()
        .map(|task| {
            let mut value = json!(task);
            if let Some((end, _)) = task.description.char_indices().nth(MAX_EXCERPT) {
                value["description"] = json!(format!("{}…", &task.description[..end]));
            }
            value
        })
        .collect();
    Ok(json!({
        "tasks": tasks,
        "total": page.total,
        "next": page.next_offset.map(|offset| format!("codex://tasks?offset={offset}")),
    }))
}

async fn task(call: Call, query: ResourceQuery) -> Result<Value, Error> {
    let context = call.context().await?;
    let repository = Context::repository_key(context.repository()?.root());
    let id = query.rest.parse()?;
    let task = context
        .store
        .read(move |r| r.task(&repository, &id))
        .await?;
    Ok(json!(task))
}

async fn analysis(call: Call, query: ResourceQuery) -> Result<Value, Error> {
    let context = call.context().await?;
    let archive = Archive::in_state(context.state_dir());
    let id = query.rest;
    let Some(page) = archive.page(&id, query.offset) else {
        return Err(Error::new(
            Code::AnalysisNotFound,
            format!(
                "there is no analysis `{id}` with an offset of {}",
                query.offset
            ),
        )
        .hint("Call analyze_repository again; only the newest reports are kept."));
    };
    Ok(json!({
        "analysisId": id,
        "offset": query.offset,
        "total": page.total,
        "next": page.next.map(|offset| format!("codex://analysis/{id}?offset={offset}")),
        "text": page.text,
    }))
}

async fn schema(_call: Call, query: ResourceQuery) -> Result<Value, Error> {
    if query.rest == "focus" {
        return Ok(analysis::schema(None));
    }
    match query.rest.parse() {
        Ok(scope) => Ok(analysis::schema(Some(scope))),
        Err(_) => Err(
            Error::new(Code::InvalidArguments, "there is no report of this name")
                .hint("The reports are architecture, issues, codebase, dependencies and focus."),
        ),
    }
}

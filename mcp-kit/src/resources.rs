//! MCP resources that several servers share: instance, task, feedback.

use serde_json::{Value, json};

use super::{Call, Resource, ResourceQuery};
use shared::error::Error;
use shared::workflow::Context;

/// `codex://instance`: the instance that this server acts for.
pub fn instance() -> Resource {
    Resource::new(
        "codex://instance",
        "instance",
        "The agent that this server acts for, with its worktree, branch and status; null before the first tool call of a session that claude-codex did not launch",
        read_instance,
    )
}

/// `codex://task`: the agent's prompt and task.
pub fn task() -> Resource {
    Resource::new(
        "codex://task",
        "task",
        "The prompt of this agent and its planned task; null if claude-codex did not launch it",
        read_task,
    )
}

/// `codex://feedback`: the newest review, in full.
pub fn feedback() -> Resource {
    Resource::new(
        "codex://feedback",
        "feedback",
        "The newest review round of this agent with all feedback and findings; null if there was none",
        read_feedback,
    )
}

async fn read_feedback(call: Call, _query: ResourceQuery) -> Result<Value, Error> {
    let Some(id) = call.current_instance().await? else {
        return Ok(Value::Null);
    };
    let context = call.context().await?;
    let reviews = context.store.read(move |r| r.reviews(&id)).await?;
    let newest = reviews
        .into_iter()
        .rfind(|review| review.feedback.is_some());
    Ok(json!(newest))
}

async fn read_instance(call: Call, _query: ResourceQuery) -> Result<Value, Error> {
    let Some(id) = call.current_instance().await? else {
        return Ok(Value::Null);
    };
    let context = call.context().await?;
    Ok(json!(context.store.read(move |r| r.instance(&id)).await?))
}

async fn read_task(call: Call, _query: ResourceQuery) -> Result<Value, Error> {
    let Some(id) = call.current_instance().await? else {
        return Ok(Value::Null);
    };
    let context = call.context().await?;
    let (instance, task) = context
        .store
        .read(move |r| {
            let instance = r.instance(&id)?;
            let repository = Context::repository_key(&instance.repository);
            let task = match &instance.task_id {
                Some(task) => Some(r.task(&repository, task)?),
                None => None,
            };
            Ok((instance, task))
        })
        .await?;
    Ok(json!({ "prompt": instance.prompt, "issueNumber": instance.issue_number, "task": task }))
}

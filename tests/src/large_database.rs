//! A database as it is after years: filled through the store, in large transactions.

use std::path::Path;

use serde_json::json;
use shared::model::{
    EventSource, InstanceId, InstanceKind, MessageId, MessageKind, Origin, Priority, StatusEvent,
    TakenBy, TaskId, TaskStatus, Verdict,
};
use shared::store::{
    NewEvent, NewInstance, NewMessage, NewReview, NewTask, Store, StoreError, Writer,
};

use crate::samples::sample_instance;

/// Rows of one transaction.
const TOGETHER: u32 = 10_000;
/// Tools that are called, in turns; one call in 16 fails.
const TOOLS: [&str; 4] = [
    "request_review",
    "request_changes",
    "create_pr",
    "create_task",
];

/// How much there is of what grows.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    pub events: u32,
    pub tasks: u32,
    /// Coders and planners that have ended; each coder had a reviewer and two messages.
    pub agents: u32,
}

impl Size {
    /// The size that everything must stay quick at.
    pub const LARGE: Self = Self {
        events: 1_000_000,
        tasks: 100_000,
        agents: 5_000,
    };
}

/// Fills the database of that name for a repository.
pub fn fill(database: &Path, repository: &str, size: Size) -> Result<(), StoreError> {
    let store = Store::open(database)?;
    let mut tasks = Vec::new();
    for first in (0..size.tasks).step_by(TOGETHER as usize) {
        let end = size.tasks.min(first + TOGETHER);
        store
            .write_now(|w| (first..end).try_for_each(|n| add_task(w, repository, n, &mut tasks)))?;
    }
    let agents = store.write_now(|w| {
        (0..size.agents)
            .map(|n| add_agent(w, repository, n, &tasks))
            .collect::<Result<Vec<_>, _>>()
    })?;
    for first in (0..size.events).step_by(TOGETHER as usize) {
        let end = size.events.min(first + TOGETHER);
        store.write_now(|w| (first..end).try_for_each(|n| add_event(w, n, &agents)))?;
    }
    Ok(())
}

/// Adds a task: of ten, six are done, one is cancelled, one is in progress, one is ready, and one waits for that.
fn add_task(
    writer: &Writer<'_>,
    repository: &str,
    number: u32,
    tasks: &mut Vec<TaskId>,
) -> Result<(), StoreError> {
    let before = match number % 10 {
        8 => &[],
        _ => &tasks[tasks.len().saturating_sub(1)..],
    };
    let task = writer.insert_task(&NewTask {
        repository: repository.to_owned(),
        title: format!("Task {number} of many, with a title of usual length"),
        description: "What is to be done, why, and how to see that it is. ".repeat(5),
        priority: [Priority::High, Priority::Medium, Priority::Low][number as usize % 3],
        estimated_hours: Some(2.0),
        depends_on: before.to_vec(),
        created_by: None,
    })?;
    let status = match number % 10 {
        8 | 9 => None,
        7 => Some(TaskStatus::InProgress),
        6 => Some(TaskStatus::Cancelled),
        _ => Some(TaskStatus::Done),
    };
    if let Some(status) = status {
        writer.set_task_status(&task.id, status)?;
    }
    tasks.push(task.id);
    Ok(())
}

/// Adds an agent that has ended: of ten, eight coders with a review each, and two planners.
fn add_agent(
    writer: &Writer<'_>,
    repository: &str,
    number: u32,
    tasks: &[TaskId],
) -> Result<InstanceId, StoreError> {
    let new = |kind: InstanceKind, id: String, task: Option<TaskId>, parent| NewInstance {
        kind,
        origin: Origin::Launched,
        repository: repository.to_owned(),
        worktree_path: format!("/nowhere/{id}").into(),
        branch_name: Some(format!("codex/{id}")),
        tmux_session: Some(id.clone()),
        claude_session_id: Some(format!("00000000-0000-4000-9000-{number:012}")),
        task_id: task,
        parent_instance_id: parent,
        prompt: "Do what the task says, with tests. ".repeat(8),
        ..sample_instance(&id)
    };
    if number % 10 >= 8 {
        let planner = new(
            InstanceKind::Planning,
            format!("plan-{number}-a1"),
            None,
            None,
        );
        writer.insert_instance(&planner, None)?;
        writer.transition(&planner.id, StatusEvent::Connected)?;
        writer.transition(&planner.id, StatusEvent::PlanDone)?;
        writer.set_put_away(&planner.id)?;
        return Ok(planner.id);
    }
    // A done one.
    let task = tasks
        .get(number as usize * 10 % tasks.len().max(1))
        .cloned();
    let coder = new(
        InstanceKind::Coding,
        format!("work-{number}-a1"),
        task,
        None,
    );
    writer.insert_instance(&coder, None)?;
    writer.transition(&coder.id, StatusEvent::Connected)?;
    let parent = Some(coder.id.clone());
    let reviewer = new(
        InstanceKind::Review,
        format!("review-{number}-a1-r1"),
        None,
        parent,
    );
    writer.insert_instance(&reviewer, None)?;
    writer.insert_review(&NewReview {
        coder: coder.id.clone(),
        reviewer: reviewer.id.clone(),
        round: 1,
        commit: "0".repeat(40),
        description: "Please look.".to_owned(),
    })?;
    writer.transition(&reviewer.id, StatusEvent::Connected)?;
    if let Some(review) = writer.pending_review(&coder.id)? {
        writer.decide_review(&review, Verdict::Approved, Some("Good."), &[])?;
    }
    writer.transition(&reviewer.id, StatusEvent::VerdictGiven)?;
    for _ in 0..2 {
        let message = NewMessage {
            id: MessageId::random(),
            instance: coder.id.clone(),
            sender: "person".to_owned(),
            kind: MessageKind::Note,
            body: "Something to know. ".repeat(20),
        };
        writer.insert_message(&message)?;
        writer.taken(&message.id, TakenBy::Transcript)?;
    }
    let begins = StatusEvent::PublishBegins { by_reviewer: false };
    for event in [begins, StatusEvent::Published, StatusEvent::Merged] {
        writer.transition(&coder.id, event)?;
    }
    let url = format!("https://github.com/o/r/pull/{}", number + 1);
    writer.set_pull_request(&coder.id, u64::from(number) + 1, &url)?;
    writer.set_put_away(&reviewer.id)?;
    writer.set_put_away(&coder.id)?;
    Ok(coder.id)
}

fn add_event(writer: &Writer<'_>, number: u32, agents: &[InstanceId]) -> Result<(), StoreError> {
    // Each agent's events in a row, as they happen.
    let tool = number as usize % TOOLS.len();
    let failed = number % 16 == 15;
    let agent = (number / 200) as usize % agents.len().max(1);
    writer.insert_event(&NewEvent {
        instance: agents.get(agent).cloned(),
        source: EventSource::Tool,
        server: "mcp-coding".to_owned(),
        name: TOOLS[tool].to_owned(),
        parameters: json!({"description": "what was asked for, in a few words"}),
        result: (!failed).then(|| json!({"message": "what was answered, in a few words"})),
        error_code: failed.then(|| "WORKTREE_DIRTY".to_owned()),
        status_changes: Vec::new(),
        duration_ms: 12.5,
    })
}

//! `claude-codex show`

use std::fmt::Write;

use clap::Args;
use serde::Serialize;
use shared::model::{InstanceId, Message, Task};
use shared::store::EventRow;
use shared::workflow::{self, BoardRow, Context};

use super::events::event_line;
use super::list::{shown_activity, status_style};
use crate::failure::Failure;
use crate::output::{BOLD, NAME, Output, PLAIN, WARNING};
use crate::session;
use crate::text::{harmless, harmless_block};
use crate::time::{age, readable};

/// How many of its last events are shown.
const EVENTS: u32 = 20;

const EXAMPLES: &str = "\
Examples:
  claude-codex show work-42-a1
  claude-codex show work-42-a1 --json | jq -r .worktreePath";

/// Show one agent: where it is, what it is about, what it did last
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ShowArgs {
    /// The agent
    id: InstanceId,
}

#[derive(Serialize)]
struct Details<'a> {
    #[serde(flatten)]
    agent: &'a BoardRow,
    task: Option<&'a Task>,
    messages: &'a [Message],
    events: &'a [EventRow],
}

pub(crate) async fn show(args: &ShowArgs, output: Output) -> Result<(), Failure> {
    let context = session::open(output).await?;
    let row = find(&context, &args.id).await?;
    let instance = row.instance.clone();
    let (task, messages, events) = context
        .store
        .read(move |r| {
            let repository = Context::repository_key(&instance.repository);
            let task = match &instance.task_id {
                Some(id) => Some(r.task(&repository, id)?),
                None => None,
            };
            let messages = r.messages(&instance.id)?;
            Ok((task, messages, r.latest_events(Some(&instance.id), EVENTS)?))
        })
        .await?;
    if output.is_json() {
        return output.document(&Details {
            agent: &row,
            task: task.as_ref(),
            messages: &messages,
            events: &events,
        });
    }
    output.print(&described(&row, task.as_ref(), &messages, &events))
}

/// Returns one agent with what it is doing.
async fn find(context: &Context, id: &InstanceId) -> Result<BoardRow, Failure> {
    let wanted = id.clone();
    // First, so that an unknown id gets its own error.
    let instance = context.store.read(move |r| r.instance(&wanted)).await?;
    let rows = workflow::board(context, !instance.status.is_live()).await?;
    let row = rows.into_iter().find(|row| row.instance.id == *id);
    Ok(row.unwrap_or(BoardRow {
        instance,
        activity: workflow::Activity::Unknown,
    }))
}

fn described(
    row: &BoardRow,
    task: Option<&Task>,
    messages: &[Message],
    events: &[EventRow],
) -> String {
    let BoardRow { instance, activity } = row;
    let (doing, doing_style) = shown_activity(activity);
    let mut text = format!("{NAME}{}{NAME:#}\n", instance.id);
    let mut line = |name: &str, value: &str, style: anstyle::Style| {
        // Writing to a String does not fail.
        let _ = writeln!(text, "  {name:<11}{style}{}{style:#}", harmless(value));
    };
    line("kind", instance.kind.as_str(), PLAIN);
    line(
        "status",
        instance.status.as_str(),
        status_style(instance.status),
    );
    line("activity", &doing, doing_style);
    if let Some(note) = &instance.note {
        line("note", note, WARNING);
    }
    line("repository", &instance.repository.to_string_lossy(), PLAIN);
    line("worktree", &instance.worktree_path.to_string_lossy(), PLAIN);
    line(
        "branch",
        instance.branch_name.as_deref().unwrap_or("(detached)"),
        PLAIN,
    );
    line("base", &instance.base_branch, PLAIN);
    let optional = [
        (
            "issue",
            instance.issue_number.map(|number| format!("#{number}")),
        ),
        (
            "reviews",
            instance
                .parent_instance_id
                .as_ref()
                .map(ToString::to_string),
        ),
        ("session", instance.tmux_session.clone()),
        ("claude", instance.claude_session_id.clone()),
        ("pull", instance.pr_url.clone()),
        (
            "task",
            task.map(|task| format!("{} {} ({})", task.id, task.title, task.status)),
        ),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            line(name, &value, PLAIN);
        }
    }
    let when = |time: &str| format!("{} UTC, {} ago", readable(time), age(time));
    line("created", &when(&instance.created_at), PLAIN);
    line("active", &when(&instance.last_activity), PLAIN);
    if let Some(completed) = &instance.completed_at {
        line("ended", &when(completed), PLAIN);
    }
    if !instance.prompt.trim().is_empty() {
        let _ = writeln!(text, "\n{BOLD}Prompt{BOLD:#}");
        for line in harmless_block(instance.prompt.trim()).lines() {
            let _ = writeln!(text, "  {line}");
        }
    }
    if !messages.is_empty() {
        let _ = writeln!(text, "\n{BOLD}Messages{BOLD:#}");
        for message in messages {
            let _ = writeln!(text, "  {}", message_line(message));
        }
    }
    if !events.is_empty() {
        let _ = writeln!(text, "\n{BOLD}Last events{BOLD:#}");
        for event in events {
            let _ = writeln!(text, "  {}", event_line(event, false));
        }
    }
    text
}

fn message_line(message: &Message) -> String {
    let waits = message.waiting_for.as_deref();
    let waits = waits.map(|what| format!(", waits for {}", harmless(what)));
    format!(
        "{} {} from {}: {}{}",
        readable(&message.created_at),
        message.kind,
        harmless(&message.sender),
        message.state,
        waits.unwrap_or_default(),
    )
}

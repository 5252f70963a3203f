//! `claude-codex show`

use std::fmt::Write;

use clap::Args;
use serde::Serialize;
use shared::model::{InstanceId, InstanceKind, Message, MessageState, Review, Task, Verdict};
use shared::store::EventRow;
use shared::workflow::{self, Activity, BoardRow, Context};

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
#[serde(rename_all = "camelCase")]
struct Details {
    #[serde(flatten)]
    agent: BoardRow,
    task: Option<Task>,
    /// A coder's rounds; of a reviewer, the one it is in.
    review_rounds: Vec<Review>,
    messages: Vec<Message>,
    events: Vec<EventRow>,
}

pub(crate) async fn show(args: &ShowArgs, output: Output) -> Result<(), Failure> {
    let context = session::open(output).await?;
    let details = details(&context, &args.id).await?;
    if output.is_json() {
        return output.document(&details);
    }
    output.print(&described(&details))
}

/// Returns what `show` prints for people.
pub(super) async fn text(context: &Context, id: &InstanceId) -> Result<String, Failure> {
    Ok(described(&details(context, id).await?))
}

async fn details(context: &Context, id: &InstanceId) -> Result<Details, Failure> {
    let row = find(context, id).await?;
    let instance = row.instance.clone();
    let details = context
        .store
        .read(move |r| {
            let repository = Context::repository_key(&instance.repository);
            let task = match &instance.task_id {
                Some(id) => Some(r.task(&repository, id)?),
                None => None,
            };
            let mut review_rounds = match &instance.parent_instance_id {
                Some(coder) => r.reviews(coder)?,
                None => r.reviews(&instance.id)?,
            };
            if instance.kind == InstanceKind::Review {
                review_rounds.retain(|round| round.review_instance_id == instance.id);
            }
            Ok(Details {
                task,
                review_rounds,
                messages: r.messages(&instance.id)?,
                events: r.latest_events(Some(&instance.id), EVENTS)?,
                agent: row,
            })
        })
        .await?;
    Ok(details)
}

/// Returns one agent with what it is doing.
async fn find(context: &Context, id: &InstanceId) -> Result<BoardRow, Failure> {
    let wanted = id.clone();
    // First, so that an unknown id gets its own error.
    let instance = context.store.read(move |r| r.instance(&wanted)).await?;
    Ok(workflow::board_row(context, instance).await?)
}

fn described(details: &Details) -> String {
    let BoardRow {
        instance, activity, ..
    } = &details.agent;
    let task = details.task.as_ref();
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
    if *activity == Activity::TerminalUnreachable {
        line("to do", &workflow::advice_on_terminal(instance), WARNING);
    }
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
    let rounds = details
        .review_rounds
        .iter()
        .map(|round| round_lines(round, instance.max_reviews));
    section(&mut text, "Reviews", rounds);
    section(
        &mut text,
        "Messages",
        details.messages.iter().map(message_line),
    );
    let events = details.events.iter().map(|event| event_line(event, false));
    section(&mut text, "Last events", events);
    text
}

/// Adds a heading and what belongs under it, if there is anything.
fn section(text: &mut String, heading: &str, entries: impl Iterator<Item = String>) {
    for (index, entry) in entries.enumerate() {
        if index == 0 {
            let _ = writeln!(text, "\n{BOLD}{heading}{BOLD:#}");
        }
        for line in entry.lines() {
            let _ = writeln!(text, "  {line}");
        }
    }
}

/// A round in one line, and what was said in it below.
fn round_lines(round: &Review, most: u32) -> String {
    let number = match round.verdict {
        Verdict::Lost => "not counted".to_owned(),
        Verdict::Pending | Verdict::ChangesRequested | Verdict::Approved if most > 0 => {
            format!("round {} of {most}", round.round)
        }
        Verdict::Pending | Verdict::ChangesRequested | Verdict::Approved => {
            format!("round {}", round.round)
        }
    };
    let mut text = format!(
        "{} {number} by {} on {}: {}",
        readable(&round.requested_at),
        round.review_instance_id,
        round.commit_id.get(..10).unwrap_or(&round.commit_id),
        round.verdict,
    );
    let said = round.feedback.as_deref().unwrap_or_default();
    for line in harmless_block(said.trim()).lines() {
        let _ = write!(text, "\n  {line}");
    }
    for finding in &round.findings {
        let line = finding.line.map(|line| format!(":{line}"));
        let _ = write!(
            text,
            "\n  [{}] {}{}: {}",
            finding.severity,
            harmless(&finding.file),
            line.unwrap_or_default(),
            harmless(&finding.message)
        );
    }
    text
}

fn message_line(message: &Message) -> String {
    let more = match (message.state, message.waiting_for) {
        (MessageState::Unconfirmed, _) => format!(
            ": typed, and nothing shows that the agent has it (`claude-codex send {} --again {}`)",
            message.instance_id, message.id
        ),
        (_, Some(reason)) => format!(", waits for {}", reason.phrase()),
        (_, None) => String::new(),
    };
    format!(
        "{} {} from {}: {}{}",
        readable(&message.created_at),
        message.kind,
        harmless(&message.sender),
        message.state,
        more,
    )
}

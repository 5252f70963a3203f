//! `claude-codex show`

use std::fmt::Write;

use clap::Args;
use serde::Serialize;
use shared::model::{
    Ending, InstanceId, InstanceKind, Message, MessageState, Review, Status, Task, Timestamp,
    Usage, Verdict,
};
use shared::store::EventRow;
use shared::workflow::{self, Activity, BoardRow, Context};

use super::events::{InstanceColumn, event_line};
use crate::board_table::{shown_activity, status_style};
use crate::command_context;
use crate::completion;
use crate::failure::Failure;
use crate::output::{BOLD, NAME, Output, PLAIN, WARNING};
use crate::text::{harmless, harmless_block};

/// How many of its latest events are shown.
const MAX_EVENTS: u32 = 20;
/// How much of its last screen is shown; `logs` has all of it.
const MAX_SCREEN_LINES: usize = 15;

const EXAMPLES: &str = "\
Examples:
  claude-codex show work-42-a1
  claude-codex show work-42-a1 --json | jq -r .worktreePath";

/// Show one agent: status, worktree, prompt, reviews, messages and latest events
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ShowArgs {
    /// The id of the agent, or a unique beginning of it
    #[arg(add = completion::agents())]
    id: InstanceId,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Details {
    #[serde(flatten)]
    agent: BoardRow,
    task: Option<Task>,
    /// How its last session ended.
    ending: Option<Ending>,
    /// All rounds of a coder; of a reviewer, only its own.
    review_rounds: Vec<Review>,
    messages: Vec<Message>,
    events: Vec<EventRow>,
}

pub(crate) async fn show(args: &ShowArgs, output: Output) -> Result<(), Failure> {
    let context = command_context::open(output).await?;
    let id = workflow::find_instance(&context, &args.id).await?;
    let details = details(&context, &id).await?;
    if output.is_json() {
        return output.document(&details);
    }
    output.print(&described(&details))
}

/// Returns the text that `show` prints.
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
                review_rounds
                    .retain(|round| round.review_instance_id.as_ref() == Some(&instance.id));
            }
            Ok(Details {
                task,
                ending: r.ending(&instance.id)?,
                review_rounds,
                messages: r.messages(&instance.id)?,
                events: r.latest_events(Some(&instance.id), MAX_EVENTS)?,
                agent: row,
            })
        })
        .await?;
    Ok(details)
}

/// Returns one agent with its activity.
async fn find(context: &Context, id: &InstanceId) -> Result<BoardRow, Failure> {
    let wanted = id.clone();
    // Read first, so that an unknown id gets its own error.
    let instance = context.store.read(move |r| r.instance(&wanted)).await?;
    Ok(workflow::board_row(context, instance).await?)
}

fn described(details: &Details) -> String {
    let BoardRow {
        instance, activity, ..
    } = &details.agent;
    let task = details.task.as_ref();
    let (doing, doing_style) = shown_activity(&details.agent);
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
    if let Some(attention) = details.agent.attention() {
        line("to do", &attention.sentence(), WARNING);
    }
    if *activity == Activity::TerminalUnreachable {
        line("to do", &workflow::advice_on_terminal(instance), WARNING);
    }
    if let Some(note) = &instance.note.sentence() {
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
    if let Some(usage) = &details.agent.usage {
        for (name, value) in usage_lines(usage) {
            line(name, &value, PLAIN);
        }
    }
    for (name, value) in optional {
        if let Some(value) = value {
            line(name, &value, PLAIN);
        }
    }
    let when = |time: Timestamp| format!("{} UTC, {} ago", time.readable(), time.age());
    line("created", &when(instance.created_at), PLAIN);
    line("active", &when(instance.last_activity), PLAIN);
    if let Some(completed) = instance.completed_at {
        line("ended", &when(completed), PLAIN);
    }
    text += &last_screen(details);
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
    let events = details
        .events
        .iter()
        .map(|event| event_line(event, InstanceColumn::Hidden));
    section(&mut text, "Latest events", events);
    text
}

/// Returns how an agent ended and the last lines of its terminal, if that explains something.
fn last_screen(details: &Details) -> String {
    let status = details.agent.instance.status;
    let ending = details.ending.as_ref();
    let Some(ending) = ending.filter(|ending| is_telling(ending, status)) else {
        return String::new();
    };
    let mut text = format!(
        "\n{BOLD}Last screen{BOLD:#} (the agent {})\n",
        ending.in_words()
    );
    for line in ending.last_lines(MAX_SCREEN_LINES) {
        let _ = writeln!(text, "  {}", harmless(line));
    }
    text
}

/// Tells whether the end of an agent needs an explanation; `logs` has the last screen of every one.
fn is_telling(ending: &Ending, status: Status) -> bool {
    !ending.screen.is_empty()
        && (status == Status::Failed || (!status.is_live() && ending.is_known()))
}

/// Returns what agents have used: models, tokens, cost, and how full the context of one is.
pub(super) fn usage_lines(usage: &Usage) -> Vec<(&'static str, String)> {
    let mut lines = vec![
        ("model", usage.models.join(", ")),
        ("tokens", usage.tokens_in_words()),
    ];
    if let Some(context) = usage.context {
        lines.push(("context", context.in_words()));
    }
    let unknown = usage.unpriced_models.join(", ");
    let cost = match usage.cost() {
        Some(cost) if unknown.is_empty() => format!("{cost} (estimate)"),
        Some(cost) => format!("{cost} (estimate; no price is known for {unknown})"),
        None => format!("no price is known for {unknown}; `agent.prices` sets one"),
    };
    lines.push(("cost", cost));
    lines
}

/// Adds a heading and its entries, if there are any.
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

/// Returns a round in one line, and its feedback below.
fn round_lines(round: &Review, most: u32) -> String {
    let number = match round.verdict {
        Verdict::Lost => "not counted".to_owned(),
        // Rounds of a person have no limit.
        _ if round.is_by_person() => format!("round {}", round.round),
        Verdict::Pending | Verdict::ChangesRequested | Verdict::Approved if most > 0 => {
            format!("round {} of {most}", round.round)
        }
        Verdict::Pending | Verdict::ChangesRequested | Verdict::Approved => {
            format!("round {}", round.round)
        }
    };
    let mut text = format!(
        "{} {number} by {} on {}: {}",
        round.requested_at.readable(),
        round.reviewer_name(),
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
            ": typed, but there is no proof that the agent received it (`claude-codex send {} --again {}`)",
            message.instance_id, message.id
        ),
        (_, Some(reason)) => format!(", waits for {}", reason.phrase()),
        (_, None) => String::new(),
    };
    format!(
        "{} {} from {}: {}{}",
        message.created_at.readable(),
        message.kind,
        harmless(&message.sender),
        message.state,
        more,
    )
}

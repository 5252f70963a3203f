//! `claude-codex list`

use std::collections::BTreeSet;

use anstyle::Style;
use clap::Args;
use shared::error::{Code, Error};
use shared::model::{Instance, Status};
use shared::workflow::{self, Activity, BoardRow, Rounds};

use crate::failure::Failure;
use crate::live::LiveLines;
use crate::output::{BAD, BOLD, DIM, GOOD, NAME, Output, PLAIN, WARNING, width};
use crate::session;
use crate::table::{Cell, Table};
use crate::text::first_line;
use crate::time::age;

const EXAMPLES: &str = "\
Examples:
  claude-codex list                   who is at work
  claude-codex list --all             also those that have ended
  claude-codex list --watch           a live table, with keys to attach, show and stop
  claude-codex list --json | jq -r '.[] | select(.activity.state == \"waitingForPerson\") | .id'";

/// List the agents and what they are doing
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ListArgs {
    /// Also list agents that have ended
    #[arg(long, short)]
    all: bool,
    /// Keep the table up to date, with keys to attach, show and stop
    #[arg(long, short)]
    watch: bool,
}

fn word(activity: &Activity) -> &'static str {
    match activity {
        Activity::Idle => "idle",
        Activity::Busy => "busy",
        Activity::WaitingForPerson { .. } => "waiting for a person",
        Activity::Gone => "gone",
        Activity::TerminalUnreachable => "its terminal can't be reached",
        Activity::Unknown => "unknown",
        Activity::Ended => "ended",
    }
}

pub(crate) async fn list(args: &ListArgs, output: Output) -> Result<(), Failure> {
    if args.watch && !LiveLines::are_possible(output) {
        return Err(Error::new(
            Code::InvalidArguments,
            "--watch needs a terminal to draw on",
        )
        .hint("Leave it out, or follow `claude-codex events --follow --json`.")
        .into());
    }
    if args.watch {
        let context = session::open(output).await?;
        return super::watch::watch(&context, args.all, output).await;
    }
    let context = session::open_as_it_is(output).await?;
    let look = workflow::look_around(&context, args.all).await?;
    session::tell(look.reconciled, output);
    let rows = look.rows;
    if output.is_json() {
        return output.document(&rows);
    }
    if rows.is_empty() {
        return output.print(nobody(args.all));
    }
    output.print(&table(&rows).render(width()))
}

/// What is said where there is nobody.
pub(super) fn nobody(all: bool) -> &'static str {
    if all {
        "There are no agents. `claude-codex code \"…\"` launches one.\n"
    } else {
        "No agent is at work. `claude-codex code \"…\"` launches one, `claude-codex list --all` shows ended ones.\n"
    }
}

/// Returns the board as a table.
pub(crate) fn table(rows: &[BoardRow]) -> Table {
    let repositories: BTreeSet<_> = rows.iter().map(|row| &row.instance.repository).collect();
    let many = repositories.len() > 1;
    let mut titles = vec!["ID", "KIND", "STATUS", "ACTIVITY", "AGE"];
    if many {
        titles.push("REPOSITORY");
    }
    let reviewed = rows.iter().any(|row| row.reviews.is_some());
    if reviewed {
        titles.push("REVIEWS");
    }
    titles.extend(["BRANCH", "TASK"]);
    let mut table = Table::new(&titles);
    for row in rows {
        let instance = &row.instance;
        let (mut doing, mut style) = shown_activity(&row.activity);
        if row.unconfirmed_messages > 0 {
            doing = format!("{doing}, {} unconfirmed", row.unconfirmed_messages);
            style = WARNING;
        }
        let mut cells = vec![
            Cell::styled(instance.id.as_str(), NAME),
            Cell::new(instance.kind.as_str()),
            Cell::styled(instance.status.as_str(), status_style(instance.status)),
            Cell::styled(doing, style),
            Cell::new(age(&instance.created_at)),
        ];
        if many {
            let name = instance.repository.file_name().unwrap_or_default();
            cells.push(Cell::new(name.to_string_lossy()));
        }
        if reviewed {
            let (text, style) = shown_rounds(row.reviews);
            cells.push(Cell::styled(text, style));
        }
        cells.push(Cell::new(instance.branch_name.as_deref().unwrap_or("-")));
        cells.push(Cell::styled(subject(instance), DIM));
        table.row(cells);
    }
    table
}

/// Returns in one line what an agent is about.
fn subject(instance: &Instance) -> String {
    if let Some(coder) = &instance.parent_instance_id {
        return format!("reviews {coder}");
    }
    let text = first_line(&instance.prompt);
    match (instance.issue_number, &instance.task_id) {
        (Some(number), _) => format!("#{number} {text}"),
        (None, Some(task)) => format!("{task} {text}"),
        (None, None) => text,
    }
}

/// Returns how an activity is shown.
pub(super) fn shown_activity(activity: &Activity) -> (String, Style) {
    match activity {
        Activity::WaitingForPerson { on } => {
            (format!("{}: {}", word(activity), first_line(on)), WARNING)
        }
        Activity::Busy => (word(activity).to_owned(), GOOD),
        Activity::Gone => (word(activity).to_owned(), BAD),
        Activity::TerminalUnreachable => (word(activity).to_owned(), WARNING),
        Activity::Idle => (word(activity).to_owned(), PLAIN),
        Activity::Unknown | Activity::Ended => ("-".to_owned(), DIM),
    }
}

/// Returns how a coder's review rounds are shown: a person has to look where none is left.
fn shown_rounds(rounds: Option<Rounds>) -> (String, Style) {
    match rounds {
        None => ("-".to_owned(), DIM),
        Some(rounds) if rounds.are_used_up() => (
            format!("{} of {}: limit", rounds.used, rounds.most),
            WARNING,
        ),
        Some(rounds) => (format!("{} of {}", rounds.used, rounds.most), PLAIN),
    }
}

/// Returns how a status is shown.
pub(super) fn status_style(status: Status) -> Style {
    match status {
        Status::Running | Status::Started => GOOD,
        Status::Failed => BAD,
        Status::PrCreated | Status::PrMerged | Status::Completed => BOLD,
        Status::Terminated | Status::PrClosed => DIM,
        Status::WaitingReview
        | Status::UnderReview
        | Status::FeedbackReceived
        | Status::CreatingPr => NAME,
    }
}

//! The board, a table of agents: how `list`, `list --watch`, `show` and the demo print status and activity.

use std::collections::BTreeSet;

use anstyle::Style;
use shared::model::{Instance, Status, Usage};
use shared::workflow::{Activity, BoardRow, Rounds};

use crate::output::{BAD, BOLD, DIM, GOOD, NAME, PLAIN, WARNING};
use crate::table::{Cell, Table};
use crate::text::first_line;

/// The text printed instead of an empty table.
pub(crate) fn no_agents(all: bool) -> &'static str {
    if all {
        "There are no agents. `claude-codex code \"…\"` launches one.\n"
    } else {
        "No agents are running. `claude-codex code \"…\"` launches one; `claude-codex list --all` lists ended ones.\n"
    }
}

/// Terminals with fewer columns get fewer columns of the table.
const WIDE: usize = 120;

/// Returns the board as a table.
pub(crate) fn board_table(rows: &[BoardRow]) -> Table {
    table(rows, true)
}

/// Returns the board for a terminal of some width: a narrow one has no room for kind and branch, which the id tells.
pub(crate) fn compact_board_table(rows: &[BoardRow], width: usize) -> Table {
    table(rows, width >= WIDE)
}

fn table(rows: &[BoardRow], wide: bool) -> Table {
    let repositories: BTreeSet<_> = rows.iter().map(|row| &row.instance.repository).collect();
    let many = repositories.len() > 1;
    let mut titles = vec!["ID"];
    if wide {
        titles.push("KIND");
    }
    titles.extend(["STATUS", "ACTIVITY", "AGE"]);
    if many {
        titles.push("REPOSITORY");
    }
    let reviewed = rows.iter().any(|row| row.reviews.is_some());
    if reviewed {
        titles.push("REVIEWS");
    }
    let used = rows.iter().any(|row| row.usage.is_some());
    if used {
        titles.push("COST");
    }
    if wide {
        titles.push("BRANCH");
    }
    titles.push("TASK");
    let mut table = Table::new(&titles);
    for row in rows {
        let instance = &row.instance;
        let (mut doing, mut style) = shown_activity(row);
        if row.unconfirmed_messages > 0 {
            doing = format!("{doing}, {} unconfirmed", row.unconfirmed_messages);
            style = WARNING;
        }
        let mut cells = vec![Cell::styled(instance.id.as_str(), NAME)];
        if wide {
            cells.push(Cell::new(instance.kind.as_str()));
        }
        cells.extend([
            Cell::styled(instance.status.as_str(), status_style(instance.status)),
            Cell::styled(doing, style),
            Cell::new(instance.created_at.age()),
        ]);
        if many {
            let name = instance.repository.file_name().unwrap_or_default();
            cells.push(Cell::new(name.to_string_lossy()));
        }
        if reviewed {
            let (text, style) = shown_rounds(row.reviews);
            cells.push(Cell::styled(text, style));
        }
        if used {
            let cost = row.usage.as_ref().map(Usage::in_short);
            cells.push(Cell::new(cost.as_deref().unwrap_or("-")));
        }
        if wide {
            cells.push(Cell::new(instance.branch_name.as_deref().unwrap_or("-")));
        }
        cells.push(Cell::styled(subject(instance), DIM));
        table.row(cells);
    }
    table
}

/// Returns the subject of an agent in one line.
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

/// Returns the text and style of what an agent waits for, or else of what it is doing.
pub(crate) fn shown_activity(row: &BoardRow) -> (String, Style) {
    match row.attention() {
        Some(attention) if attention.is_urgent() => {
            let text = format!("waiting for a person: {}", attention.short());
            (text, WARNING)
        }
        Some(attention) => (attention.short(), WARNING),
        None => doing(&row.activity),
    }
}

fn doing(activity: &Activity) -> (String, Style) {
    let (text, style) = match activity {
        Activity::WaitingForPerson { .. } => ("waiting for a person", WARNING),
        Activity::Busy => ("busy", GOOD),
        Activity::Gone => ("gone", BAD),
        Activity::TerminalUnreachable => ("terminal unreachable", WARNING),
        Activity::Idle => ("idle", PLAIN),
        Activity::Unknown | Activity::Ended => ("-", DIM),
    };
    (text.to_owned(), style)
}

/// Returns the text and style of a coder's review rounds. Where none is left, a person has to decide.
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

/// Returns the style of a status.
pub(crate) fn status_style(status: Status) -> Style {
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

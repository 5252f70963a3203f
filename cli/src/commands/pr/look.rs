//! Reading pull requests.

use std::fmt::Write;
use std::io::{self, IsTerminal};

use anstyle::Style;
use serde_json::json;
use shared::model::{PullRequest, PullState};
use shared::workflow;

use crate::failure::Failure;
use crate::output::{BAD, BOLD, DIM, GOOD, NAME, Output, PLAIN, width};
use crate::session;
use crate::table::{Cell, Table};
use crate::text::{harmless, harmless_block};
use crate::time::{age, readable};

/// The longest diff that is printed.
const MOST_BYTES: usize = 20 << 20;

pub(super) async fn list(
    state: Option<PullState>,
    limit: usize,
    output: Output,
) -> Result<(), Failure> {
    let context = session::open(output).await?;
    let pulls = workflow::pulls(&context, state, limit).await?;
    if output.is_json() {
        return output.document(&pulls);
    }
    if pulls.is_empty() {
        return output.print(&match state {
            Some(state) => format!(
                "No pull request is {state}. `claude-codex pr list --state all` lists every one.\n"
            ),
            None => "There are no pull requests.\n".to_owned(),
        });
    }
    output.print(&table(&pulls).render(width()))
}

fn table(pulls: &[PullRequest]) -> Table {
    let mut table = Table::new(&["N", "STATE", "UPDATED", "BRANCH", "INTO", "TITLE"]);
    for pull in pulls {
        table.row(vec![
            Cell::styled(pull.number.to_string(), NAME),
            Cell::styled(state_word(pull), state_style(pull.state)),
            Cell::styled(age(&pull.updated_at), DIM),
            Cell::new(&pull.head_branch),
            Cell::new(&pull.base_branch),
            Cell::new(&pull.title),
        ]);
    }
    table
}

fn state_word(pull: &PullRequest) -> &'static str {
    if pull.draft && pull.state == PullState::Open {
        "draft"
    } else {
        pull.state.as_str()
    }
}

pub(super) fn state_style(state: PullState) -> Style {
    match state {
        PullState::Open => GOOD,
        PullState::Closed => DIM,
        PullState::Merged => BOLD,
    }
}

pub(super) async fn show(number: u64, output: Output) -> Result<(), Failure> {
    let context = session::open(output).await?;
    let pull = workflow::pull(&context, number).await?;
    if output.is_json() {
        return output.document(&pull);
    }
    output.print(&description(&pull))
}

fn description(pull: &PullRequest) -> String {
    let mut text = format!(
        "{NAME}#{}{NAME:#} {BOLD}{}{BOLD:#}\n",
        pull.number,
        harmless(&pull.title)
    );
    let mut line = |name: &str, value: &str, style: Style| {
        let value = harmless(value);
        // Writing to a String does not fail.
        let _ = writeln!(text, "  {DIM}{name:<8}{DIM:#} {style}{value}{style:#}");
    };
    line("state", state_word(pull), state_style(pull.state));
    line(
        "branch",
        &format!("{} into {}", pull.head_branch, pull.base_branch),
        PLAIN,
    );
    line("commit", &pull.head_commit, PLAIN);
    if let Some(commit) = &pull.merge_commit {
        line("merged", commit, PLAIN);
    }
    line("address", &pull.url, PLAIN);
    for (name, time) in [("created", &pull.created_at), ("updated", &pull.updated_at)] {
        let when = format!("{} UTC, {} ago", readable(time), age(time));
        line(name, &when, PLAIN);
    }
    if !pull.body.trim().is_empty() {
        let _ = writeln!(text);
        for line in harmless_block(pull.body.trim()).lines() {
            let _ = writeln!(text, "  {line}");
        }
    }
    text
}

pub(super) async fn diff(number: u64, output: Output) -> Result<(), Failure> {
    let context = session::open(output).await?;
    let diff = workflow::pull_diff(&context, number, MOST_BYTES).await?;
    if output.is_json() {
        return output.document(&json!({ "number": number, "diff": diff }));
    }
    if !io::stdout().is_terminal() {
        // For another program, which wants it to the byte.
        return output.raw(&diff);
    }
    let mut text = String::new();
    for line in diff.lines() {
        let style = line_style(line);
        // A tab of code is wider than the one space that a cleaned line would have for it.
        let line = harmless(&line.replace('\t', "    "));
        let _ = writeln!(text, "{style}{line}{style:#}");
    }
    output.print(&text)
}

fn line_style(line: &str) -> Style {
    match line.as_bytes() {
        [b'd', b'i', b'f', b'f', b' ', ..] | [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => {
            BOLD
        }
        [b'@', b'@', ..] => NAME,
        [b'+', ..] => GOOD,
        [b'-', ..] => BAD,
        _ => PLAIN,
    }
}

//! `claude-codex pr show`

use std::fmt::Write;

use anstyle::Style;
use serde::Serialize;
use shared::model::pull_request::is_local_url;
use shared::model::{BaseProblem, Mergeable, PullRequest, Usage};
use shared::workflow::{self, Standing};

use super::list::{standing_style, state_style, state_word};
use crate::command_context;
use crate::commands::show::usage_lines;
use crate::failure::Failure;
use crate::output::{BOLD, DIM, NAME, Output, PLAIN};
use crate::text::{harmless, harmless_block};

/// A pull request, and what its agent and that agent's reviewers have used.
#[derive(Serialize)]
struct Details {
    #[serde(flatten)]
    pull: PullRequest,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    standing: Option<Standing>,
}

pub(super) async fn show(number: u64, output: Output) -> Result<(), Failure> {
    let context = command_context::open(output).await?;
    let pull = workflow::pull(&context, number).await?;
    let mut usage = workflow::pull_usage(&context, vec![pull.url.clone()]).await?;
    let usage = usage.remove(&pull.url);
    let standings = workflow::standings(&context, std::slice::from_ref(&pull)).await?;
    let standing = standings.into_iter().next().flatten();
    let details = Details {
        pull,
        usage,
        standing,
    };
    if output.is_json() {
        return output.document(&details);
    }
    output.print(&description(&details))
}

fn description(details: &Details) -> String {
    let pull = &details.pull;
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
    for (name, value) in details
        .standing
        .iter()
        .flat_map(|it| standing_lines(it, pull))
    {
        let style = if name == "approved" {
            PLAIN
        } else {
            standing_style(details.standing.as_ref())
        };
        line(name, &value, style);
    }
    line("address", &pull.url, PLAIN);
    for (name, time) in [("created", &pull.created_at), ("updated", &pull.updated_at)] {
        let when = format!("{} UTC, {} ago", time.readable(), time.age());
        line(name, &when, PLAIN);
    }
    for (name, value) in details.usage.iter().flat_map(usage_lines) {
        line(name, &value, PLAIN);
    }
    if !pull.body.trim().is_empty() {
        let _ = writeln!(text);
        for line in harmless_block(pull.body.trim()).lines() {
            let _ = writeln!(text, "  {line}");
        }
    }
    text
}

/// Says how an open pull request stands, and what can be done about it.
fn standing_lines(standing: &Standing, pull: &PullRequest) -> Vec<(&'static str, String)> {
    let (number, base) = (pull.number, &pull.base_branch);
    let mut lines = Vec::new();
    let phrases = standing.phrases(base);
    if !phrases.is_empty() {
        lines.push(("standing", phrases.join(", ")));
    }
    if standing.behind.is_none() && !is_local_url(&pull.url) {
        lines.push((
            "behind",
            format!("unknown: GitHub does not say how many commits of {base} it lacks"),
        ));
    }
    if standing.conflicts.len() > 1 {
        lines.push(("files", standing.conflicts.join(", ")));
    }
    if let Some(approval) = &standing.approval {
        let by = match &approval.by {
            Some(reviewer) => reviewer.to_string(),
            None => "a person".to_owned(),
        };
        lines.push(("approved", format!("{} by {by}", approval.commit)));
    }
    if let Some(problem) = standing.obstacle {
        let close = format!("`claude-codex pr close {number}`");
        lines.push((
            "next",
            match (problem, &standing.base_commit) {
                (BaseProblem::Gone, Some(commit)) => {
                    format!("`git branch {base} {commit}` brings it back, or {close}")
                }
                _ => close,
            },
        ));
    } else if standing.new_commits > 0 {
        lines.push(("next", format!("`claude-codex pr update {number}`")));
    } else if standing.mergeable == Mergeable::Conflicting {
        lines.push(("next", format!("`claude-codex pr resolve {number}`")));
    }
    lines
}

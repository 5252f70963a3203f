//! `claude-codex pr list`

use anstyle::Style;
use serde::Serialize;
use shared::model::{Mergeable, PullRequest, PullState};
use shared::workflow::{self, Standing};

use crate::command_context;
use crate::failure::Failure;
use crate::output::{BOLD, DIM, GOOD, NAME, Output, PLAIN, WARNING, width};
use crate::table::{Cell, Table};

/// A pull request, and how it stands if it is open.
#[derive(Serialize)]
struct Listed {
    #[serde(flatten)]
    pull: PullRequest,
    #[serde(skip_serializing_if = "Option::is_none")]
    standing: Option<Standing>,
}

pub(super) async fn list(
    state: Option<PullState>,
    limit: usize,
    output: Output,
) -> Result<(), Failure> {
    let context = command_context::open(output).await?;
    let pulls = workflow::pulls(&context, state, limit).await?;
    let standings = workflow::standings(&context, &pulls).await?;
    let pulls: Vec<Listed> = pulls
        .into_iter()
        .zip(standings)
        .map(|(pull, standing)| Listed { pull, standing })
        .collect();
    if output.is_json() {
        return output.document(&pulls);
    }
    if pulls.is_empty() {
        return output.print(&match state {
            Some(state) => format!(
                "There are no pull requests with state {state}. `claude-codex pr list --state all` lists all.\n"
            ),
            None => "There are no pull requests.\n".to_owned(),
        });
    }
    output.print(&table(&pulls).render(width()))
}

fn table(pulls: &[Listed]) -> Table {
    let mut table = Table::new(&[
        "N", "STATE", "UPDATED", "BRANCH", "INTO", "STANDING", "TITLE",
    ]);
    for Listed { pull, standing } in pulls {
        let phrases = standing
            .as_ref()
            .map(|standing| standing.phrases(&pull.base_branch))
            .unwrap_or_default();
        table.row(vec![
            Cell::styled(pull.number.to_string(), NAME),
            Cell::styled(state_word(pull), state_style(pull.state)),
            Cell::styled(pull.updated_at.age(), DIM),
            Cell::new(&pull.head_branch),
            Cell::new(&pull.base_branch),
            Cell::styled(phrases.join(", "), standing_style(standing.as_ref())),
            Cell::new(&pull.title),
        ]);
    }
    table
}

/// Marks what keeps a pull request from being merged.
pub(super) fn standing_style(standing: Option<&Standing>) -> Style {
    let is_stuck = |standing: &Standing| {
        matches!(
            standing.mergeable,
            Mergeable::Conflicting | Mergeable::Blocked
        ) || standing.obstacle.is_some()
            || standing.new_commits > 0
    };
    if standing.is_some_and(is_stuck) {
        WARNING
    } else {
        PLAIN
    }
}

pub(super) fn state_word(pull: &PullRequest) -> &'static str {
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

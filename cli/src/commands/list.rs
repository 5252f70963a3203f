//! `claude-codex list`

use std::collections::BTreeSet;

use clap::Args;
use shared::error::{Code, Error};
use shared::model::{PullState, Status};
use shared::workflow::{self, Context};

use crate::board_table::{board_table, no_agents};
use crate::command_context;
use crate::failure::Failure;
use crate::live_region::LiveRegion;
use crate::output::{DIM, Output, width};
use crate::text::count;

/// More are not counted.
const MAX_PULLS: usize = 1_000;

const EXAMPLES: &str = "\
Examples:
  claude-codex list                   list running agents
  claude-codex list --all             also list ended agents
  claude-codex list --watch           show a live table; ? lists its keys
  claude-codex list --json | jq -r '.[] | select(.activity.state == \"waitingForPerson\") | .id'";

/// List the agents and what they are doing
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ListArgs {
    /// Also list ended agents
    #[arg(long, short)]
    all: bool,
    /// Keep the table up to date, with keys to attach, peek, send, merge and more
    #[arg(long, short)]
    watch: bool,
}

pub(crate) async fn list(args: &ListArgs, output: Output) -> Result<(), Failure> {
    if args.watch && !LiveRegion::is_possible(output) {
        return Err(
            Error::new(Code::InvalidArguments, "--watch needs a terminal")
                .hint("Leave it out, or use `claude-codex events --follow --json`.")
                .into(),
        );
    }
    if args.watch {
        let context = command_context::open(output).await?;
        return Box::pin(super::watch::watch(&context, args.all, output)).await;
    }
    let context = command_context::open_without_reconcile(output).await?;
    let look = workflow::reconcile_and_list(&context, args.all).await?;
    command_context::report_reconciled(look.reconciled, output);
    let rows = look.rows;
    if output.is_json() {
        return output.document(&rows);
    }
    if rows.is_empty() {
        output.print(no_agents(args.all))?;
    } else {
        output.print(&board_table(&rows).render(width()))?;
    }
    match open_pulls(&context).await? {
        0 => Ok(()),
        open => output.print(&format!(
            "{DIM}{} open: `claude-codex pr list`{DIM:#}\n",
            count(open, "pull request is", "pull requests are")
        )),
    }
}

/// Counts the open pull requests of this repository that are known here: GitHub is not asked.
async fn open_pulls(context: &Context) -> Result<usize, Error> {
    let Ok(repository) = context.repository() else {
        return Ok(0);
    };
    let key = Context::repository_key(repository.root());
    let numbers = context
        .store
        .read(move |r| {
            let local = r.pull_requests(&key, Some(PullState::Open), MAX_PULLS)?;
            let mut numbers: BTreeSet<u64> = local.iter().map(|pull| pull.number).collect();
            let published = r.published(&key)?;
            let published = published
                .iter()
                .filter(|instance| instance.status == Status::PrCreated);
            numbers.extend(published.filter_map(|instance| instance.pr_number));
            Ok(numbers)
        })
        .await?;
    Ok(numbers.len())
}

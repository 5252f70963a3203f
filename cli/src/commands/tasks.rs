//! `claude-codex tasks`

use anstyle::Style;
use clap::Args;
use shared::model::{Priority, Task, TaskStatus};
use shared::workflow::Context;

use crate::failure::Failure;
use crate::output::{BOLD, DIM, GOOD, NAME, Output, PLAIN, WARNING, width};
use crate::session;
use crate::table::{Cell, Table};

/// How many people are shown unless they ask for more.
const SHOWN: u64 = 50;
/// All: more than any table holds.
const ALL: u64 = 1 << 32;

const EXAMPLES: &str = "\
Examples:
  claude-codex tasks
  claude-codex tasks --ready          what can begin now
  claude-codex tasks --limit 200
  claude-codex code --task task-1a2b3c4d";

/// List the planned tasks of this repository: what can begin first, then by state, priority and age
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TasksArgs {
    /// Only those that wait for nothing
    #[arg(long)]
    ready: bool,
    /// How many to list [default: 50; with --json all]
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u64).range(1..=ALL))]
    limit: Option<u64>,
    /// List all of them
    #[arg(long, short, conflicts_with = "limit")]
    all: bool,
}

impl TasksArgs {
    /// Returns how many to list. Programs get all: they could not see that some are missing.
    fn most(&self, output: Output) -> u64 {
        match self.limit {
            Some(limit) => limit,
            None if self.all || output.is_json() => ALL,
            None => SHOWN,
        }
    }
}

pub(crate) async fn tasks(args: &TasksArgs, output: Output) -> Result<(), Failure> {
    let context = session::open(output).await?;
    let repository = Context::repository_key(context.repository()?.root());
    let (ready, most) = (args.ready, args.most(output));
    let page = context
        .store
        .read(move |r| r.tasks_by_place(&repository, ready, 0, most))
        .await?;
    if output.is_json() {
        return output.document(&page.tasks);
    }
    if page.tasks.is_empty() {
        return output.print(if ready {
            "No task is ready. `claude-codex tasks` lists all.\n"
        } else {
            "There are no tasks. `claude-codex plan \"…\"` launches an agent that makes some.\n"
        });
    }
    output.print(&table(&page.tasks).render(width()))?;
    match page.total - page.tasks.len() as u64 {
        0 => Ok(()),
        more => output.print(&format!(
            "{DIM}{more} more: `claude-codex tasks{} --limit N`, or `--all`.{DIM:#}\n",
            if ready { " --ready" } else { "" }
        )),
    }
}

fn table(tasks: &[Task]) -> Table {
    let mut table = Table::new(&["ID", "STATUS", "PRIORITY", "HOURS", "WAITS FOR", "TITLE"]);
    for task in tasks {
        let waits = task.depends_on.iter().map(ToString::to_string);
        let waits = waits.collect::<Vec<_>>().join(" ");
        let status = if task.ready {
            "ready"
        } else {
            task.status.as_str()
        };
        table.row(vec![
            Cell::styled(task.id.as_str(), NAME),
            Cell::styled(status, status_style(task)),
            Cell::styled(task.priority.as_str(), priority_style(task.priority)),
            Cell::new(
                task.estimated_hours
                    .map_or("-".to_owned(), |hours| hours.to_string()),
            ),
            Cell::styled(if waits.is_empty() { "-" } else { &waits }, DIM),
            Cell::new(&task.title),
        ]);
    }
    table
}

fn status_style(task: &Task) -> Style {
    match task.status {
        TaskStatus::Open if task.ready => GOOD,
        TaskStatus::Open => PLAIN,
        TaskStatus::InProgress => BOLD,
        TaskStatus::Done | TaskStatus::Cancelled => DIM,
    }
}

fn priority_style(priority: Priority) -> Style {
    match priority {
        Priority::High => WARNING,
        Priority::Medium => PLAIN,
        Priority::Low => DIM,
    }
}

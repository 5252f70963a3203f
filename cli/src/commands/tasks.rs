//! `claude-codex tasks`

use anstyle::Style;
use clap::Args;
use shared::model::{Priority, Task, TaskStatus};
use shared::workflow::Context;

use crate::failure::Failure;
use crate::output::{BOLD, DIM, GOOD, NAME, Output, PLAIN, WARNING, width};
use crate::session;
use crate::table::{Cell, Table};

/// How many are read at once.
const PAGE: u64 = 500;

const EXAMPLES: &str = "\
Examples:
  claude-codex tasks
  claude-codex tasks --ready          what can begin now
  claude-codex code --task task-1a2b3c4d";

/// List the planned tasks of this repository
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TasksArgs {
    /// Only those that wait for nothing
    #[arg(long)]
    ready: bool,
}

pub(crate) async fn tasks(args: &TasksArgs, output: Output) -> Result<(), Failure> {
    let context = session::open(output).await?;
    let repository = Context::repository_key(context.repository()?.root());
    let ready = args.ready;
    let tasks = context
        .store
        .read(move |r| {
            let mut tasks = Vec::new();
            let mut next = Some(0);
            while let Some(offset) = next {
                let page = r.tasks(&repository, ready, offset, PAGE)?;
                tasks.extend(page.tasks);
                next = page.next_offset;
            }
            Ok(tasks)
        })
        .await?;
    if output.is_json() {
        return output.document(&tasks);
    }
    if tasks.is_empty() {
        return output.print(if ready {
            "No task is ready. `claude-codex tasks` lists all.\n"
        } else {
            "There are no tasks. `claude-codex plan \"…\"` launches an agent that makes some.\n"
        });
    }
    output.print(&table(&tasks).render(width()))
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

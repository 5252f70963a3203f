//! `claude-codex tasks`: the planned work of a repository, listed, and changed by a person.

mod edit;

use anstyle::Style;
use clap::{Args, Subcommand};
use serde::Serialize;
use shared::model::{Priority, Task, TaskStatus, Usage};
use shared::workflow::{self, Context, TaskMove};

use self::edit::{AddArgs, EditArgs, TaskArgs};
use crate::command_context;
use crate::failure::Failure;
use crate::output::{BOLD, DIM, GOOD, NAME, Output, PLAIN, WARNING, width};
use crate::table::{Cell, Table};

/// How many tasks are listed by default.
const DEFAULT_LIMIT: u64 = 50;
/// More than any table has rows.
const NO_LIMIT: u64 = 1 << 32;

const EXAMPLES: &str = "\
Examples:
  claude-codex tasks
  claude-codex tasks --ready          tasks that can start now
  claude-codex tasks --limit 200
  claude-codex tasks add \"Document the API\" --priority high --depends-on task-1a2b
  claude-codex tasks edit task-1a2b --priority low
  claude-codex tasks close task-1a2b
  claude-codex code --task task-1a2b3c4d";

/// List the planned tasks of this repository (ready ones first, then by status, priority and age), or change them
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct TasksArgs {
    #[command(subcommand)]
    command: Option<TasksCommand>,
    #[command(flatten)]
    list: ListArgs,
}

#[derive(Debug, Subcommand)]
enum TasksCommand {
    /// Plan a task
    Add(AddArgs),
    /// Change a task
    Edit(EditArgs),
    /// Show one task
    Show(TaskArgs),
    /// Mark a task as done
    Close(TaskArgs),
    /// Open a done or cancelled task again
    Reopen(TaskArgs),
    /// Give a task up
    Cancel(TaskArgs),
}

#[derive(Debug, Args)]
struct ListArgs {
    /// Only tasks whose dependencies are done
    #[arg(long)]
    ready: bool,
    /// How many to list [default: 50; with --json all]
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u64).range(1..=NO_LIMIT))]
    limit: Option<u64>,
    /// List all of them
    #[arg(long, short, conflicts_with = "limit")]
    all: bool,
}

impl ListArgs {
    /// Returns how many to list. JSON has all by default, because a program would not notice that some are missing.
    fn limit(&self, output: Output) -> u64 {
        match self.limit {
            Some(limit) => limit,
            None if self.all || output.is_json() => NO_LIMIT,
            None => DEFAULT_LIMIT,
        }
    }
}

/// A task, and what its agents have used.
#[derive(Serialize)]
struct Row {
    #[serde(flatten)]
    task: Task,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
}

pub(crate) async fn tasks(args: TasksArgs, output: Output) -> Result<(), Failure> {
    match args.command {
        None => list(&args.list, output).await,
        Some(TasksCommand::Add(args)) => edit::add(args, output).await,
        Some(TasksCommand::Edit(args)) => edit::edit(args, output).await,
        Some(TasksCommand::Show(args)) => edit::show(&args, output).await,
        Some(TasksCommand::Close(args)) => edit::move_task(&args, TaskMove::Close, output).await,
        Some(TasksCommand::Reopen(args)) => edit::move_task(&args, TaskMove::Reopen, output).await,
        Some(TasksCommand::Cancel(args)) => edit::move_task(&args, TaskMove::Cancel, output).await,
    }
}

async fn list(args: &ListArgs, output: Output) -> Result<(), Failure> {
    let context = command_context::open(output).await?;
    let repository = Context::repository_key(context.repository()?.root());
    let (ready, limit) = (args.ready, args.limit(output));
    let page = context
        .store
        .read(move |r| r.tasks_by_place(&repository, ready, 0, limit))
        .await?;
    let ids = page.tasks.iter().map(|task| task.id.clone()).collect();
    let mut usage = workflow::task_usage(&context, ids).await?;
    let tasks = page.tasks.into_iter().map(|task| Row {
        usage: usage.remove(&task.id),
        task,
    });
    let tasks: Vec<Row> = tasks.collect();
    if output.is_json() {
        return output.document(&tasks);
    }
    if tasks.is_empty() {
        return output.print(if ready {
            "No task is ready. `claude-codex tasks` lists all.\n"
        } else {
            "There are no tasks. `claude-codex plan \"…\"` launches an agent that plans some; `claude-codex tasks add \"…\"` adds one.\n"
        });
    }
    output.print(&table(&tasks).render(width()))?;
    match page.total - tasks.len() as u64 {
        0 => Ok(()),
        more => output.print(&format!(
            "{DIM}{more} more: `claude-codex tasks{} --all` lists them, too.{DIM:#}\n",
            if ready { " --ready" } else { "" }
        )),
    }
}

fn table(rows: &[Row]) -> Table {
    let mut titles = vec!["ID", "STATUS", "PRIORITY", "HOURS", "WAITS FOR"];
    let used = rows.iter().any(|row| row.usage.is_some());
    if used {
        titles.push("COST");
    }
    titles.push("TITLE");
    let mut table = Table::new(&titles);
    for Row { task, usage } in rows {
        let waits = task.depends_on.iter().map(ToString::to_string);
        let waits = waits.collect::<Vec<_>>().join(" ");
        let status = if task.ready {
            "ready"
        } else {
            task.status.as_str()
        };
        let mut cells = vec![
            Cell::styled(task.id.as_str(), NAME),
            Cell::styled(status, status_style(task)),
            Cell::styled(task.priority.as_str(), priority_style(task.priority)),
            Cell::new(
                task.estimated_hours
                    .map_or("-".to_owned(), |hours| hours.to_string()),
            ),
            Cell::styled(if waits.is_empty() { "-" } else { &waits }, DIM),
        ];
        if used {
            let cost = usage.as_ref().map(Usage::in_short);
            cells.push(Cell::new(cost.as_deref().unwrap_or("-")));
        }
        cells.push(Cell::new(&task.title));
        table.row(cells);
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

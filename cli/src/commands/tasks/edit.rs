//! `claude-codex tasks add`, `edit`, `show`, `close`, `reopen` and `cancel`

use std::fmt::Write;

use clap::Args;
use serde_json::{Value, json};
use shared::error::{Code, Error};
use shared::model::{Priority, Task, TaskId};
use shared::workflow::{self, Context, Run, TaskEdit, TaskMove};

use super::{priority_style, status_style};
use crate::command_context::{self, EventRecord};
use crate::commands::code::read_prompt;
use crate::completion;
use crate::failure::Failure;
use crate::output::{BOLD, NAME, Output};
use crate::progress::Progress;
use crate::text::{harmless, harmless_block};

/// What a task is about.
#[derive(Debug, Args)]
struct AboutArgs {
    /// What is to be done, for the agent that does it; `-` reads it from standard input
    #[arg(long, short, value_name = "TEXT")]
    description: Option<String>,
    /// low, medium or high
    #[arg(long, short)]
    priority: Option<Priority>,
    /// An estimate
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    hours: Option<f64>,
    /// Tasks that must be done before it
    #[arg(long, value_name = "ID", num_args = 1.., add = completion::tasks())]
    depends_on: Option<Vec<TaskId>>,
}

#[derive(Debug, Args)]
pub(super) struct AddArgs {
    /// What it is, in a line
    title: String,
    #[command(flatten)]
    about: AboutArgs,
}

#[derive(Debug, Args)]
pub(super) struct EditArgs {
    #[command(flatten)]
    task: TaskArgs,
    /// Another title
    #[arg(long)]
    title: Option<String>,
    #[command(flatten)]
    about: AboutArgs,
    /// It waits for no other task any more
    #[arg(long, conflicts_with = "depends_on")]
    no_dependencies: bool,
}

#[derive(Debug, Args)]
pub(super) struct TaskArgs {
    /// The id of the task, or a unique beginning of it
    #[arg(add = completion::tasks())]
    id: TaskId,
}

impl AboutArgs {
    async fn edit(self, context: &Context, title: Option<String>) -> Result<TaskEdit, Failure> {
        let mut depends_on = None;
        for id in self.depends_on.iter().flatten() {
            let found = workflow::find_task(context, id).await?.to_string();
            depends_on.get_or_insert_with(Vec::new).push(found);
        }
        Ok(TaskEdit {
            title,
            description: self.description.map(read_prompt).transpose()?,
            priority: self.priority,
            estimated_hours: self.hours,
            no_estimate: false,
            depends_on,
        })
    }
}

pub(super) async fn add(args: AddArgs, output: Output) -> Result<(), Failure> {
    let context = command_context::open(output).await?;
    let edit = args.about.edit(&context, Some(args.title)).await?;
    let parameters = json!({ "title": edit.title });
    let work = async |run: &Run| workflow::add_task(&context, run, edit).await;
    let task = recorded(&context, "tasks add", parameters, work, output).await?;
    if output.is_json() {
        return output.document(&task);
    }
    let id = &task.id;
    let next = if task.ready {
        format!("; `claude-codex code --task {id}` launches an agent for it")
    } else {
        String::new()
    };
    output.print(&format!("{NAME}{id}{NAME:#} is planned{next}\n"))
}

pub(super) async fn edit(args: EditArgs, output: Output) -> Result<(), Failure> {
    let context = command_context::open(output).await?;
    let id = workflow::find_task(&context, &args.task.id).await?;
    let mut edit = args.about.edit(&context, args.title).await?;
    if args.no_dependencies {
        edit.depends_on = Some(Vec::new());
    }
    let nothing = edit.title.is_none()
        && edit.description.is_none()
        && edit.priority.is_none()
        && edit.estimated_hours.is_none()
        && edit.depends_on.is_none();
    if nothing {
        return Err(
            Error::new(Code::InvalidArguments, "nothing is to be changed")
                .hint("`claude-codex tasks edit --help` lists what can be.")
                .into(),
        );
    }
    let work = async |run: &Run| workflow::edit_task(&context, run, &id, edit).await;
    let task = recorded(&context, "tasks edit", json!({ "id": id }), work, output).await?;
    if output.is_json() {
        return output.document(&task);
    }
    output.print(&described(&task))
}

pub(super) async fn move_task(
    args: &TaskArgs,
    to: TaskMove,
    output: Output,
) -> Result<(), Failure> {
    let context = command_context::open(output).await?;
    let id = workflow::find_task(&context, &args.id).await?;
    let name = match to {
        TaskMove::Close => "tasks close",
        TaskMove::Reopen => "tasks reopen",
        TaskMove::Cancel => "tasks cancel",
    };
    let work = async |run: &Run| workflow::move_task(&context, run, &id, to).await;
    let task = recorded(&context, name, json!({ "id": id }), work, output).await?;
    if output.is_json() {
        return output.document(&task);
    }
    output.print(&format!("{NAME}{id}{NAME:#} is {}\n", task.status))
}

pub(super) async fn show(args: &TaskArgs, output: Output) -> Result<(), Failure> {
    let context = command_context::open(output).await?;
    let id = workflow::find_task(&context, &args.id).await?;
    let repository = Context::repository_key(context.repository()?.root());
    let task = context
        .store
        .read(move |r| r.task(&repository, &id))
        .await?;
    if output.is_json() {
        return output.document(&task);
    }
    output.print(&described(&task))
}

async fn recorded(
    context: &Context,
    name: &'static str,
    parameters: Value,
    work: impl AsyncFnOnce(&Run) -> Result<Task, Error>,
    output: Output,
) -> Result<Task, Error> {
    let (run, progress) = Progress::start(output);
    let record = EventRecord::begin(name, parameters);
    let result = work(&run).await;
    progress.finish(&result);
    let summary = |task: &Task| json!({ "id": task.id, "status": task.status });
    record
        .end(context, &run, None, &result, summary, output)
        .await;
    result
}

fn described(task: &Task) -> String {
    let (status, priority) = (status_style(task), priority_style(task.priority));
    let word = if task.ready {
        "ready"
    } else {
        task.status.as_str()
    };
    let mut text = format!(
        "{NAME}{}{NAME:#}  {BOLD}{}{BOLD:#}\nStatus      {status}{word}{status:#}\nPriority    {priority}{}{priority:#}\n",
        task.id,
        harmless(&task.title),
        task.priority
    );
    // Writing to a String does not fail.
    if let Some(hours) = task.estimated_hours {
        let _ = writeln!(text, "Hours       {hours}");
    }
    if !task.depends_on.is_empty() {
        let ids: Vec<&str> = task.depends_on.iter().map(TaskId::as_str).collect();
        let _ = writeln!(text, "Waits for   {}", ids.join(" "));
    }
    if let Some(planner) = &task.created_by {
        let _ = writeln!(text, "Planned by  {planner}");
    }
    if let Some(url) = &task.issue_url {
        let _ = writeln!(text, "Issue       {}", harmless(url));
    }
    if !task.description.is_empty() {
        let _ = writeln!(text, "\n{}", harmless_block(task.description.trim_end()));
    }
    text
}

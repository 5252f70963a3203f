//! `claude-codex stop`

use clap::Args;
use serde::Serialize;
use serde_json::json;
use shared::error::Error;
use shared::model::{Instance, InstanceId};
use shared::workflow::{self, Context, Stopped};

use super::discard::discard;
use super::several::{self, Results};
use crate::command_context::{self, EventRecord};
use crate::completion;
use crate::failure::Failure;
use crate::output::{NAME, Output, WARNING};
use crate::progress::Progress;

const EXAMPLES: &str = "\
Examples:
  claude-codex stop work-42-a1        `claude-codex resume work-42-a1` brings it back
  claude-codex stop work-42 work-43   several at once; a unique beginning of an id is enough
  claude-codex stop work-42-a1 --discard   also delete its work

Without --discard, uncommitted and unpushed work stays in its worktree.";

/// End agents: processes, sessions and, unless work would be lost, worktrees
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct StopArgs {
    /// The ids of the agents, or unique beginnings of them
    #[arg(value_name = "ID", required = true, add = completion::live_agents())]
    ids: Vec<InstanceId>,
    /// Delete their worktrees and branches too, with work that exists nowhere else; asks once
    #[arg(long)]
    discard: bool,
    /// Do not ask before deleting
    #[arg(long, short, requires = "discard")]
    yes: bool,
}

#[derive(Serialize)]
struct Document {
    #[serde(flatten)]
    instance: Instance,
    kept: Option<String>,
}

impl From<Stopped> for Document {
    fn from(stopped: Stopped) -> Self {
        Self {
            instance: stopped.instance,
            kept: stopped.kept,
        }
    }
}

pub(crate) async fn stop(args: &StopArgs, output: Output) -> Result<(), Failure> {
    let context = command_context::open(output).await?;
    let ids = several::find(&context, &args.ids).await?;
    if args.discard {
        return discard(&context, &ids, args.yes, output).await;
    }
    if let [id] = ids.as_slice() {
        let stopped = stop_recorded(&context, id, output).await?;
        if output.is_json() {
            return output.document(&Document::from(stopped));
        }
        return print(&stopped.into(), output);
    }
    let mut results = Results::default();
    for id in &ids {
        let stopped = stop_recorded(&context, id, output).await;
        let stopped = stopped.map(Document::from);
        results.add(id, stopped, |stopped| print(stopped, output), output)?;
    }
    results.finish(output)
}

fn print(stopped: &Document, output: Output) -> Result<(), Failure> {
    let (id, status) = (&stopped.instance.id, stopped.instance.status);
    output.print(&format!("{NAME}{id}{NAME:#} is {status}\n"))?;
    if let Some(kept) = &stopped.kept {
        output.note("note", WARNING, kept);
    }
    Ok(())
}

/// Ends an agent, shows the progress, and records the command.
pub(super) async fn stop_recorded(
    context: &Context,
    id: &InstanceId,
    output: Output,
) -> Result<Stopped, Error> {
    let (run, progress) = Progress::start(output);
    let record = EventRecord::begin("stop", json!({ "id": id }));
    let result = workflow::stop(context, &run, id).await;
    progress.finish(&result);
    let summary = |stopped: &Stopped| json!({ "kept": stopped.kept });
    record
        .end(context, &run, Some(id), &result, summary, output)
        .await;
    result
}

//! `claude-codex stop`

use clap::Args;
use serde::Serialize;
use serde_json::json;
use shared::error::Error;
use shared::model::{Instance, InstanceId};
use shared::workflow::{self, Context, Stopped};

use crate::failure::Failure;
use crate::output::{NAME, Output, WARNING};
use crate::progress::Progress;
use crate::session::{self, Record};

const EXAMPLES: &str = "\
Examples:
  claude-codex stop work-42-a1        `claude-codex resume work-42-a1` brings it back

Uncommitted and unpushed work stays in its worktree.";

/// End an agent: its process, its session and, if nothing would be lost, its worktree
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct StopArgs {
    /// The agent
    id: InstanceId,
}

#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    instance: &'a Instance,
    kept: Option<&'a str>,
}

pub(crate) async fn stop(args: &StopArgs, output: Output) -> Result<(), Failure> {
    let context = session::open(output).await?;
    let stopped = stop_recorded(&context, &args.id, output).await?;
    if output.is_json() {
        return output.document(&Document {
            instance: &stopped.instance,
            kept: stopped.kept.as_deref(),
        });
    }
    let (id, status) = (&stopped.instance.id, stopped.instance.status);
    output.print(&format!("{NAME}{id}{NAME:#} is {status}\n"))?;
    if let Some(kept) = &stopped.kept {
        output.note("note", WARNING, kept);
    }
    Ok(())
}

/// Ends an agent, shows how that goes, and records it.
pub(super) async fn stop_recorded(
    context: &Context,
    id: &InstanceId,
    output: Output,
) -> Result<Stopped, Error> {
    let (run, progress) = Progress::start(output);
    let record = Record::begin("stop", json!({ "id": id }));
    let result = workflow::stop(context, &run, id).await;
    progress.finish(&result);
    let summary = |stopped: &Stopped| json!({ "kept": stopped.kept });
    record
        .end(context, &run, Some(id), &result, summary, output)
        .await;
    result
}

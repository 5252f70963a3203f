//! `claude-codex resume`

use clap::Args;
use serde_json::json;
use shared::error::Error;
use shared::model::{Instance, InstanceId};
use shared::workflow::{self, Context};

use super::several::{self, Results};
use super::started::{next_steps, standing};
use crate::command_context::{self, EventRecord};
use crate::completion;
use crate::failure::Failure;
use crate::output::{NAME, Output};
use crate::progress::Progress;

const EXAMPLES: &str = "\
Examples:
  claude-codex resume work-42-a1      continue where its conversation ended
  claude-codex resume work-42 work-43
  claude-codex resume --all           after a reboot

--all resumes the coders and planners of this repository that failed in the last 24 hours, and
failed or stopped ones that have left a worktree or have a message waiting. A TDD run has its
own command, `claude-codex tdd resume`.";

/// Restart failed or stopped agents with their worktrees and their conversations
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ResumeArgs {
    /// The ids of the agents, or unique beginnings of them
    #[arg(value_name = "ID", required_unless_present = "all", add = completion::resumable_agents())]
    ids: Vec<InstanceId>,
    /// All agents of this repository that have something left to do
    #[arg(long, conflicts_with = "ids")]
    all: bool,
}

pub(crate) async fn resume(args: &ResumeArgs, output: Output) -> Result<(), Failure> {
    let context = command_context::open(output).await?;
    let ids = if args.all {
        workflow::resumable(&context).await?
    } else {
        several::find(&context, &args.ids).await?
    };
    if let ([id], false) = (ids.as_slice(), args.all) {
        let instance = resume_recorded(&context, id, output).await?;
        if output.is_json() {
            return output.document(&instance);
        }
        return output.print(&next_steps(&context, &instance).await?);
    }
    if ids.is_empty() && !output.is_json() {
        return output.print("No agent of this repository has anything left to do.\n");
    }
    let mut results = Results::default();
    for id in &ids {
        let resumed = resume_recorded(&context, id, output).await;
        let print = |resumed: &Instance| {
            let standing = standing(resumed);
            output.print(&format!("{NAME}{id}{NAME:#} {standing}\n"))
        };
        results.add(id, resumed, print, output)?;
    }
    results.finish(output)
}

/// Resumes an agent, shows the progress, and records the command.
pub(super) async fn resume_recorded(
    context: &Context,
    id: &InstanceId,
    output: Output,
) -> Result<Instance, Error> {
    let (run, progress) = Progress::start(output);
    let record = EventRecord::begin("resume", json!({ "id": id }));
    let result = workflow::resume(context, &run, id).await;
    progress.finish(&result);
    let summary = |instance: &Instance| json!({ "status": instance.status });
    record
        .end(context, &run, Some(id), &result, summary, output)
        .await;
    result
}

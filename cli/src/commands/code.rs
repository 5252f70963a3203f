//! `claude-codex code`

use std::io::{self, Read};

use clap::Args;
use serde::Serialize;
use serde_json::json;
use shared::error::Error;
use shared::model::{Instance, InstanceKind, TaskId};
use shared::workflow::{self, BaseWarning, Context, LaunchRequest, MAX_PROMPT_BYTES, MAX_REVIEWS};

use super::started::next_steps;
use crate::command_context::{self, EventRecord};
use crate::completion;
use crate::failure::Failure;
use crate::output::{Output, WARNING};
use crate::progress::Progress;

const EXAMPLES: &str = "\
Examples:
  claude-codex code \"Fix the login page\"
  claude-codex code - < task.md                read the prompt from standard input
  claude-codex code --issue 42 \"Fix the …\"     work on issue 42
  claude-codex code --task task-1a2b3c4d       work on a planned task, see `claude-codex tasks`
  claude-codex code --base release/2 --require-review \"Backport the fix\"
  claude-codex code --branch topic \"Finish it\"  continue the branch `topic`";

/// Launch a coding agent in its own worktree and tmux session
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CodeArgs {
    /// What to do; `-` reads it from standard input
    prompt: Option<String>,
    /// The number of the issue to work on
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), conflicts_with = "task")]
    issue: Option<u64>,
    /// A planned task whose dependencies are done: its id, or a unique beginning of it
    #[arg(long, value_name = "ID", add = completion::tasks())]
    task: Option<TaskId>,
    /// The branch to start from [default: the one checked out here, or that of the pull request of --branch]
    #[arg(long, value_name = "BRANCH")]
    base: Option<String>,
    /// The branch to create, or to continue if it exists [default: codex/ and the agent's id]
    #[arg(long, value_name = "BRANCH")]
    branch: Option<String>,
    /// Only allow a pull request that a reviewer has approved
    #[arg(long)]
    require_review: bool,
    /// The maximum number of review rounds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_REVIEWS)))]
    max_reviews: Option<u32>,
}

pub(crate) async fn code(args: CodeArgs, output: Output) -> Result<(), Failure> {
    let prompt = args.prompt.map(read_prompt).transpose()?;
    let context = command_context::open(output).await?;
    let task = match &args.task {
        Some(given) => Some(workflow::find_task(&context, given).await?),
        None => None,
    };
    let request = LaunchRequest {
        prompt,
        issue: args.issue,
        task,
        base: args.base,
        branch: args.branch,
        require_review: args.require_review,
        max_reviews: args.max_reviews,
        ..LaunchRequest::new(InstanceKind::Coding)
    };
    launch(&context, "code", request, output).await
}

/// Launches an agent, shows the progress, and suggests what to do next.
pub(super) async fn launch(
    context: &Context,
    command: &'static str,
    request: LaunchRequest,
    output: Output,
) -> Result<(), Failure> {
    // Whatever is wrong with the repository, the launch says it better.
    let warnings = workflow::base_warnings(context, &request).await;
    let warnings = warnings.unwrap_or_default();
    for warning in &warnings {
        output.note("note", WARNING, &warning.to_string());
    }
    let (run, progress) = Progress::start(output);
    // Without the prompt, which is stored with the instance.
    let record = EventRecord::begin(
        command,
        json!({
            "issue": request.issue,
            "task": request.task,
            "base": request.base,
            "branch": request.branch,
            "requireReview": request.require_review.then_some(true),
            "maxReviews": request.max_reviews,
        }),
    );
    let result = workflow::launch(context, &run, request).await;
    progress.finish(&result);
    let id = result.as_ref().ok().map(|instance| instance.id.clone());
    let summary = |instance: &Instance| json!({ "instanceId": instance.id });
    record
        .end(context, &run, id.as_ref(), &result, summary, output)
        .await;
    let instance = result?;
    if output.is_json() {
        return output.document(&Launched { instance, warnings });
    }
    output.print(&next_steps(context, &instance).await?)
}

#[derive(Serialize)]
struct Launched {
    #[serde(flatten)]
    instance: Instance,
    /// What the agent does not have of what is checked out here.
    warnings: Vec<BaseWarning>,
}

/// Returns the prompt, from standard input if it is given as `-`.
pub(super) fn read_prompt(given: String) -> Result<String, Error> {
    if given != "-" {
        return Ok(given);
    }
    let mut text = String::new();
    // One byte more than allowed, so that the launch refuses a longer one.
    let mut input = io::stdin().lock().take(MAX_PROMPT_BYTES as u64 + 1);
    input
        .read_to_string(&mut text)
        .map_err(|source| Error::argument("-", format!("cannot be read: {source}")))?;
    Ok(text)
}

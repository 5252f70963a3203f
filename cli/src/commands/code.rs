//! `claude-codex code`

use std::io::{self, Read};

use clap::Args;
use serde_json::json;
use shared::error::Error;
use shared::model::{Instance, InstanceKind, TaskId};
use shared::workflow::{self, Context, LaunchRequest, MOST_PROMPT_BYTES, MOST_REVIEWS, Order};

use crate::failure::Failure;
use crate::output::{BOLD, NAME, Output};
use crate::progress::Progress;
use crate::session::{self, Record};
use crate::text::harmless;

const EXAMPLES: &str = "\
Examples:
  claude-codex code \"Fix the login page\"
  claude-codex code - < task.md                the prompt from standard input
  claude-codex code --issue 42 \"Fix the …\"     an agent on issue 42
  claude-codex code --task task-1a2b3c4d       a planned task, see `claude-codex tasks`
  claude-codex code --base release/2 --require-review \"Backport the fix\"";

/// Launch a coding agent in its own worktree and tmux session
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CodeArgs {
    /// What is to be done; `-` reads it from standard input
    prompt: Option<String>,
    /// The number of the issue that it is about
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), conflicts_with = "task")]
    issue: Option<u64>,
    /// A planned task whose dependencies are done
    #[arg(long, value_name = "ID")]
    task: Option<TaskId>,
    /// The branch to begin from [default: the one checked out here]
    #[arg(long, value_name = "BRANCH")]
    base: Option<String>,
    /// The branch to work on [default: codex/ and the agent's id]
    #[arg(long, value_name = "BRANCH")]
    branch: Option<String>,
    /// Refuse a pull request that no reviewer has approved
    #[arg(long)]
    require_review: bool,
    /// How many review rounds it gets
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_REVIEWS)))]
    max_reviews: Option<u32>,
}

pub(crate) async fn code(args: CodeArgs, output: Output) -> Result<(), Failure> {
    let prompt = args.prompt.map(read_prompt).transpose()?;
    let context = session::open(output).await?;
    let order = Order {
        prompt,
        issue: args.issue,
        task: args.task,
        base: args.base,
        branch: args.branch,
        require_review: args.require_review,
        max_reviews: args.max_reviews,
        ..Order::of(InstanceKind::Coding)
    };
    let request = workflow::prepare(&context, order).await?;
    launch(&context, "code", request, output).await
}

/// Launches an agent, shows how that goes, and says what to do next.
pub(super) async fn launch(
    context: &Context,
    command: &'static str,
    request: LaunchRequest,
    output: Output,
) -> Result<(), Failure> {
    let (run, progress) = Progress::start(output);
    // The prompt is kept with the instance.
    let record = Record::begin(
        command,
        json!({
            "issue": request.issue.as_ref().map(|issue| issue.number),
            "task": request.task,
            "base": request.base,
            "branch": request.branch,
            "requireReview": request.require_review,
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
        return output.document(&instance);
    }
    output.print(&next_steps(&instance))
}

/// Says where an agent is and how to get to it.
pub(super) fn next_steps(instance: &Instance) -> String {
    let id = &instance.id;
    let place = harmless(&instance.worktree_path.to_string_lossy());
    let branch = match &instance.branch_name {
        Some(branch) => format!(" on branch {}", harmless(branch)),
        None => String::new(),
    };
    format!(
        "{NAME}{id}{NAME:#} is at work{branch}\n  in {place}\n\
         Next: {BOLD}claude-codex attach {id}{BOLD:#} to look over its shoulder, {BOLD}claude-codex list{BOLD:#} to see all\n"
    )
}

/// Takes the prompt as given, or reads it where `-` says.
pub(super) fn read_prompt(given: String) -> Result<String, Error> {
    let prompt = if given == "-" {
        let mut text = String::new();
        let read = io::stdin()
            .lock()
            .take(MOST_PROMPT_BYTES as u64 + 1)
            .read_to_string(&mut text);
        read.map_err(|source| {
            Error::argument(
                "PROMPT",
                format!("cannot be read from standard input: {source}"),
            )
        })?;
        text
    } else {
        given
    };
    workflow::check_prompt(&prompt)?;
    Ok(prompt)
}

#[cfg(test)]
mod tests {
    use shared::error::Code;

    use super::*;

    #[test]
    fn a_prompt_says_something() {
        assert_eq!(read_prompt("do it".to_owned()).unwrap(), "do it");
        let error = read_prompt("  \n".to_owned()).unwrap_err();
        assert_eq!(error.code, Code::InvalidArguments);
        let long = "x".repeat(MOST_PROMPT_BYTES + 1);
        assert!(read_prompt(long).is_err());
    }
}

//! `claude-codex tdd`

mod narrate;
mod show;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::json;
use shared::config::Environment;
use shared::error::{Code, Error};
use shared::model::{InstanceId, TddResult};
use shared::workflow::{self, Context, TddRequest};

use crate::command_context::{self, EventRecord};
use crate::failure::Failure;
use crate::output::{BAD, BOLD, GOOD, NAME, Output};
use crate::progress;
use crate::text::{count, harmless, harmless_block};
use narrate::Narrator;

const EXAMPLES: &str = "\
Examples:
  claude-codex tdd SPEC.md                     write tests and code, review, open a pull request
  claude-codex tdd SPEC.md --max-reviews 5     allow more review rounds
  claude-codex tdd SPEC.md --no-cleanup        keep worktrees and sessions at the end
  claude-codex tdd list                        list all runs
  claude-codex tdd show 20260728-123456-a1b2c3 show what each round said
  claude-codex tdd resume 20260728-123456-a1b2c3
                                               continue a run that was interrupted or failed

The id of a run is also the id of its coder, for `list`, `logs --follow`, `attach` and `stop`.";

/// Passes `--no-cleanup` on to the servers of the agents.
const CLEANUP: &str = "CODEX_RESOURCES_CLEANUP";

/// Turn a specification into a pull request: a coder and a reviewer take turns, unattended
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct TddArgs {
    #[command(subcommand)]
    action: Option<TddAction>,
    /// The file with the specification
    #[arg(required = true)]
    spec: Option<PathBuf>,
    /// The maximum number of review rounds [default: review.maxReviewCycles, 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    max_reviews: Option<u32>,
    /// The branch to create [default: tdd/ and the run's id]
    #[arg(long, value_name = "BRANCH")]
    branch_name: Option<String>,
    /// Keep worktrees and sessions at the end
    #[arg(long)]
    no_cleanup: bool,
}

#[derive(Debug, Subcommand)]
enum TddAction {
    /// List all runs
    List,
    /// Show one run and the responses in it
    Show {
        /// The id of the run, or a unique beginning of it
        id: InstanceId,
    },
    /// Continue a run that was interrupted or failed
    Resume {
        /// The id of the run, or a unique beginning of it
        id: InstanceId,
        /// The maximum number of review rounds from now on
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
        max_reviews: Option<u32>,
    },
}

pub(crate) async fn tdd(args: TddArgs, output: Output) -> Result<(), Failure> {
    match args.action {
        Some(TddAction::List) => show::list(output).await,
        Some(TddAction::Show { id }) => show::show(&id, output).await,
        Some(TddAction::Resume { id, max_reviews }) => resume(&id, max_reviews, output).await,
        None => start(args, output).await,
    }
}

async fn start(args: TddArgs, output: Output) -> Result<(), Failure> {
    let path = args
        .spec
        .ok_or_else(|| Error::argument("SPEC", "is missing"))?;
    let spec = workflow::read_spec(&path)?;
    let mut environment = Environment::current();
    if args.no_cleanup {
        environment = environment.with([(CLEANUP, "manual".to_owned())]);
    }
    let context = command_context::open_in(environment, output).await?;
    let most = args
        .max_reviews
        .unwrap_or(context.settings().review.max_review_cycles);
    if most == 0 {
        return Err(Error::new(
            Code::InvalidArguments,
            "review.maxReviewCycles is 0, but a run needs at least one review",
        )
        .hint("Pass --max-reviews.")
        .into());
    }
    let request = TddRequest {
        spec,
        max_reviews: most,
        branch: args.branch_name,
        cleanup: !args.no_cleanup,
    };
    let record = EventRecord::begin(
        "tdd",
        json!({ "spec": path.to_string_lossy(), "maxReviews": most, "branch": request.branch }),
    );
    let narrator = Narrator::new(&context, output);
    let run = progress::cancellable(narrator.steps());
    let audience = |news: &workflow::TddNews<'_>| narrator.tell(news);
    let result = Box::pin(workflow::start_tdd(&context, &run, request, &audience)).await;
    finish(&context, &run, record, result, output).await
}

async fn resume(id: &InstanceId, max_reviews: Option<u32>, output: Output) -> Result<(), Failure> {
    let context = command_context::open(output).await?;
    let id = &workflow::find_tdd_run(&context, id).await?;
    let wanted = id.clone();
    let seen = context.store.read(move |r| r.tdd_run(&wanted)).await?;
    // The run continues in its own repository, with its original cleanup setting.
    let mut environment = Environment::current();
    if seen.repository.is_dir() {
        environment = environment.moved_to(seen.repository.clone());
    }
    if !seen.cleanup {
        environment = environment.with([(CLEANUP, "manual".to_owned())]);
    }
    let context = command_context::open_in(environment, output).await?;
    let record = EventRecord::begin("tdd resume", json!({ "id": id, "maxReviews": max_reviews }));
    let narrator = Narrator::new(&context, output);
    let run = progress::cancellable(narrator.steps());
    let audience = |news: &workflow::TddNews<'_>| narrator.tell(news);
    let result = Box::pin(workflow::resume_tdd(
        &context,
        &run,
        id,
        max_reviews,
        &audience,
    ))
    .await;
    finish(&context, &run, record, result, output).await
}

/// Records the end of a run and prints the result. A run without a pull request is a failure.
async fn finish(
    context: &Context,
    run: &workflow::Run,
    record: EventRecord,
    result: Result<TddResult, Error>,
    output: Output,
) -> Result<(), Failure> {
    let id = result.as_ref().ok().map(|result| result.task_id.clone());
    let summary = |result: &TddResult| json!(result);
    record
        .end(context, run, id.as_ref(), &result, summary, output)
        .await;
    let result = result?;
    if output.is_json() {
        output.document(&result)?;
    } else {
        output.print(&described(&result))?;
    }
    if result.success {
        Ok(())
    } else {
        Err(Failure::Reported)
    }
}

fn described(result: &TddResult) -> String {
    let id = &result.task_id;
    let rounds = count(result.iterations, "round", "rounds");
    match (&result.pr_url, &result.error) {
        (Some(url), None) => format!(
            "{GOOD}✓{GOOD:#} {NAME}{id}{NAME:#} opened a pull request after {rounds}: {}\n\
             Next: {BOLD}claude-codex pr list{BOLD:#}, then show, diff or merge it\n",
            harmless(url)
        ),
        (_, error) => format!(
            "{BAD}✗{BAD:#} {NAME}{id}{NAME:#} ended without a pull request after {rounds}: {}\n\
             Next: {BOLD}claude-codex tdd show {id}{BOLD:#} for details, {BOLD}claude-codex tdd resume {id}{BOLD:#} to continue\n",
            harmless_block(error.as_deref().unwrap_or("for an unknown reason"))
        ),
    }
}

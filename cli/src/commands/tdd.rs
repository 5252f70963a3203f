//! `claude-codex tdd`

mod look;
mod narrate;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::json;
use shared::config::Environment;
use shared::error::{Code, Error};
use shared::model::{InstanceId, TddResult};
use shared::workflow::{self, Context, TddRequest};

use crate::failure::Failure;
use crate::output::{BAD, BOLD, GOOD, NAME, Output};
use crate::progress;
use crate::session::{self, Record};
use crate::text::{harmless, harmless_block};
use narrate::Narrator;

const EXAMPLES: &str = "\
Examples:
  claude-codex tdd SPEC.md                     tests, code and reviews until a pull request stands
  claude-codex tdd SPEC.md --max-reviews 5     give up later
  claude-codex tdd SPEC.md --no-cleanup        leave worktrees and sessions as they are at the end
  claude-codex tdd list                        all runs
  claude-codex tdd show 20260728-123456-a1b2c3 what was said in each round
  claude-codex tdd resume 20260728-123456-a1b2c3
                                               go on where it was left, killed or failed

The id of a run is also that of its coder: `list`, `logs --follow`, `attach` and `stop` take it.";

/// What `--no-cleanup` is for the agents' own servers.
const CLEANUP: &str = "CODEX_RESOURCES_CLEANUP";

/// Take a specification to a pull request: a coder and a reviewer in turns, unattended
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct TddArgs {
    #[command(subcommand)]
    action: Option<TddAction>,
    /// The file that says what is to be built
    #[arg(required = true)]
    spec: Option<PathBuf>,
    /// How many review rounds there are at most [default: review.maxReviewCycles, 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    max_reviews: Option<u32>,
    /// The branch to work on [default: tdd/ and the run's id]
    #[arg(long, value_name = "BRANCH")]
    branch_name: Option<String>,
    /// Leave worktrees and sessions as they are at the end
    #[arg(long)]
    no_cleanup: bool,
}

#[derive(Debug, Subcommand)]
enum TddAction {
    /// List all runs
    List,
    /// Show one run and what was said in it
    Show {
        /// The run
        id: InstanceId,
    },
    /// Take a run up again that was left, killed or failed
    Resume {
        /// The run
        id: InstanceId,
        /// How many review rounds there are at most, from now on
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
        max_reviews: Option<u32>,
    },
}

pub(crate) async fn tdd(args: TddArgs, output: Output) -> Result<(), Failure> {
    match args.action {
        Some(TddAction::List) => look::list(output).await,
        Some(TddAction::Show { id }) => look::show(&id, output).await,
        Some(TddAction::Resume { id, max_reviews }) => resume(&id, max_reviews, output).await,
        None => start(args, output).await,
    }
}

async fn start(args: TddArgs, output: Output) -> Result<(), Failure> {
    let path = args
        .spec
        .ok_or_else(|| Error::argument("SPEC", "is missing"))?;
    let spec = workflow::read_spec(&path)?;
    let mut environment = Environment::of_process();
    if args.no_cleanup {
        environment = environment.with([(CLEANUP, "manual".to_owned())]);
    }
    let context = session::open_in(environment, output).await?;
    let most = args
        .max_reviews
        .unwrap_or(context.settings().review.max_review_cycles);
    if most == 0 {
        return Err(Error::new(
            Code::InvalidArguments,
            "review.maxReviewCycles is 0, and a run needs one review at least",
        )
        .hint("Give --max-reviews.")
        .into());
    }
    let request = TddRequest {
        spec,
        max_reviews: most,
        branch: args.branch_name,
        cleanup: !args.no_cleanup,
    };
    let record = Record::begin(
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
    let context = session::open(output).await?;
    let wanted = id.clone();
    let seen = context.store.read(move |r| r.tdd_run(&wanted)).await?;
    // The run goes on in its own repository, with the cleanup it was begun with.
    let mut environment = Environment::of_process();
    if seen.repository.is_dir() {
        environment = environment.moved_to(seen.repository.clone());
    }
    if !seen.cleanup {
        environment = environment.with([(CLEANUP, "manual".to_owned())]);
    }
    let context = session::open_in(environment, output).await?;
    let record = Record::begin("tdd resume", json!({ "id": id, "maxReviews": max_reviews }));
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

/// Records a run's end and says what came of it. One without a pull request is a failure.
async fn finish(
    context: &Context,
    run: &workflow::Run,
    record: Record,
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
        output.print(&told(&result))?;
    }
    if result.success {
        Ok(())
    } else {
        Err(Failure::Reported)
    }
}

fn told(result: &TddResult) -> String {
    let id = &result.task_id;
    let rounds = match result.iterations {
        1 => "1 round".to_owned(),
        many => format!("{many} rounds"),
    };
    match (&result.pr_url, &result.error) {
        (Some(url), None) => format!(
            "{GOOD}✓{GOOD:#} {NAME}{id}{NAME:#} has its pull request after {rounds}: {}\n\
             Next: {BOLD}claude-codex pr list{BOLD:#}, then show, diff or merge it\n",
            harmless(url)
        ),
        (_, error) => format!(
            "{BAD}✗{BAD:#} {NAME}{id}{NAME:#} has no pull request after {rounds}: {}\n\
             Next: {BOLD}claude-codex tdd show {id}{BOLD:#} for all of it, {BOLD}claude-codex tdd resume {id}{BOLD:#} to go on\n",
            harmless_block(error.as_deref().unwrap_or("nobody said why"))
        ),
    }
}

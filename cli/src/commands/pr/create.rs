//! `claude-codex pr create`: a person publishes an agent's work as it is

use clap::Args;
use serde_json::json;
use shared::error::{Code, Error};
use shared::model::{InstanceId, InstanceKind};
use shared::workflow::{self, CreatePr, PublishOutcome, Published};

use crate::command_context::{self, EventRecord};
use crate::commands::code::read_prompt;
use crate::completion;
use crate::failure::Failure;
use crate::output::{DIM, NAME, Output};
use crate::progress::Progress;
use crate::text::harmless;

#[derive(Debug, Args)]
pub(super) struct CreateArgs {
    /// The coding agent
    #[arg(add = completion::live_agents())]
    id: InstanceId,
    /// The title of the pull request
    #[arg(long, value_name = "TITLE")]
    title: String,
    /// What it does and why; `-` reads it from standard input
    #[arg(long, value_name = "TEXT", default_value = "")]
    description: String,
    /// As a draft
    #[arg(long)]
    draft: bool,
}

pub(super) async fn create(args: CreateArgs, output: Output) -> Result<(), Failure> {
    let description = if args.description.is_empty() {
        args.title.clone()
    } else {
        read_prompt(args.description)?
    };
    let context = command_context::open(output).await?;
    let id = workflow::find_instance(&context, &args.id).await?;
    let wanted = id.clone();
    let coder = context.store.read(move |r| r.instance(&wanted)).await?;
    if coder.kind != InstanceKind::Coding {
        return Err(Error::new(
            Code::IllegalState,
            format!(
                "`{id}` is a {} agent, which has no work to publish",
                coder.kind
            ),
        )
        .hint("`claude-codex list` shows the coding agents.")
        .into());
    }
    let context = context.in_repository(&coder.repository).await?;
    let (run, progress) = Progress::start(output);
    let record = EventRecord::begin(
        "pr create",
        json!({ "id": id, "title": args.title, "draft": args.draft }),
    );
    let request = CreatePr {
        title: args.title,
        description,
        draft: args.draft,
    };
    let result = Box::pin(workflow::create_pr(&context, &run, &id, request)).await;
    progress.finish(&result);
    let summary = |published: &Published| json!({ "prUrl": published.url });
    record
        .end(&context, &run, Some(&id), &result, summary, output)
        .await;
    let published = result?;
    if output.is_json() {
        return output.document(&json!({
            "prNumber": published.number,
            "prUrl": published.url,
            "instanceId": id,
        }));
    }
    let verb = match published.outcome {
        PublishOutcome::Created => "published as",
        PublishOutcome::Updated | PublishOutcome::Unchanged => "brought up to date in",
    };
    output.print(&format!(
        "The work of {NAME}{id}{NAME:#} is {verb} {NAME}#{}{NAME:#}: {}\n",
        published.number,
        harmless(&published.url)
    ))?;
    if let Some(note) = &published.note {
        output.note("note", DIM, note);
    }
    Ok(())
}

//! `claude-codex events`

use clap::Args;
use shared::model::InstanceId;
use shared::store::EventRow;
use shared::workflow::Context;

use crate::failure::Failure;
use crate::output::{BAD, DIM, GOOD, NAME, Output};
use crate::session;
use crate::text::harmless;
use crate::time::readable;

/// How many are read at once while following.
const PAGE: u32 = 500;

const EXAMPLES: &str = "\
Examples:
  claude-codex events                          what happened last, to all agents
  claude-codex events work-42-a1 --limit 200
  claude-codex events --follow --json          one JSON document per line, until Ctrl-C";

/// Print what happened: tool calls, commands, hooks
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EventsArgs {
    /// Only of this agent
    id: Option<InstanceId>,
    /// Keep printing new ones until Ctrl-C
    #[arg(long, short)]
    follow: bool,
    /// How many of the newest to print
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    limit: u32,
}

pub(crate) async fn events(args: EventsArgs, output: Output) -> Result<(), Failure> {
    let context = session::open(output).await?;
    let (id, limit) = (args.id.clone(), args.limit);
    let newest = context
        .store
        .read(move |r| {
            if let Some(id) = &id {
                r.instance(id)?;
            }
            r.latest_events(id.as_ref(), limit)
        })
        .await?;
    if args.follow {
        return follow(&context, args, newest, output).await;
    }
    if output.is_json() {
        return output.document(&newest);
    }
    if newest.is_empty() {
        return output.print("Nothing has happened yet.\n");
    }
    newest
        .iter()
        .try_for_each(|event| print(event, &args, output))
}

async fn follow(
    context: &Context,
    args: EventsArgs,
    newest: Vec<EventRow>,
    output: Output,
) -> Result<(), Failure> {
    let mut last = match newest.last() {
        Some(event) => event.id,
        None => last_of_all(context).await?,
    };
    let mut waiting = newest;
    let mut changes = context.store.changes()?;
    loop {
        for event in &waiting {
            last = event.id;
            print(event, &args, output)?;
        }
        // Before asking, so that what comes in between is not missed.
        changes.forget();
        let id = args.id.clone();
        waiting = context
            .store
            .read(move |r| r.events_after(id.as_ref(), last, PAGE))
            .await?;
        if waiting.is_empty() {
            changes.next().await;
        }
    }
}

async fn last_of_all(context: &Context) -> Result<i64, Failure> {
    let newest = context.store.read(|r| r.latest_events(None, 1)).await?;
    Ok(newest.last().map_or(0, |event| event.id))
}

fn print(event: &EventRow, args: &EventsArgs, output: Output) -> Result<(), Failure> {
    if output.is_json() {
        return output.document_line(event);
    }
    output.print(&format!("{}\n", event_line(event, args.id.is_none())))
}

/// Returns an event on one line.
pub(super) fn event_line(event: &EventRow, with_instance: bool) -> String {
    let time = readable(&event.created_at);
    let (mark, style) = match &event.error_code {
        None => ("ok".to_owned(), GOOD),
        Some(code) => (harmless(code), BAD),
    };
    let instance = match (&event.instance_id, with_instance) {
        (Some(id), true) => format!("{NAME}{id}{NAME:#} "),
        (None, true) => "- ".to_owned(),
        (_, false) => String::new(),
    };
    let mut changes = String::new();
    for change in &event.status_changes {
        let from = change
            .from
            .map(|from| format!("{from} → "))
            .unwrap_or_default();
        changes.extend([
            "  ",
            change.instance.as_str(),
            ": ",
            &from,
            change.to.as_str(),
        ]);
    }
    format!(
        "{DIM}{time}{DIM:#} {instance}{} {} {style}{mark}{style:#} {DIM}{:.0} ms{DIM:#}{changes}",
        event.source,
        harmless(&event.name),
        event.duration_ms,
    )
}

//! `claude-codex events`

use clap::Args;
use shared::model::InstanceId;
use shared::store::EventRow;
use shared::workflow::{self, Context};

use crate::command_context;
use crate::completion;
use crate::failure::Failure;
use crate::output::{BAD, DIM, GOOD, NAME, Output};
use crate::text::harmless;

/// How many events are read at a time while following.
const PAGE_SIZE: u32 = 500;

const EXAMPLES: &str = "\
Examples:
  claude-codex events                          the latest events of all agents
  claude-codex events work-42-a1 --limit 200
  claude-codex events --follow --json          one JSON document per line, until Ctrl-C";

/// Print events: tool calls, commands and hooks
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EventsArgs {
    /// Only events of this agent: its id, or a unique beginning of it
    #[arg(add = completion::agents())]
    id: Option<InstanceId>,
    /// Keep printing new events until Ctrl-C
    #[arg(long, short)]
    follow: bool,
    /// How many of the newest events to print
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    limit: u32,
}

pub(crate) async fn events(mut args: EventsArgs, output: Output) -> Result<(), Failure> {
    let context = command_context::open(output).await?;
    if let Some(given) = &args.id {
        args.id = Some(workflow::find_instance(&context, given).await?);
    }
    let (id, limit) = (args.id.clone(), args.limit);
    let newest = context
        .store
        .read(move |r| r.latest_events(id.as_ref(), limit))
        .await?;
    if args.follow {
        return follow(&context, args, newest, output).await;
    }
    if output.is_json() {
        return output.document(&newest);
    }
    if newest.is_empty() {
        return output.print("There are no events yet.\n");
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
        None => newest_id(context).await?,
    };
    let mut waiting = newest;
    let mut changes = context.store.changes()?;
    loop {
        for event in &waiting {
            last = event.id;
            print(event, &args, output)?;
        }
        // Before the query, so that events written in between are not missed.
        changes.forget();
        let id = args.id.clone();
        waiting = context
            .store
            .read(move |r| r.events_after(id.as_ref(), last, PAGE_SIZE))
            .await?;
        if waiting.is_empty() {
            changes.next().await;
        }
    }
}

async fn newest_id(context: &Context) -> Result<i64, Failure> {
    let newest = context.store.read(|r| r.latest_events(None, 1)).await?;
    Ok(newest.last().map_or(0, |event| event.id))
}

fn print(event: &EventRow, args: &EventsArgs, output: Output) -> Result<(), Failure> {
    if output.is_json() {
        return output.document_line(event);
    }
    let shown = match args.id {
        Some(_) => InstanceColumn::Hidden,
        None => InstanceColumn::Shown,
    };
    output.print(&format!("{}\n", event_line(event, shown)))
}

/// Whether the line of an event names its agent.
#[derive(Debug, Clone, Copy)]
pub(super) enum InstanceColumn {
    Shown,
    Hidden,
}

/// Returns an event on one line.
pub(super) fn event_line(event: &EventRow, column: InstanceColumn) -> String {
    let time = event.created_at.readable();
    let (mark, style) = match &event.error_code {
        None => ("ok".to_owned(), GOOD),
        Some(code) => (harmless(code), BAD),
    };
    let instance = match (&event.instance_id, column) {
        (Some(id), InstanceColumn::Shown) => format!("{NAME}{id}{NAME:#} "),
        (None, InstanceColumn::Shown) => "- ".to_owned(),
        (_, InstanceColumn::Hidden) => String::new(),
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

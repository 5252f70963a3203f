//! `claude-codex logs`: an agent's log, and what it said, ran and changed.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use shared::agent::ActivityPage;
use shared::error::{Code, Error};
use shared::followed_file::FollowedFile;
use shared::model::{ActivityItem, ActivityKind, Ending, Instance, InstanceId, Status, Timestamp};
use shared::workflow::{self, Context, FollowedActivity};

use crate::command_context;
use crate::completion;
use crate::failure::Failure;
use crate::output::{BOLD, DIM, Output, activity_style};
use crate::text::harmless_block;

/// How much of the end of a log is read.
const MAX_TAIL_BYTES: u64 = 64 << 10;
const POLL_INTERVAL: Duration = Duration::from_millis(250);

const EXAMPLES: &str = "\
Examples:
  claude-codex logs work-42-a1                 print the end of its log and of what it did
  claude-codex logs work-42-a1 --follow        print what it does until it ends
  claude-codex logs work-42-a1 --terminal      print what its terminal shows
  claude-codex logs work-42-a1 --lines 500     print more";

/// Print an agent's log and what it said, ran and changed
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LogsArgs {
    /// The id of the agent, or a unique beginning of it
    #[arg(add = completion::agents())]
    id: InstanceId,
    /// Keep printing what is logged and what the agent does
    #[arg(long, short)]
    follow: bool,
    /// Print the contents of its terminal instead of what it did
    #[arg(long, conflicts_with = "follow")]
    terminal: bool,
    /// How many lines of each to print
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=20_000))]
    lines: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    instance_id: &'a InstanceId,
    log_file: &'a Path,
    log: &'a str,
    /// Absent if it has no transcript.
    #[serde(skip_serializing_if = "Option::is_none")]
    activity: Option<&'a [ActivityItem]>,
    terminal: Option<&'a str>,
    /// How its last session ended, once it is gone.
    ending: Option<&'a Ending>,
}

pub(crate) async fn logs(args: &LogsArgs, output: Output) -> Result<(), Failure> {
    if args.follow && output.is_json() {
        return Err(Error::new(
            Code::InvalidArguments,
            "--follow and --json cannot be combined",
        )
        .hint("Leave out --follow or --json.")
        .into());
    }
    let context = command_context::open(output).await?;
    let id = workflow::find_instance(&context, &args.id).await?;
    let found = find(&context, &id, args.lines).await?;
    if output.is_json() {
        let terminal = terminal(&context, &found.instance, args.lines).await?;
        return output.document(&Document {
            instance_id: &id,
            log_file: &found.path,
            log: &found.text,
            activity: found.page.as_ref().map(|page| page.items.as_slice()),
            terminal: terminal.as_deref(),
            ending: found.ending.as_ref(),
        });
    }
    output.print(&in_words(&context, &found, args.terminal, args.lines).await?)?;
    if args.follow {
        let activity = workflow::follow_activity(found.page.map(|page| page.cursor));
        return follow(&context, &id, found.log, activity, output).await;
    }
    Ok(())
}

/// What there is of an agent's log, of what it did, and of how it ended.
struct Found {
    instance: Instance,
    path: PathBuf,
    log: FollowedFile,
    /// The last lines of the log.
    text: String,
    page: Option<ActivityPage>,
    ending: Option<Ending>,
}

async fn find(context: &Context, id: &InstanceId, lines: u32) -> Result<Found, Error> {
    let limit = usize::try_from(lines).unwrap_or(usize::MAX);
    let wanted = id.clone();
    let (instance, ending) = context
        .store
        .read(move |r| Ok((r.instance(&wanted)?, r.ending(&wanted)?)))
        .await?;
    let path = context.log_file(id);
    let mut log = FollowedFile::from_tail(path.clone(), MAX_TAIL_BYTES);
    let text = last_lines(&read_new(&mut log)?, limit);
    let page = workflow::activity(context, &instance, None, limit).await?;
    Ok(Found {
        instance,
        path,
        log,
        text,
        page,
        ending,
    })
}

/// Returns what `logs` prints of an agent: so many lines of its log, and of what it did or what its terminal shows.
pub(crate) async fn text(
    context: &Context,
    id: &InstanceId,
    lines: u32,
) -> Result<String, Failure> {
    let found = find(context, id, lines).await?;
    in_words(context, &found, false, lines).await
}

async fn in_words(
    context: &Context,
    found: &Found,
    only_terminal: bool,
    lines: u32,
) -> Result<String, Failure> {
    let limit = usize::try_from(lines).unwrap_or(usize::MAX);
    let path = found.path.display();
    let mut text = if found.text.is_empty() {
        let remark = match found.instance.status {
            Status::Failed => "",
            _ => ": no problems were logged",
        };
        format!("{DIM}{path} is empty{remark}{DIM:#}\n")
    } else {
        format!("{BOLD}{path}{BOLD:#}\n{}", ended(&found.text))
    };
    if let Some(page) = found.page.as_ref().filter(|_| !only_terminal) {
        let shown = activity_text(&page.items, limit);
        // Writing to a String does not fail.
        let _ = write!(text, "{BOLD}Activity{BOLD:#}\n{shown}");
    }
    if found.page.is_none() || only_terminal || found.ending.is_some() {
        let shown = match screen(context, &found.instance, lines).await? {
            Some(Shown { title, text }) => format!("{title}\n{}", ended(&text)),
            None => format!("{DIM}The agent has no terminal.{DIM:#}\n"),
        };
        text.push_str(&shown);
    }
    Ok(text)
}

/// What the terminal of an agent shows, or showed at last.
pub(crate) struct Shown {
    pub title: String,
    pub text: String,
}

/// Returns what an agent's terminal shows; of one that has none any more, its last screen.
pub(crate) async fn screen(
    context: &Context,
    instance: &Instance,
    lines: u32,
) -> Result<Option<Shown>, Failure> {
    if let Some(text) = terminal(context, instance, lines).await? {
        let title = format!("{BOLD}Terminal{BOLD:#}");
        return Ok(Some(Shown { title, text }));
    }
    let wanted = instance.id.clone();
    let ending = context.store.read(move |r| r.ending(&wanted)).await?;
    let limit = usize::try_from(lines).unwrap_or(usize::MAX);
    Ok(ending.map(|ending| Shown {
        title: format!(
            "{BOLD}Last screen{BOLD:#} (the agent {})",
            ending.in_words()
        ),
        text: harmless_block(&ending.last_lines(limit).join("\n")),
    }))
}

async fn follow(
    context: &Context,
    id: &InstanceId,
    mut log: FollowedFile,
    mut activity: FollowedActivity,
    output: Output,
) -> Result<(), Failure> {
    loop {
        let wanted = id.clone();
        let instance = context.store.read(move |r| r.instance(&wanted)).await?;
        let new = read_new(&mut log)?;
        if !new.is_empty() {
            output.print(&harmless_block(&new))?;
        }
        let items = activity.next(context, &instance).await?;
        if !items.is_empty() {
            output.print(&activity_text(&items, usize::MAX))?;
        }
        if !instance.status.is_live() && items.is_empty() {
            return Ok(());
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Returns the last lines of what an agent did, each item with its time.
pub(crate) fn activity_text(items: &[ActivityItem], limit: usize) -> String {
    let mut lines = Vec::new();
    for item in items {
        let time = item.at.map(Timestamp::time_of_day).unwrap_or_default();
        let style = activity_style(item.kind);
        let mark = match item.kind {
            ActivityKind::Said => "●",
            ActivityKind::Told => ">",
            _ => " ",
        };
        for (index, line) in item.text.lines().enumerate() {
            let (time, mark) = if index == 0 {
                (time.as_str(), mark)
            } else {
                ("", " ")
            };
            // The text was made harmless when it was read.
            lines.push(format!(
                "{DIM}{time:8}{DIM:#} {mark} {style}{line}{style:#}\n"
            ));
        }
    }
    lines[lines.len().saturating_sub(limit)..].concat()
}

/// Returns the contents of the terminal, if the agent has one.
pub(crate) async fn terminal(
    context: &Context,
    instance: &Instance,
    lines: u32,
) -> Result<Option<String>, Failure> {
    if instance.tmux_session.is_none() {
        return Ok(None);
    }
    match workflow::tail(context, instance, lines).await {
        Ok(shown) => Ok(Some(harmless_block(&shown))),
        Err(error) if error.code == Code::TmuxSessionNotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns the last lines of a text.
fn last_lines(text: &str, limit: usize) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    lines[lines.len().saturating_sub(limit)..].concat()
}

/// Returns the text made harmless, with a line break at its end.
fn ended(text: &str) -> String {
    let mut text = harmless_block(text);
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

fn read_new(log: &mut FollowedFile) -> Result<String, Error> {
    log.read_new()
        .map_err(|error| Error::new(Code::Internal, error.to_string()))
}

//! `claude-codex demo`: plan, code, review, changes, review, pull request and merge, before your eyes.
//!
//! Everything is real but the models: the servers, worktrees, tmux sessions, the delivery of feedback
//! and the pull request. Only with `--agent claude` are the agents Claude Code.

mod agent;
mod browser;
mod client;
mod narrator;
mod place;
mod show;
mod terminal;

use std::time::Duration;

use clap::Args;
use serde::Serialize;
use shared::error::{Code, Error};
use shared::model::PullRequest;
use shared::workflow::{self, Context};
use tokio::signal::unix::{SignalKind, signal};

pub(crate) use agent::{DemoAgentArgs, demo_agent};
use browser::Browser;
use narrator::Moment;
use place::{Place, Players};
use show::Show;

use crate::failure::Failure;
use crate::live::LiveLines;
use crate::output::{BOLD, DIM, GOOD, Output, PLAIN, WARNING, width};
use crate::table::{Cell, Table};
use crate::text::harmless;

/// What a person needs to read a line, where there is one who watches.
const PAUSE: Duration = Duration::from_millis(500);
/// The same for somebody who looks at a board, a terminal and a diff at once.
const LONGER_PAUSE: Duration = Duration::from_millis(1_500);

const EXAMPLES: &str = "\
Examples:
  claude-codex demo                     the whole system at work, in some seconds, on a repository of its own
  claude-codex demo --dashboard         the same in your browser, slower; stays up until Ctrl-C
  claude-codex demo --keep              and the repository stays, to look around in
  claude-codex demo --agent claude      the same with Claude Code, as you have set it up";

/// See the whole system at work on a small repository of its own
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DemoArgs {
    /// Keep the repository and the database
    #[arg(long)]
    keep: bool,
    /// Show it in the browser: begins when you have opened the address, ends with Ctrl-C
    #[arg(long, conflicts_with = "json")]
    dashboard: bool,
    /// Who plays the agents
    #[arg(long, value_enum, default_value = "scripted")]
    agent: Players,
}

pub(crate) async fn demo(args: &DemoArgs, output: Output) -> Result<(), Failure> {
    let pause = match (args.dashboard, LiveLines::are_possible(output)) {
        (true, _) => LONGER_PAUSE,
        (false, true) => PAUSE,
        (false, false) => Duration::ZERO,
    };
    let place = Place::make(args.agent, pause)?;
    let context = Context::open(place.environment(), &[]).await?;
    context.tmux.check().await.map_err(Error::from)?;
    let mut interrupt = signal(SignalKind::interrupt())
        .map_err(|source| Error::new(Code::Internal, format!("cannot hear Ctrl-C: {source}")))?;
    let browser = if args.dashboard {
        Some(Browser::open(&context, output).await?)
    } else {
        None
    };
    let mut show = Show::new(&context, output);
    let played = tokio::select! {
        played = async {
            if let Some(browser) = &browser {
                browser.somebody_looks().await;
            }
            show.play(&place, args.agent).await
        } => played,
        _ = interrupt.recv() => Err(Error::new(Code::Cancelled, "the demo was ended").into()),
    };
    let seconds = show.narrator.began().elapsed().as_secs_f64();
    let told = match &played {
        Ok(pull) => finale(pull, &show, seconds, output),
        Err(_) => Ok(()),
    };
    if let Some(browser) = browser {
        if played.is_ok() {
            output.note(
                "note",
                PLAIN,
                "look around; Ctrl-C ends the demo and its dashboard",
            );
            interrupt.recv().await;
        }
        browser.close().await;
    }
    put_away(&context, output).await;
    if args.keep {
        let exports = place.exports();
        let folder = place.keep();
        let text = format!(
            "{} is kept. To look around in it: {exports}",
            folder.display()
        );
        output.note("note", PLAIN, &text);
    }
    played.map(drop).and(told)
}

/// Ends whatever still runs. A part that can't be ended must not hide how the demo went.
async fn put_away(context: &Context, output: Output) {
    let killed = context.tmux.kill_server().await.map_err(Error::from);
    let settled = workflow::reconcile(context).await;
    for error in [killed.err(), settled.err()].into_iter().flatten() {
        output.note("warning", WARNING, &error.message);
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Summary<'a> {
    pull_request: &'a PullRequest,
    seconds: f64,
    moments: Vec<SummaryMoment>,
}

#[derive(Serialize)]
struct SummaryMoment {
    what: &'static str,
    seconds: f64,
}

/// Shows what came of it, and how long each part took.
fn finale(
    pull: &PullRequest,
    show: &Show<'_>,
    seconds: f64,
    output: Output,
) -> Result<(), Failure> {
    let began = show.narrator.began();
    let since = |moment: &Moment| moment.at.duration_since(began).as_secs_f64();
    let moments = &show.narrator.moments;
    if output.is_json() {
        return output.document(&Summary {
            pull_request: pull,
            seconds,
            moments: moments
                .iter()
                .map(|moment| SummaryMoment {
                    what: moment.what,
                    seconds: since(moment),
                })
                .collect(),
        });
    }
    let mut table = Table::new(&["WHAT", "AT", "TOOK"]);
    let mut before = 0.0;
    for moment in moments {
        let at = since(moment);
        table.row(vec![
            Cell::new(moment.what),
            Cell::styled(format!("{at:.1} s"), DIM),
            Cell::new(format!("{:.1} s", at - before)),
        ]);
        before = at;
    }
    let commit = pull.merge_commit.as_deref().unwrap_or_default();
    output.print(&format!(
        "\n{}\n{GOOD}Merged{GOOD:#} as {}: {BOLD}{}{BOLD:#}, after {seconds:.1} s.\n\
         On your own repository: {BOLD}claude-codex doctor{BOLD:#}, then {BOLD}claude-codex code \"…\"{BOLD:#}\n",
        table.render(width()),
        commit.get(..10).unwrap_or(commit),
        harmless(&pull.title),
    ))
}

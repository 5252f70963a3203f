//! `claude-codex demo`: plan, code, review, changes, second review, pull request and merge, live.
//!
//! Servers, worktrees, tmux sessions, delivery of feedback and the pull request are real; the agents follow a script, unless
//! `--agent claude` makes them Claude Code.

mod agent;
mod browser;
mod client;
mod narrator;
mod sandbox;
mod scenario;
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
use sandbox::{Players, Sandbox};
use scenario::Scenario;

use crate::failure::Failure;
use crate::live_region::LiveRegion;
use crate::output::{BOLD, DIM, GOOD, Output, PLAIN, WARNING, width};
use crate::table::{Cell, Table};
use crate::text::harmless;

/// Time to read a line in the terminal.
const TERMINAL_PAUSE: Duration = Duration::from_millis(500);
/// Time to read a board, a terminal and a diff in the browser.
const BROWSER_PAUSE: Duration = Duration::from_millis(1_500);

const EXAMPLES: &str = "\
Examples:
  claude-codex demo                     the whole system in a few seconds, on a sample repository
  claude-codex demo --dashboard         the same in your browser, slower; runs until Ctrl-C
  claude-codex demo --keep              keep the repository to explore it
  claude-codex demo --agent claude      the same with your own Claude Code";

/// Watch the whole system work on a small sample repository
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DemoArgs {
    /// Keep the repository and the database
    #[arg(long)]
    keep: bool,
    /// Show it in the browser: starts when you open the address, ends with Ctrl-C
    #[arg(long, conflicts_with = "json")]
    dashboard: bool,
    /// Which agents to use
    #[arg(long, value_enum, default_value = "scripted")]
    agent: Players,
}

pub(crate) async fn demo(args: &DemoArgs, output: Output) -> Result<(), Failure> {
    let pause = match (args.dashboard, LiveRegion::is_possible(output)) {
        (true, _) => BROWSER_PAUSE,
        (false, true) => TERMINAL_PAUSE,
        (false, false) => Duration::ZERO,
    };
    let sandbox = Sandbox::make(args.agent, pause)?;
    let context = Context::open(sandbox.environment(), &[]).await?;
    context.tmux.check().await.map_err(Error::from)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(|source| {
        Error::new(
            Code::Internal,
            format!("cannot listen for Ctrl-C: {source}"),
        )
    })?;
    let browser = if args.dashboard {
        Some(Browser::open(&context, output).await?)
    } else {
        None
    };
    let mut scenario = Scenario::new(&context, output);
    let played = tokio::select! {
        played = async {
            if let Some(browser) = &browser {
                browser.wait_for_viewer().await;
            }
            scenario.play(&sandbox, args.agent).await
        } => played,
        _ = interrupt.recv() => Err(Error::new(Code::Cancelled, "the demo was interrupted").into()),
    };
    let seconds = scenario.narrator.began().elapsed().as_secs_f64();
    let printed = match &played {
        Ok(pull) => finale(pull, &scenario, seconds, output),
        Err(_) => Ok(()),
    };
    if let Some(browser) = browser {
        if played.is_ok() {
            output.note("note", PLAIN, "explore the dashboard; Ctrl-C ends the demo");
            interrupt.recv().await;
        }
        browser.close().await;
    }
    end_agents(&context, output).await;
    if args.keep {
        let exports = sandbox.exports();
        let folder = sandbox.keep();
        let text = format!("{} is kept. To explore it: {exports}", folder.display());
        output.note("note", PLAIN, &text);
    }
    played.map(drop).and(printed)
}

/// Ends all sessions. An error here is only a warning, so that it does not hide the result of the demo.
async fn end_agents(context: &Context, output: Output) {
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

/// Prints the merged pull request and how long each part took.
fn finale(
    pull: &PullRequest,
    scenario: &Scenario<'_>,
    seconds: f64,
    output: Output,
) -> Result<(), Failure> {
    let began = scenario.narrator.began();
    let since = |moment: &Moment| moment.at.duration_since(began).as_secs_f64();
    let moments = &scenario.narrator.moments;
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

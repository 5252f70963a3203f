//! `claude-codex hook EVENT --tdd`: the hooks that enforce TDD phases.
//!
//! An edit that the guard could not judge is refused while there are phases. All else fails open: after an error of
//! ours the agent goes on, and the person sees a warning.

use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Duration;

use phases::{CommandReply, EndOfTurn, PhaseCommand, Phases, Said};
use serde::Deserialize;
use serde_json::{Value, json};
use shared::agent::{EndReason, Event, HookName, HookReply, Payload, Source, ToolCall};
use shared::config::Environment;
use shared::error::Error;
use shared::store::Store;
use tokio::signal::unix::{SignalKind, signal};

use super::plugin_hook::guard_runs_elsewhere;
use crate::agent_log::log_problem;

/// More than any file that a tool writes.
const MAX_INPUT_BYTES: u64 = 32 << 20;
/// The guard answers in milliseconds; a machine that stalls must not hold up an agent.
const GUARD_TIMEOUT: Duration = Duration::from_secs(2);
/// Memory that is only used if a file makes the parser recurse.
const GUARD_STACK_BYTES: usize = 16 << 20;
const MAX_HEAD_BYTES: usize = 64 << 10;
/// The tools that change files, as a payload names them.
const WRITERS: [&str; 4] = ["Write", "Edit", "MultiEdit", "NotebookEdit"];
const USAGE: &str = "/tdd start [requirements|interfaces|tests|implementation], /tdd confirm requirements|interfaces|tests, /tdd status, /tdd accept, /tdd overrule REASON, /tdd stop";

/// The hook's answer to Claude Code, and a line for the person.
type Reply = (HookReply, Option<String>);
const NO_REPLY: Reply = (HookReply::Nothing, None);

/// Answers one event; `plugin` is its name if the plugin's hook runs this.
pub(super) fn phases_hook(environment: &Environment, plugin: Option<&str>) -> ExitCode {
    if io::stdin().is_terminal() {
        return ExitCode::SUCCESS;
    }
    let (answer, tell) = match read_input() {
        Ok(bytes) => reply(environment, plugin, &bytes).unwrap_or_else(|problem| {
            log_problem(environment, "phases", &problem);
            failed(environment, &bytes, &problem)
        }),
        Err(problem) => failed(environment, &[], &problem),
    };
    if let Some(answer) = answer.to_json_telling(tell.as_deref()) {
        let mut stdout = io::stdout().lock();
        // A closed pipe means that Claude Code no longer waits for the answer.
        let _ = writeln!(stdout, "{answer}").and_then(|()| stdout.flush());
    }
    ExitCode::SUCCESS
}

fn read_input() -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .take(MAX_INPUT_BYTES)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("cannot read standard input: {error}"))?;
    Ok(bytes)
}

/// The answer after an error of ours. An edit is refused if there are phases, of whichever session: which one it is may
/// be what could not be read.
fn failed(environment: &Environment, bytes: &[u8], problem: &str) -> Reply {
    if is_edit(bytes) && has_phases(environment) {
        let reason = phases::not_judged(problem);
        let tell = format!("claude-codex: the TDD phases failed and refused an edit: {problem}");
        return (HookReply::DenyTool { reason }, Some(tell));
    }
    let tell = format!("claude-codex: the TDD phases failed and let this through: {problem}");
    (HookReply::Nothing, Some(tell))
}

/// Returns whether a payload, which may be cut off, is about an edit that is still to be made.
fn is_edit(bytes: &[u8]) -> bool {
    // The tool's input comes last and may be huge.
    let plain: Vec<u8> = bytes
        .iter()
        .take(MAX_HEAD_BYTES)
        .copied()
        .filter(|byte| !byte.is_ascii_whitespace())
        .collect();
    let says = |text: String| {
        plain
            .windows(text.len())
            .any(|part| part == text.as_bytes())
    };
    says(r#""hook_event_name":"PreToolUse""#.to_owned())
        && WRITERS
            .iter()
            .any(|tool| says(format!(r#""tool_name":"{tool}""#)))
}

/// Returns whether any session has a phase, by the folders of their snapshots: the database may be what failed.
fn has_phases(environment: &Environment) -> bool {
    let entries = environment
        .state_dir()
        .ok()
        .and_then(|folder| std::fs::read_dir(folder.join("phases")).ok());
    entries
        .into_iter()
        .flatten()
        .flatten()
        .any(|entry| entry.file_name().as_encoded_bytes().starts_with(b"p-"))
}

/// Who made a prompt, as far as Claude Code tells. Not every release does.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Origin {
    source: Option<String>,
    agent_id: Option<String>,
    session_crons: Vec<Value>,
}

fn reply(environment: &Environment, plugin: Option<&str>, bytes: &[u8]) -> Result<Reply, String> {
    let payload = Payload::parse(bytes)
        .map_err(|error| format!("the hook's input is not understood: {error}"))?;
    let command = match &payload.event {
        Event::UserPromptSubmit { prompt } => match PhaseCommand::parse(prompt) {
            Some(command) => Some(command),
            None => return Ok(NO_REPLY),
        },
        Event::Unknown => return Ok(NO_REPLY),
        _ => None,
    };
    let path = environment.database().map_err(|error| error.to_string())?;
    let origin: Origin = serde_json::from_slice(bytes).unwrap_or_default();
    // Only a command creates the database, or a scheduled prompt that may be one; without it there are no phases.
    if command.is_none() && origin.session_crons.is_empty() && !path.exists() {
        return Ok(NO_REPLY);
    }
    if let Event::PreToolUse(call) = payload.event {
        return guard_in_time(environment, plugin, payload.session_id, payload.cwd, call);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start the runtime: {error}"))?;
    let Some(phases) = open(environment, plugin, &payload.session_id)? else {
        return Ok(NO_REPLY);
    };
    runtime
        .block_on(unless_superseded(answer(&phases, payload, command, origin)))
        .map_err(|error| error.message)
}

/// Opens the database; `None` if the plugin runs this and a settings file runs the same hook.
fn open(
    environment: &Environment,
    plugin: Option<&str>,
    session: &str,
) -> Result<Option<Phases>, String> {
    let path = environment.database().map_err(|error| error.to_string())?;
    let store = Store::open(&path).map_err(|error| error.to_string())?;
    let phases = Phases::new(environment.clone(), store).map_err(|error| error.message)?;
    if let Some(event) = plugin
        && guard_runs_elsewhere(environment, &phases, session, event)
            .map_err(|error| error.message)?
    {
        return Ok(None);
    }
    Ok(Some(phases))
}

/// Runs the guard on its own thread, which is abandoned at the timeout.
fn guard_in_time(
    environment: &Environment,
    plugin: Option<&str>,
    session: String,
    directory: String,
    call: ToolCall,
) -> Result<Reply, String> {
    let (sender, receiver) = mpsc::channel();
    let environment = environment.clone();
    let plugin = plugin.map(str::to_owned);
    let judge = move || {
        let ruled = open(&environment, plugin.as_deref(), &session).and_then(|phases| {
            phases.map_or(Ok(None), |phases| {
                phases::guard(&phases, &session, Path::new(&directory), &call)
                    .map_err(|error| error.message)
            })
        });
        // The receiver is gone after the timeout.
        let _ = sender.send(ruled);
    };
    std::thread::Builder::new()
        .stack_size(GUARD_STACK_BYTES)
        .spawn(judge)
        .map_err(|error| format!("cannot start the guard: {error}"))?;
    let ruled = receiver.recv_timeout(GUARD_TIMEOUT).map_err(|error| {
        format!(
            "the guard gave up after {} ms: {error}",
            GUARD_TIMEOUT.as_millis()
        )
    })??;
    let answer = ruled.map_or(HookReply::Nothing, |reason| HookReply::DenyTool { reason });
    Ok((answer, None))
}

/// Stops on SIGTERM, which the check of a newer edit sends: this result would be out of date.
async fn unless_superseded(
    work: impl Future<Output = Result<Reply, Error>>,
) -> Result<Reply, Error> {
    let Ok(mut ended) = signal(SignalKind::terminate()) else {
        return work.await;
    };
    tokio::select! {
        reply = work => reply,
        _ = ended.recv() => Ok(NO_REPLY),
    }
}

async fn answer(
    phases: &Phases,
    payload: Payload,
    command: Option<PhaseCommand>,
    origin: Origin,
) -> Result<Reply, Error> {
    let session = payload.session_id.as_str();
    let directory = Path::new(&payload.cwd);
    let context = |event: HookName, text: Option<String>| {
        let answer = text.map_or(HookReply::Nothing, |context| HookReply::AddContext {
            event,
            context,
        });
        (answer, None)
    };
    match &payload.event {
        Event::SessionStart { source } => {
            if !phases::is_of_the_session(phases, session)? {
                return Ok(NO_REPLY);
            }
            let cleared = *source == Source::Clear;
            let text = phases::at_session_start(phases, session, directory, cleared)?;
            Ok(context(HookName::SessionStart, text))
        }
        Event::UserPromptSubmit { .. } => Ok(match command {
            Some(command) => {
                let said = Said {
                    source: origin.source.as_deref(),
                    agent: origin.agent_id.as_deref(),
                    transcript: Path::new(&payload.transcript_path),
                    directory,
                };
                run_command(phases, session, said, command).await
            }
            None => NO_REPLY,
        }),
        Event::PostToolUse { call, .. } if phases::runs_programs(&call.tool_name) => {
            let text = phases::after_command(phases, session).await?;
            Ok(context(HookName::PostToolUse, text))
        }
        Event::PostToolUse { call, .. } => {
            let text = phases::after_edit(phases, session, directory, call).await?;
            Ok(context(HookName::PostToolUse, text))
        }
        Event::PostToolUseFailure(_) => {
            let text = phases::after_command(phases, session).await?;
            Ok(context(HookName::PostToolUseFailure, text))
        }
        Event::ConfigChange { .. } => {
            let refused = phases::config_change(phases, session)?;
            let answer = refused.map_or(HookReply::Nothing, |reason| HookReply::RefuseChange {
                reason,
            });
            Ok((answer, None))
        }
        Event::Stop {
            stop_hook_active, ..
        } => {
            let crons = &origin.session_crons;
            let scheduled = phases::note_scheduled(phases, session, directory, crons);
            let end = phases::end_of_turn(phases, session, *stop_hook_active, scheduled).await?;
            Ok(match end {
                EndOfTurn::Pass { tell } => (HookReply::Nothing, tell),
                EndOfTurn::Block { reason, tell } => (HookReply::KeepWorking { reason }, tell),
            })
        }
        Event::SessionEnd { reason } => {
            if phases::is_of_the_session(phases, session)? {
                phases::at_session_end(phases, session, *reason == EndReason::Clear)?;
            }
            Ok(NO_REPLY)
        }
        Event::PreToolUse(_)
        | Event::PermissionRequest(_)
        | Event::Notification { .. }
        | Event::StopFailure { .. }
        | Event::Unknown => Ok(NO_REPLY),
    }
}

/// Runs a command that a person typed. An error is shown to them and the prompt goes no further.
async fn run_command(
    phases: &Phases,
    session: &str,
    said: Said<'_>,
    command: PhaseCommand,
) -> Reply {
    let event = HookName::UserPromptSubmit;
    match execute(phases, session, said, command).await {
        Ok(CommandReply {
            person,
            model: Some(context),
        }) => (HookReply::AddContext { event, context }, Some(person)),
        Ok(CommandReply {
            person: reason,
            model: None,
        }) => (HookReply::RefusePrompt { reason }, None),
        Err(error) => {
            let hint = error
                .hint
                .map(|hint| format!(" {hint}"))
                .unwrap_or_default();
            let reason = format!("TDD: {}.{hint}", error.message);
            (HookReply::RefusePrompt { reason }, None)
        }
    }
}

async fn execute(
    phases: &Phases,
    session: &str,
    said: Said<'_>,
    command: PhaseCommand,
) -> Result<CommandReply, Error> {
    let directory = said.directory;
    let row = || phases::row_for(phases, session, directory);
    let person = || {
        phases::require_typed(phases, session, said)?;
        phases::require_human_at_prompt(phases, session)
    };
    let work = async {
        match command.clone() {
            PhaseCommand::Start(phase) => {
                person()?;
                phases::start(phases, session, directory, phase).await
            }
            PhaseCommand::Confirm(phase) => {
                person()?;
                phases::confirm(phases, &row()?, phase).await
            }
            PhaseCommand::Accept => {
                person()?;
                phases::accept(phases, &row()?).await
            }
            PhaseCommand::Overrule(reason) => {
                person()?;
                phases::overrule(phases, &row()?, &reason)
            }
            PhaseCommand::Stop => {
                person()?;
                phases::stop_phases(phases, session)
            }
            PhaseCommand::Status => {
                phases::status_text(phases, session).map(CommandReply::to_person)
            }
            PhaseCommand::Unknown => Ok(CommandReply::to_person(format!(
                "TDD: nothing was changed. Type {USAGE}."
            ))),
        }
    };
    let reply = work.await;
    if !matches!(command, PhaseCommand::Status | PhaseCommand::Unknown) {
        let line =
            json!({ "session": session, "said": format!("{command:?}"), "done": reply.is_ok() });
        log_problem(&phases.environment, "phases", &line.to_string());
    }
    reply
}

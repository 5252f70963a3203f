//! `claude-codex hook`: called by Claude Code's hooks in the settings of agents.
//!
//! It answers in milliseconds and fails open: the exit code is always 0, because 2 would block the agent.

use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};
use shared::agent::{EndReason, Event, HookReply, Payload, Source};
use shared::config::Environment;
use shared::model::{EventSource, InstanceId};
use shared::store::{NewEvent, Store, StoreError, Writer};
use shared::workflow::{
    HookSession, instance_of_hook, last_paragraph, notify_in_background, remind_at_end_of_turn,
    take_at_end_of_turn,
};

use super::phases_hook::phases_hook;
use super::plugin_hook;
use crate::agent_log::log_problem;

/// Larger than any prompt or tool call; the rest of a longer payload is not read.
const MAX_PAYLOAD_BYTES: u64 = 8 << 20;
/// A stalled database must not hold up an agent. Usually a hook takes two milliseconds.
const HOOK_TIMEOUT: Duration = Duration::from_millis(500);
/// A worktree in which git takes longer is not looked at: then there is no reminder.
const REMINDER_TIMEOUT: Duration = Duration::from_millis(150);
/// How long what an agent has left running may take to wake it, before it counts as waiting for a person. A server that it
/// has started never ends.
const BACKGROUND_SECONDS: u32 = 600;
/// How a prompt begins that is the answer of a Stop hook, should Claude Code ever report those as prompts.
const STOP_HOOK_FEEDBACK: &str = "Stop hook feedback:";

/// Record what an agent is doing (called by the hooks in its Claude Code settings)
#[derive(Debug, Args)]
pub(crate) struct HookArgs {
    /// `SessionStart`, `UserPromptSubmit`, `Stop` and so on; the payload is read from standard input
    event: String,
    /// Only run the hook of the TDD phases
    #[arg(long)]
    tdd: bool,
    /// Do nothing if a settings file or a launch runs this hook, too (for the plugin)
    #[arg(long)]
    plugin: bool,
}

pub(crate) fn hook() -> ExitCode {
    let environment = Environment::current();
    let words: Vec<String> = std::env::args_os()
        .filter_map(|word| word.into_string().ok())
        .collect();
    let has = |flag| words.iter().any(|word| word == flag);
    let event = words.get(2).map(String::as_str).unwrap_or_default();
    let of_plugin = has(plugin_hook::FLAG);
    if has("--tdd") {
        return phases_hook(&environment, of_plugin.then_some(event));
    }
    if of_plugin && plugin_hook::runs_elsewhere(&environment, event) {
        return ExitCode::SUCCESS;
    }
    let id = environment.instance_id().ok().flatten();
    // On a terminal there is no payload: a person is trying it out.
    if !io::stdin().is_terminal()
        && let Err(problem) = answer_in_time(&environment)
        && let Some(id) = id
    {
        log_problem(&environment, id.as_str(), &problem);
    }
    ExitCode::SUCCESS
}

/// Does the work on a thread of its own, which is abandoned at the timeout.
fn answer_in_time(environment: &Environment) -> Result<(), String> {
    let (sender, receiver) = mpsc::channel();
    let environment = environment.clone();
    std::thread::spawn(move || {
        // The receiver is gone after the timeout.
        let _ = sender.send(answer(&environment));
    });
    receiver.recv_timeout(HOOK_TIMEOUT).unwrap_or_else(|error| {
        Err(format!(
            "gave up after {} ms: {error}",
            HOOK_TIMEOUT.as_millis()
        ))
    })
}

fn answer(environment: &Environment) -> Result<(), String> {
    let began = Instant::now();
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .take(MAX_PAYLOAD_BYTES)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("cannot read standard input: {error}"))?;
    let payload =
        Payload::parse(&bytes).map_err(|error| format!("cannot parse the payload: {error}"))?;
    let path = environment.database().map_err(|error| error.to_string())?;
    // A hook never creates the database: without one there is no instance either.
    if !path.exists() {
        return Err(format!("there is no database {}", path.display()));
    }
    let store = Store::open(&path).map_err(|error| error.to_string())?;
    let session = HookSession {
        id: &payload.session_id,
        replaces_another: matches!(
            payload.event,
            Event::SessionStart {
                source: Source::Clear | Source::Compact
            }
        ),
    };
    let id = instance_of_hook(&store, environment, session).map_err(|error| error.to_string())?;
    let Some(id) = id else {
        return Ok(());
    };
    store
        .write_now(|w| record(w, &id, &payload, began))
        .map_err(|error| error.to_string())?;
    if let Event::Stop {
        background_tasks, ..
    } = &payload.event
    {
        let transcript = Path::new(&payload.transcript_path);
        end_of_turn(&store, &id, transcript, background_tasks.is_empty())?;
    }
    if matches!(
        payload.event,
        Event::Stop { .. } | Event::StopFailure { .. } | Event::Notification { .. }
    ) {
        notify_in_background(environment, Some(&id)).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Hands the next owed message to an agent that has ended its turn, or else reminds it of what it has left undone.
fn end_of_turn(
    store: &Store,
    id: &InstanceId,
    transcript: &Path,
    is_all_done: bool,
) -> Result<(), String> {
    let owed = take_at_end_of_turn(store, id, transcript).map_err(|error| error.to_string())?;
    if let Some(message) = owed {
        keep_working(message)?;
        return store
            .write_now(|w| w.continue_turn(id))
            .map_err(|error| error.to_string());
    }
    // The end of what it has left running wakes it.
    if is_all_done && let Some(reminder) = reminder(store, id)? {
        keep_working(reminder)?;
    }
    Ok(())
}

fn reminder(store: &Store, id: &InstanceId) -> Result<Option<String>, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start: {error}"))?;
    let look = remind_at_end_of_turn(store, id);
    let found = runtime.block_on(async { tokio::time::timeout(REMINDER_TIMEOUT, look).await });
    // Neither a slow nor a broken repository is worth a word to the agent.
    match found {
        Ok(found) => found.map_err(|error| error.to_string()),
        Err(_) => Ok(None),
    }
}

/// Answers that the agent must go on, and why.
fn keep_working(reason: String) -> Result<(), String> {
    let Some(answer) = (HookReply::KeepWorking { reason }).to_json() else {
        return Ok(());
    };
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{answer}")
        .and_then(|()| stdout.flush())
        .map_err(|error| format!("cannot answer the agent: {error}"))
}

/// Updates the agent's last activity, and records turns, session starts and ends.
fn record(
    writer: &Writer<'_>,
    id: &InstanceId,
    payload: &Payload,
    began: Instant,
) -> Result<(), StoreError> {
    writer.touch(id)?;
    let (name, parameters) = match &payload.event {
        Event::SessionStart { source } => {
            ("SessionStart", json!({ "source": source_word(*source) }))
        }
        Event::SessionEnd { reason } => ("SessionEnd", json!({ "reason": reason_word(*reason) })),
        Event::UserPromptSubmit { prompt } if !prompt.starts_with(STOP_HOOK_FEEDBACK) => {
            return writer.begin_turn(id);
        }
        Event::Stop {
            last_assistant_message,
            background_tasks,
            ..
        } => {
            let said = last_assistant_message.as_deref().and_then(last_paragraph);
            let rests_in = if background_tasks.is_empty() {
                0
            } else {
                BACKGROUND_SECONDS
            };
            return writer.end_turn(id, said.as_deref(), rests_in);
        }
        Event::StopFailure {
            error,
            last_assistant_message,
        } => {
            let said = last_assistant_message.as_deref().unwrap_or(error);
            return writer.end_turn(id, last_paragraph(said).as_deref(), 0);
        }
        Event::UserPromptSubmit { .. }
        | Event::PreToolUse(_)
        | Event::PostToolUse { .. }
        | Event::PostToolUseFailure(_)
        | Event::ConfigChange { .. }
        | Event::PermissionRequest(_)
        | Event::Notification { .. }
        | Event::Unknown => return Ok(()),
    };
    writer.insert_event(&event(id, name, parameters, began))
}

fn event(id: &InstanceId, name: &str, parameters: Value, began: Instant) -> NewEvent {
    NewEvent {
        instance: Some(id.clone()),
        source: EventSource::Hook,
        server: "claude-codex".to_owned(),
        name: name.to_owned(),
        parameters,
        result: None,
        error_code: None,
        status_changes: Vec::new(),
        duration_ms: began.elapsed().as_secs_f64() * 1000.0,
    }
}

fn source_word(source: Source) -> &'static str {
    match source {
        Source::Startup => "startup",
        Source::Resume => "resume",
        Source::Clear => "clear",
        Source::Compact => "compact",
        Source::Other => "other",
    }
}

fn reason_word(reason: EndReason) -> &'static str {
    match reason {
        EndReason::Clear => "clear",
        EndReason::Logout => "logout",
        EndReason::PromptInputExit => "prompt_input_exit",
        EndReason::Resume => "resume",
        EndReason::Other => "other",
    }
}

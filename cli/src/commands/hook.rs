//! `claude-codex hook`: what agents' Claude Code settings call.
//!
//! It answers in milliseconds, and whatever goes wrong with us, the agent goes on: the exit code is
//! always 0, for 2 would block it.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, IsTerminal, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};
use shared::agent::{Answer, EndReason, Event, Payload, Source};
use shared::config::Environment;
use shared::model::secrets::without_secrets;
use shared::model::{EventSource, InstanceId};
use shared::store::{NewEvent, Store, StoreError, Writer};
use shared::workflow::{HookSession, instance_of_hook, take_at_end_of_turn};

use super::tdd_hook::tdd_hook;
use crate::text::harmless;
use crate::time;

/// More than any prompt or tool call; what is larger is not for us.
const MOST: u64 = 8 << 20;
/// A database that stalls must not hold up an agent. Usually it takes two milliseconds.
const PATIENCE: Duration = Duration::from_millis(500);

/// Tell what an agent is doing (called by its Claude Code settings)
#[derive(Debug, Args)]
pub(crate) struct HookArgs {
    /// `SessionStart`, `UserPromptSubmit`, `Stop` and so on; standard input has the particulars
    event: String,
    /// Only what the TDD phases have to say
    #[arg(long)]
    tdd: bool,
}

pub(crate) fn hook() -> ExitCode {
    let environment = Environment::of_process();
    if std::env::args_os().any(|word| word == "--tdd") {
        return tdd_hook(&environment);
    }
    let id = environment.instance_id().ok().flatten();
    // A person trying it out has nothing to tell.
    if !io::stdin().is_terminal()
        && let Err(problem) = answer_in_time(&environment)
        && let Some(id) = id
    {
        log(&environment, id.as_str(), &problem);
    }
    ExitCode::SUCCESS
}

/// Does the work on a thread of its own, which is left behind if it takes too long.
fn answer_in_time(environment: &Environment) -> Result<(), String> {
    let (sender, receiver) = mpsc::channel();
    let environment = environment.clone();
    std::thread::spawn(move || {
        // A receiver that has gone is no longer interested.
        let _ = sender.send(answer(&environment));
    });
    receiver.recv_timeout(PATIENCE).unwrap_or_else(|error| {
        Err(format!(
            "gave up after {} ms: {error}",
            PATIENCE.as_millis()
        ))
    })
}

fn answer(environment: &Environment) -> Result<(), String> {
    let began = Instant::now();
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .take(MOST)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("cannot read standard input: {error}"))?;
    let payload = Payload::parse(&bytes).map_err(|error| format!("not understood: {error}"))?;
    let path = environment.database().map_err(|error| error.to_string())?;
    // A hook doesn't make a database: where there is none, there is no instance either.
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
        .write_now(|w| take_in(w, &id, &payload, began))
        .map_err(|error| error.to_string())?;
    if matches!(payload.event, Event::Stop { .. }) {
        hand_over(&store, &id, Path::new(&payload.transcript_path))?;
    }
    Ok(())
}

/// Gives an agent that has ended its turn the next message that it is owed.
fn hand_over(store: &Store, id: &InstanceId, transcript: &Path) -> Result<(), String> {
    let owed = take_at_end_of_turn(store, id, transcript).map_err(|error| error.to_string())?;
    let Some(reason) = owed else {
        return Ok(());
    };
    let Some(answer) = (Answer::KeepWorking { reason }).to_json() else {
        return Ok(());
    };
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{answer}")
        .and_then(|()| stdout.flush())
        .map_err(|error| format!("cannot hand a message over: {error}"))
}

/// Keeps what a hook tells about its agent.
fn take_in(
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
        Event::UserPromptSubmit { .. }
        | Event::PreToolUse(_)
        | Event::PostToolUse { .. }
        | Event::PostToolUseFailure(_)
        | Event::ConfigChange { .. }
        | Event::PermissionRequest(_)
        | Event::Notification { .. }
        | Event::Stop { .. }
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

/// Leaves a line in a log, if that can be written.
pub(super) fn log(environment: &Environment, name: &str, problem: &str) {
    let Ok(folder) = environment.state_dir().map(|folder| folder.join("logs")) else {
        return;
    };
    let made = DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&folder);
    let file = made.and_then(|()| {
        OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(folder.join(format!("{name}.log")))
    });
    if let Ok(mut file) = file {
        let _ = writeln!(
            file,
            "{}  WARN hook: {}",
            time::now(),
            harmless(&without_secrets(problem))
        );
    }
}

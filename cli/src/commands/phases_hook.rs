//! `claude-codex hook EVENT --tdd`: the hooks that enforce TDD phases.
//!
//! They fail open: after an error of ours the agent goes on, and the person sees a warning.

use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Duration;

use phases::{CommandReply, EndOfTurn, PhaseCommand, Phases};
use serde_json::json;
use shared::agent::{EndReason, Event, HookName, HookReply, Payload, Source, ToolCall};
use shared::config::Environment;
use shared::error::Error;
use shared::store::Store;
use tokio::signal::unix::{SignalKind, signal};

use crate::agent_log::log_problem;

/// More than any file that a tool writes.
const MAX_INPUT_BYTES: u64 = 32 << 20;
/// The guard answers in milliseconds; a machine that stalls must not hold up an agent.
const GUARD_TIMEOUT: Duration = Duration::from_secs(2);
const USAGE: &str = "/tdd start [requirements|interfaces|tests|implementation], /tdd confirm requirements|interfaces|tests, /tdd status, /tdd accept, /tdd stop";

/// The hook's answer to Claude Code, and a line for the person.
type Reply = (HookReply, Option<String>);
const NO_REPLY: Reply = (HookReply::Nothing, None);

pub(super) fn phases_hook(environment: &Environment) -> ExitCode {
    if io::stdin().is_terminal() {
        return ExitCode::SUCCESS;
    }
    let (answer, tell) = reply(environment).unwrap_or_else(|problem| {
        log_problem(environment, "phases", &problem);
        let tell = format!("claude-codex: the TDD phases failed and let this through: {problem}");
        (HookReply::Nothing, Some(tell))
    });
    if let Some(answer) = answer.to_json_telling(tell.as_deref()) {
        let mut stdout = io::stdout().lock();
        // A closed pipe means that Claude Code no longer waits for the answer.
        let _ = writeln!(stdout, "{answer}").and_then(|()| stdout.flush());
    }
    ExitCode::SUCCESS
}

fn reply(environment: &Environment) -> Result<Reply, String> {
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .take(MAX_INPUT_BYTES)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("cannot read standard input: {error}"))?;
    let payload = Payload::parse(&bytes)
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
    // Only a command creates the database; without one there are no phases.
    if command.is_none() && !path.exists() {
        return Ok(NO_REPLY);
    }
    if let Event::PreToolUse(call) = payload.event {
        return guard_in_time(environment, payload.session_id, payload.cwd, call);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start the runtime: {error}"))?;
    let phases = open(environment)?;
    runtime
        .block_on(unless_superseded(answer(&phases, payload, command)))
        .map_err(|error| error.message)
}

fn open(environment: &Environment) -> Result<Phases, String> {
    let path = environment.database().map_err(|error| error.to_string())?;
    let store = Store::open(&path).map_err(|error| error.to_string())?;
    Phases::new(environment.clone(), store).map_err(|error| error.message)
}

/// Runs the guard on its own thread, which is abandoned at the timeout.
fn guard_in_time(
    environment: &Environment,
    session: String,
    directory: String,
    call: ToolCall,
) -> Result<Reply, String> {
    let (sender, receiver) = mpsc::channel();
    let environment = environment.clone();
    std::thread::spawn(move || {
        let ruled = open(&environment).and_then(|phases| {
            phases::guard(&phases, &session, Path::new(&directory), &call)
                .map_err(|error| error.message)
        });
        // The receiver is gone after the timeout.
        let _ = sender.send(ruled);
    });
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
            let cleared = *source == Source::Clear;
            let text = phases::at_session_start(phases, session, directory, cleared)?;
            Ok(context(HookName::SessionStart, text))
        }
        Event::UserPromptSubmit { .. } => Ok(match command {
            Some(command) => run_command(phases, session, directory, command).await,
            None => NO_REPLY,
        }),
        Event::PostToolUse { call, .. } if call.tool_name == "Bash" => {
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
        } => Ok(
            match phases::end_of_turn(phases, session, *stop_hook_active).await? {
                EndOfTurn::Pass { tell } => (HookReply::Nothing, tell),
                EndOfTurn::Block { reason, tell } => (HookReply::KeepWorking { reason }, tell),
            },
        ),
        Event::SessionEnd { reason } => {
            phases::at_session_end(phases, session, *reason == EndReason::Clear)?;
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
    directory: &Path,
    command: PhaseCommand,
) -> Reply {
    let event = HookName::UserPromptSubmit;
    match execute(phases, session, directory, command).await {
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
    directory: &Path,
    command: PhaseCommand,
) -> Result<CommandReply, Error> {
    let row = || phases::row_for(phases, session, directory);
    let person = || phases::require_human_at_prompt(phases, session);
    let work = async {
        match command {
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

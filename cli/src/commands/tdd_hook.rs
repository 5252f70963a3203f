//! `claude-codex hook EVENT --tdd`: the TDD phases' side of Claude Code's hooks.
//!
//! Whatever goes wrong with us, the agent goes on, and the person is told.

use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Duration;

use phases::{EndOfTurn, Phases, Spoken, Verb};
use serde_json::json;
use shared::agent::{Answer, EndReason, Event, HookName, Payload, Source, ToolCall};
use shared::config::Environment;
use shared::error::Error;
use shared::store::Store;
use tokio::signal::unix::{SignalKind, signal};

use super::hook::log;

/// More than any file that a tool writes.
const MOST: u64 = 32 << 20;
/// The guard answers in milliseconds; a machine that stalls must not hold up an agent.
const PATIENCE: Duration = Duration::from_secs(2);
const USAGE: &str = "/tdd start [requirements|interfaces|tests|implementation], /tdd confirm requirements|interfaces|tests, /tdd status, /tdd accept, /tdd stop";

/// What is printed: an answer, and a line for the person.
type Said = (Answer, Option<String>);

pub(super) fn tdd_hook(environment: &Environment) -> ExitCode {
    if io::stdin().is_terminal() {
        return ExitCode::SUCCESS;
    }
    let (answer, tell) = said(environment).unwrap_or_else(|problem| {
        log(environment, "phases", &problem);
        let tell = format!("claude-codex: the TDD phases failed and let this through: {problem}");
        (Answer::Nothing, Some(tell))
    });
    if let Some(answer) = answer.to_json_telling(tell.as_deref()) {
        let mut stdout = io::stdout().lock();
        // Nobody reads it any more: nobody is held back either.
        let _ = writeln!(stdout, "{answer}").and_then(|()| stdout.flush());
    }
    ExitCode::SUCCESS
}

fn said(environment: &Environment) -> Result<Said, String> {
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .take(MOST)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("cannot read standard input: {error}"))?;
    let payload = Payload::parse(&bytes)
        .map_err(|error| format!("the hook's input is not understood: {error}"))?;
    let nothing = (Answer::Nothing, None);
    let verb = match &payload.event {
        Event::UserPromptSubmit { prompt } => match phases::heard(prompt) {
            Some(verb) => Some(verb),
            None => return Ok(nothing),
        },
        Event::Unknown => return Ok(nothing),
        _ => None,
    };
    let path = environment.database().map_err(|error| error.to_string())?;
    // Only what a person says makes a database: where there is none, there is no phase.
    if verb.is_none() && !path.exists() {
        return Ok(nothing);
    }
    if let Event::PreToolUse(call) = payload.event {
        return guard_in_time(environment, payload.session_id, payload.cwd, call);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot begin: {error}"))?;
    let phases = open(environment)?;
    runtime
        .block_on(unless_superseded(answer(&phases, payload, verb)))
        .map_err(|error| error.message)
}

fn open(environment: &Environment) -> Result<Phases, String> {
    let path = environment.database().map_err(|error| error.to_string())?;
    let store = Store::open(&path).map_err(|error| error.to_string())?;
    Phases::new(environment.clone(), store).map_err(|error| error.message)
}

/// Asks the guard on a thread of its own, which is left behind if it takes too long.
fn guard_in_time(
    environment: &Environment,
    session: String,
    directory: String,
    call: ToolCall,
) -> Result<Said, String> {
    let (sender, receiver) = mpsc::channel();
    let environment = environment.clone();
    std::thread::spawn(move || {
        let ruled = open(&environment).and_then(|phases| {
            phases::guard(&phases, &session, Path::new(&directory), &call)
                .map_err(|error| error.message)
        });
        // A receiver that has gone is no longer interested.
        let _ = sender.send(ruled);
    });
    let ruled = receiver.recv_timeout(PATIENCE).map_err(|error| {
        format!(
            "the guard gave up after {} ms: {error}",
            PATIENCE.as_millis()
        )
    })??;
    let answer = ruled.map_or(Answer::Nothing, |reason| Answer::DenyTool { reason });
    Ok((answer, None))
}

/// A newer edit's check ends this one; what it would have said is out of date.
async fn unless_superseded(work: impl Future<Output = Result<Said, Error>>) -> Result<Said, Error> {
    let Ok(mut ended) = signal(SignalKind::terminate()) else {
        return work.await;
    };
    tokio::select! {
        said = work => said,
        _ = ended.recv() => Ok((Answer::Nothing, None)),
    }
}

async fn answer(phases: &Phases, payload: Payload, verb: Option<Verb>) -> Result<Said, Error> {
    let session = payload.session_id.as_str();
    let directory = Path::new(&payload.cwd);
    let context = |event: HookName, said: Option<String>| {
        let answer = said.map_or(Answer::Nothing, |context| Answer::AddContext {
            event,
            context,
        });
        (answer, None)
    };
    match &payload.event {
        Event::SessionStart { source } => {
            let cleared = *source == Source::Clear;
            let said = phases::at_session_start(phases, session, directory, cleared)?;
            Ok(context(HookName::SessionStart, said))
        }
        Event::UserPromptSubmit { .. } => Ok(match verb {
            Some(verb) => heard(phases, session, directory, verb).await,
            None => (Answer::Nothing, None),
        }),
        Event::PostToolUse { call, .. } if call.tool_name == "Bash" => {
            let said = phases::after_command(phases, session).await?;
            Ok(context(HookName::PostToolUse, said))
        }
        Event::PostToolUse { call, .. } => {
            let said = phases::after_edit(phases, session, directory, call).await?;
            Ok(context(HookName::PostToolUse, said))
        }
        Event::PostToolUseFailure(_) => {
            let said = phases::after_command(phases, session).await?;
            Ok(context(HookName::PostToolUseFailure, said))
        }
        Event::ConfigChange { .. } => {
            let refused = phases::config_change(phases, session)?;
            let answer = refused.map_or(Answer::Nothing, |reason| Answer::RefuseChange { reason });
            Ok((answer, None))
        }
        Event::Stop {
            stop_hook_active, ..
        } => Ok(
            match phases::end_of_turn(phases, session, *stop_hook_active).await? {
                EndOfTurn::Pass { tell } => (Answer::Nothing, tell),
                EndOfTurn::Block { reason, tell } => (Answer::KeepWorking { reason }, tell),
            },
        ),
        Event::SessionEnd { reason } => {
            phases::at_session_end(phases, session, *reason == EndReason::Clear)?;
            Ok((Answer::Nothing, None))
        }
        Event::PreToolUse(_)
        | Event::PermissionRequest(_)
        | Event::Notification { .. }
        | Event::Unknown => Ok((Answer::Nothing, None)),
    }
}

/// Does what a person typed; what can't be done is told to them and goes no further.
async fn heard(phases: &Phases, session: &str, directory: &Path, verb: Verb) -> Said {
    let refused = |reason: String| (Answer::RefusePrompt { reason }, None);
    match obeyed(phases, session, directory, verb).await {
        Ok(Spoken {
            person,
            model: Some(context),
        }) => {
            let event = HookName::UserPromptSubmit;
            (Answer::AddContext { event, context }, Some(person))
        }
        Ok(Spoken {
            person,
            model: None,
        }) => refused(person),
        Err(error) => {
            let hint = error
                .hint
                .map(|hint| format!(" {hint}"))
                .unwrap_or_default();
            refused(format!("TDD: {}.{hint}", error.message))
        }
    }
}

async fn obeyed(
    phases: &Phases,
    session: &str,
    directory: &Path,
    verb: Verb,
) -> Result<Spoken, Error> {
    let only_told = |person: String| Spoken {
        person,
        model: None,
    };
    if verb == Verb::Status {
        return phases::status_text(phases, session).map(only_told);
    }
    if verb == Verb::Unclear {
        return Ok(only_told(format!(
            "TDD: nothing was changed. Type {USAGE}."
        )));
    }
    let spoken = said_by_person(phases, session, directory, verb).await;
    log(
        &phases.environment,
        "phases",
        &json!({ "session": session, "said": format!("{verb:?}"), "done": spoken.is_ok() })
            .to_string(),
    );
    spoken
}

async fn said_by_person(
    phases: &Phases,
    session: &str,
    directory: &Path,
    verb: Verb,
) -> Result<Spoken, Error> {
    phases::person_at_prompt(phases, session)?;
    match verb {
        Verb::Start(phase) => phases::start(phases, session, directory, phase).await,
        Verb::Confirm(phase) => {
            let row = phases::row_for(phases, session, directory)?;
            phases::confirm(phases, &row, phase).await
        }
        Verb::Accept => {
            let row = phases::row_for(phases, session, directory)?;
            phases::accept(phases, &row).await
        }
        Verb::Stop => phases::stop_phases(phases, session),
        Verb::Status | Verb::Unclear => Ok(Spoken {
            person: USAGE.to_owned(),
            model: None,
        }),
    }
}

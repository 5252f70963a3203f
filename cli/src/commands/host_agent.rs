//! `claude-codex host-agent`: takes the turns of a headless agent, one after the other.
//!
//! The agent's terminal session runs this, from its launch to its end. So the agent can be watched,
//! stopped and found dead like every other, and goes on with its turn when whoever asked for it dies.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use clap::Args;
use shared::agent::{self, FROM_THE_PANE, LastMessage, Turn, TurnEnd};
use shared::config::Environment;
use shared::error::{Code, Error};
use shared::process::{self, ProcessError, Source};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::exec_agent::end_leftovers;
use crate::action_lines::ActionLines;
use crate::failure::Failure;
use crate::output::{BOLD, Output};
use crate::text::harmless;
use crate::time;

const LOOK: Duration = Duration::from_millis(100);
/// Lines of standard error that go into the reason of a failure.
const LAST_WORDS: usize = 5;

/// Take the turns that a folder asks for
#[derive(Debug, Args)]
pub(crate) struct HostAgentArgs {
    folder: PathBuf,
}

pub(crate) async fn host_agent(args: &HostAgentArgs, output: Output) -> Result<(), Failure> {
    let of_person = agent::take_environment(&args.folder).map_err(Error::from)?;
    process::adopt_orphans();
    let stop = CancellationToken::new();
    tokio::spawn(cancel_when_the_terminal_goes(stop.clone()));
    // Ctrl-C in the terminal reaches the agent, whose turn then ends; its host stays.
    let _interrupt = signal(SignalKind::interrupt());
    while !stop.is_cancelled() && args.folder.is_dir() {
        match agent::next_turn(&args.folder).map_err(Error::from)? {
            Some((number, turn)) => {
                if take(number, &turn, &of_person, &stop, output).await? == Taken::ByAnother {
                    pause(&stop).await;
                }
            }
            None => pause(&stop).await,
        }
    }
    end_leftovers(&Environment::of_process()).await;
    Ok(())
}

async fn pause(stop: &CancellationToken) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = tokio::time::sleep(LOOK) => {}
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taken {
    ByUs,
    /// By a host that has not noticed yet that its terminal is gone.
    ByAnother,
}

async fn cancel_when_the_terminal_goes(stop: CancellationToken) {
    let kinds = [SignalKind::hangup(), SignalKind::terminate()];
    let [Ok(mut hangup), Ok(mut terminate)] = kinds.map(signal) else {
        return;
    };
    tokio::select! {
        _ = hangup.recv() => {}
        _ = terminate.recv() => {}
    }
    stop.cancel();
}

/// Takes one turn to its end; one that is broken off has none.
async fn take(
    number: u32,
    turn: &Turn,
    of_person: &agent::Environment,
    stop: &CancellationToken,
    output: Output,
) -> Result<Taken, Failure> {
    let unwritable = |path: &Path, source: &io::Error| {
        Error::new(
            Code::AgentFailed,
            format!("cannot write {}: {source}", path.display()),
        )
    };
    let stream_path = agent::stream_file(&turn.records, number);
    let stream = OpenOptions::new()
        .create_new(true)
        .write(true)
        .mode(0o600)
        .open(&stream_path);
    let mut stream = match stream {
        Ok(stream) => stream,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(Taken::ByAnother),
        Err(error) => return Err(unwritable(&stream_path, &error).into()),
    };
    let mut log = OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(&turn.log)
        .map_err(|source| unwritable(&turn.log, &source))?;
    // A terminal or a log that can't be written to is no reason to end the turn.
    let mut tell = |text: &str| {
        let now = time::now();
        let _ = output.print(&format!("{now} {text}\n"));
        let _ = writeln!(log, "{now} {}", anstream::adapter::strip_str(text));
    };
    tell(&format!("{BOLD}turn {number} begins{BOLD:#}"));
    let mut lines = ActionLines::new(&turn.launch.directory);
    let mut last = LastMessage::default();
    let mut last_words: Vec<String> = Vec::new();
    let hear = |source: Source, line: &[u8]| match source {
        Source::Output => {
            let _ = stream.write_all(&[line, b"\n"].concat());
            for event in agent::parse_stream(&String::from_utf8_lossy(line)) {
                last.take(&event);
                if let Some((text, style)) = lines.line(&event) {
                    tell(&format!("{style}{text}{style:#}"));
                }
            }
        }
        Source::Error => {
            let text = harmless(&String::from_utf8_lossy(line));
            if !text.trim().is_empty() {
                tell(&text);
                last_words.push(text);
                if last_words.len() > LAST_WORDS {
                    last_words.remove(0);
                }
            }
        }
    };
    let status = run(turn, of_person, hear, stop).await;
    if stop.is_cancelled() {
        return Ok(Taken::ByUs);
    }
    let error = failure(&status, &last_words);
    let end = match (last.finish(), error) {
        (Ok(message), error) => TurnEnd { message, error },
        (Err(why), _) => TurnEnd {
            message: String::new(),
            error: Some(why),
        },
    };
    let how = match &end.error {
        None => format!("turn {number} has ended"),
        Some(error) => format!("turn {number} has failed: {}", harmless(error)),
    };
    tell(&format!("{BOLD}{how}{BOLD:#}"));
    agent::end_turn(&turn.records, number, &end).map_err(Error::from)?;
    Ok(Taken::ByUs)
}

async fn run(
    turn: &Turn,
    of_person: &agent::Environment,
    hear: impl FnMut(Source, &[u8]),
    stop: &CancellationToken,
) -> Result<ExitStatus, ProcessError> {
    let launch = &turn.launch;
    let (program, arguments) = launch
        .argv
        .split_first()
        .ok_or_else(|| ProcessError::NotFound {
            program: String::new(),
        })?;
    let input = File::open(&turn.input).map_err(|source| ProcessError::Io {
        program: program.clone(),
        source,
    })?;
    let environment = Environment::of_process();
    let pane = FROM_THE_PANE
        .iter()
        .filter_map(|name| Some((*name, environment.get(name)?)));
    let mut command = process::command(program, arguments);
    command
        .env_clear()
        .envs(of_person)
        .envs(&launch.environment)
        .envs(pane)
        .current_dir(&launch.directory);
    process::follow(&mut command, Stdio::from(input), hear, stop.cancelled()).await
}

/// Says why a turn failed by how its process ended.
fn failure(status: &Result<ExitStatus, ProcessError>, last_words: &[String]) -> Option<String> {
    let status = match status {
        Ok(status) if status.success() => return None,
        Ok(status) => status,
        Err(error) => return Some(error.to_string()),
    };
    let said = if last_words.is_empty() {
        String::new()
    } else {
        format!(": {}", last_words.join(" / "))
    };
    Some(format!("the agent ended with {status}{said}"))
}

//! `claude-codex host-agent`: runs the turns of a headless agent, one after the other.
//!
//! The agent's tmux session runs this from launch to end. So a headless agent can be watched, stopped and found dead like
//! any other, and finishes its turn even if the process that asked for the turn dies.

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
use shared::model::Timestamp;
use shared::process::{self, ProcessError, Source};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::exec_agent::end_leftovers;
use crate::agent_log::open_log;
use crate::failure::Failure;
use crate::output::{BOLD, Output, activity_style};
use crate::text::harmless;

const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// How many lines of standard error the reason of a failure contains.
const MAX_ERROR_LINES: usize = 5;

/// Run the turns that a folder asks for
#[derive(Debug, Args)]
pub(crate) struct HostAgentArgs {
    folder: PathBuf,
}

pub(crate) async fn host_agent(args: &HostAgentArgs, output: Output) -> Result<(), Failure> {
    let of_person = agent::take_environment(&args.folder).map_err(Error::from)?;
    process::adopt_orphans();
    let stop = CancellationToken::new();
    tokio::spawn(cancel_when_the_terminal_goes(stop.clone()));
    // Ctrl-C in the terminal ends the turn of the agent, not its host.
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
    end_leftovers(&Environment::current()).await;
    Ok(())
}

async fn pause(stop: &CancellationToken) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = tokio::time::sleep(POLL_INTERVAL) => {}
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taken {
    ByUs,
    /// By another host, which has not yet noticed that its terminal is gone.
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

/// Runs one turn. A cancelled turn records no end.
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
    let mut log = open_log(&turn.log).map_err(|source| unwritable(&turn.log, &source))?;
    // Errors of the terminal or the log do not end the turn.
    let mut tell = |text: &str| {
        let now = Timestamp::now();
        let _ = output.print(&format!("{now} {text}\n"));
        let _ = writeln!(log, "{now} {}", anstream::adapter::strip_str(text));
    };
    tell(&format!("{BOLD}turn {number} starts{BOLD:#}"));
    let mut lines = agent::ActivityLines::new(&turn.launch.directory);
    let mut last = LastMessage::default();
    let mut last_words: Vec<String> = Vec::new();
    let hear = |source: Source, line: &[u8]| match source {
        Source::Output => {
            let _ = stream.write_all(&[line, b"\n"].concat());
            for event in agent::parse_stream(&String::from_utf8_lossy(line)) {
                last.take(&event);
                if let Some(item) = lines.item(&event) {
                    let style = activity_style(item.kind);
                    tell(&format!("{style}{}{style:#}", item.first_line()));
                }
            }
        }
        Source::Error => {
            let text = harmless(&String::from_utf8_lossy(line));
            if !text.trim().is_empty() {
                tell(&text);
                last_words.push(text);
                if last_words.len() > MAX_ERROR_LINES {
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
    let environment = Environment::current();
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

/// Returns the reason why a turn failed, from the exit status and the last lines of standard error.
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

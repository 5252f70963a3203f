//! `claude-codex logs`

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use shared::error::{Code, Error};
use shared::model::{Instance, InstanceId};
use shared::workflow::{self, Context};

use crate::failure::Failure;
use crate::output::{BOLD, DIM, Output};
use crate::session;
use crate::text::harmless_block;

/// How much of the end of a log is printed.
const TAIL: u64 = 64 << 10;
const POLL: Duration = Duration::from_millis(250);

const EXAMPLES: &str = "\
Examples:
  claude-codex logs work-42-a1                 its log, then what its terminal shows
  claude-codex logs work-42-a1 --follow        the log as it grows, until the agent ends
  claude-codex logs work-42-a1 --lines 500     more of its terminal";

/// Print an agent's log and what its terminal shows
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LogsArgs {
    /// The agent
    id: InstanceId,
    /// Keep printing the log as it grows
    #[arg(long, short)]
    follow: bool,
    /// How many lines of the terminal to print
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=20_000))]
    lines: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    instance_id: &'a InstanceId,
    log_file: &'a Path,
    log: &'a str,
    terminal: Option<&'a str>,
}

pub(crate) async fn logs(args: &LogsArgs, output: Output) -> Result<(), Failure> {
    if args.follow && output.is_json() {
        return Err(Error::new(
            Code::InvalidArguments,
            "a log that grows is not one document",
        )
        .hint("Leave out --follow or --json.")
        .into());
    }
    let context = session::open(output).await?;
    let id = args.id.clone();
    let instance = context.store.read(move |r| r.instance(&id)).await?;
    let mut log = Log::new(context.log_file(&args.id));
    let text = log.read_new()?;
    let terminal = terminal(&context, &instance, args.lines).await?;
    if output.is_json() {
        return output.document(&Document {
            instance_id: &instance.id,
            log_file: &log.path,
            log: &text,
            terminal: terminal.as_deref(),
        });
    }
    let path = log.path.display();
    if text.is_empty() {
        output.print(&format!(
            "{DIM}{path} is empty: nothing went wrong{DIM:#}\n"
        ))?;
    } else {
        output.print(&format!("{BOLD}{path}{BOLD:#}\n{}", ended(&text)))?;
    }
    match terminal {
        Some(shown) => output.print(&format!("{BOLD}Terminal{BOLD:#}\n{}", ended(&shown)))?,
        None => output.print(&format!("{DIM}it has no terminal{DIM:#}\n"))?,
    }
    if args.follow {
        return follow(&context, &instance.id, log, output).await;
    }
    Ok(())
}

async fn follow(
    context: &Context,
    id: &InstanceId,
    mut log: Log,
    output: Output,
) -> Result<(), Failure> {
    loop {
        let wanted = id.clone();
        let instance = context.store.read(move |r| r.instance(&wanted)).await?;
        let new = log.read_new()?;
        if !new.is_empty() {
            output.print(&harmless_block(&new))?;
        }
        if !instance.status.is_live() {
            return Ok(());
        }
        tokio::time::sleep(POLL).await;
    }
}

/// Returns what the terminal shows; none when there is none.
async fn terminal(
    context: &Context,
    instance: &Instance,
    lines: u32,
) -> Result<Option<String>, Failure> {
    if instance.tmux_session.is_none() {
        return Ok(None);
    }
    match workflow::screen(context, instance, lines).await {
        Ok(shown) => Ok(Some(harmless_block(shown.trim_end()))),
        Err(error) if error.code == Code::TmuxSessionNotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns the text clean and with a line break at its end.
fn ended(text: &str) -> String {
    let mut text = harmless_block(text);
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// A log file, and how far it was read.
struct Log {
    path: PathBuf,
    position: Option<u64>,
}

impl Log {
    fn new(path: PathBuf) -> Self {
        Self {
            path,
            position: None,
        }
    }

    /// Returns what was added; the first time the end of what is there. One that is not there is empty.
    fn read_new(&mut self) -> Result<String, Error> {
        let unreadable = |source: std::io::Error| {
            Error::new(
                Code::Internal,
                format!("cannot read {}: {source}", self.path.display()),
            )
        };
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(String::new()),
            Err(error) => return Err(unreadable(error)),
        };
        let length = file.metadata().map_err(unreadable)?.len();
        // A file that became shorter was begun anew.
        let known = self.position.filter(|position| *position <= length);
        let from = known.unwrap_or(0).max(length.saturating_sub(TAIL));
        file.seek(SeekFrom::Start(from)).map_err(unreadable)?;
        let mut bytes = Vec::new();
        file.take(length - from)
            .read_to_end(&mut bytes)
            .map_err(unreadable)?;
        // An unfinished line stays for the next time.
        let whole = bytes
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |end| end + 1);
        self.position = Some(from + whole as u64);
        let mut text = &bytes[..whole];
        if from > 0 && known != Some(from) {
            // The cut is in the middle of a line.
            let begin = text
                .iter()
                .position(|byte| *byte == b'\n')
                .map_or(0, |end| end + 1);
            text = &text[begin..];
        }
        Ok(String::from_utf8_lossy(text).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_log_is_read_piece_by_piece() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        let mut log = Log::new(path.clone());
        assert_eq!(log.read_new().unwrap(), "");
        let mut file = File::create(&path).unwrap();
        file.write_all(b"one\ntw").unwrap();
        assert_eq!(log.read_new().unwrap(), "one\n");
        file.write_all(b"o\n").unwrap();
        assert_eq!(log.read_new().unwrap(), "two\n");
        assert_eq!(log.read_new().unwrap(), "");
        std::fs::write(&path, "new\n").unwrap();
        assert_eq!(log.read_new().unwrap(), "new\n");
    }

    #[test]
    fn of_a_long_log_the_end_is_read_in_whole_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        let line = format!("{}\n", "x".repeat(99));
        std::fs::write(&path, line.repeat(2_000)).unwrap();
        let text = Log::new(path).read_new().unwrap();
        assert!(text.len() as u64 <= TAIL && text.len() > 60_000);
        assert!(text.lines().all(|line| line.len() == 99));
    }
}

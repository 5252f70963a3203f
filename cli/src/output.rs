//! Printing: data to standard output, everything else to standard error.
//!
//! Styles are stripped where they can't be shown (no terminal, `NO_COLOR`), so callers just use them.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use serde::Serialize;
use shared::error::{Code, Error};

use crate::failure::Failure;
use crate::text::{cut, harmless, harmless_block, harmless_json};

pub(crate) const PLAIN: Style = Style::new();
pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
pub(crate) const NAME: Style = AnsiColor::Cyan.on_default();

/// Width of lines when nobody says how wide the terminal is.
const DEFAULT_WIDTH: usize = 100;

/// No line that is worth reading is longer; a broken file may be one line as a whole.
const LONGEST_LINE: usize = 1_000;

/// How the user wants to read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    json: bool,
}

#[expect(
    clippy::unused_self,
    reason = "printing goes through the one value that knows how"
)]
impl Output {
    pub(crate) fn new(json: bool) -> Self {
        Self { json }
    }

    pub(crate) fn is_json(self) -> bool {
        self.json
    }

    /// Prints one JSON document.
    pub(crate) fn document(self, value: &impl Serialize) -> Result<(), Failure> {
        Self::write_json(serde_json::to_string_pretty(value))
    }

    /// Prints one JSON document on one line, for streams.
    pub(crate) fn document_line(self, value: &impl Serialize) -> Result<(), Failure> {
        Self::write_json(serde_json::to_string(value))
    }

    /// JSON holds no styles that would have to be taken out, but may be read in a terminal all the same.
    fn write_json(text: serde_json::Result<String>) -> Result<(), Failure> {
        let text = text.map_err(|error| {
            Error::new(Code::Internal, format!("cannot be shown as JSON: {error}"))
        })?;
        let mut stdout = io::stdout().lock();
        stdout.write_all(harmless_json(&text).as_bytes())?;
        stdout.write_all(b"\n")?;
        stdout.flush()?;
        Ok(())
    }

    /// Prints text, which may hold styles of ours, and nothing unclean of others.
    pub(crate) fn print(self, text: &str) -> Result<(), Failure> {
        let mut stdout = anstream::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        stdout.flush()?;
        Ok(())
    }

    /// Writes text to standard output as it is, for another program.
    pub(crate) fn raw(self, text: &str) -> Result<(), Failure> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        stdout.flush()?;
        Ok(())
    }

    /// Says something beside the data, unless a program is reading.
    pub(crate) fn note(self, label: &str, style: Style, text: &str) {
        if !self.json {
            say(label, style, text);
        }
    }

    /// Tells beside the data what is happening, in a line that may hold styles of ours.
    pub(crate) fn line(self, text: &str) {
        if !self.json {
            let _ = writeln!(anstream::stderr().lock(), "{text}");
        }
    }

    /// Prints a failure and returns the exit code.
    pub(crate) fn failure(self, failure: &Failure) -> ExitCode {
        if let Failure::Error(error) = failure {
            self.error(error);
        }
        failure.exit_code().into()
    }

    fn error(self, error: &Error) {
        let error = &error.clone().without_secrets();
        if self.json {
            // An error consists of texts; it always becomes JSON.
            if let Ok(text) = serde_json::to_string(error) {
                let _ = writeln!(io::stderr().lock(), "{}", harmless_json(&text));
            }
            return;
        }
        say("error", BAD, &error.message);
        if let Some(hint) = &error.hint {
            say("hint", NAME, hint);
        }
    }
}

/// Prints a labelled text to standard error; one that nobody reads is no reason to fail.
fn say(label: &str, style: Style, text: &str) {
    let _ = writeln!(
        anstream::stderr().lock(),
        "{style}{label}:{style:#} {}",
        beside_label(text)
    );
}

/// Sets further lines in: a file's name or git's answer could have one that begins like a hint of ours.
fn beside_label(text: &str) -> String {
    let lines = harmless_block(text);
    let lines: Vec<String> = lines.lines().map(|line| cut(line, LONGEST_LINE)).collect();
    lines.join("\n  ")
}

/// Prints what clap has to say: help to standard output, wrong usage to standard error.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    let json = std::env::args_os().any(|word| word == "--json");
    if error.use_stderr() && json {
        let text = error.render().to_string();
        let message = text.lines().next().unwrap_or_default();
        let message = message.strip_prefix("error: ").unwrap_or(message);
        let error = Error::new(Code::InvalidArguments, harmless(message)).hint(
            "`claude-codex help` shows the commands, `claude-codex COMMAND --help` one of them.",
        );
        Output::new(true).error(&error);
        return 2.into();
    }
    let _ = error.print();
    u8::try_from(error.exit_code()).unwrap_or(2).into()
}

/// Returns how many columns a line on standard output may have.
pub(crate) fn width() -> usize {
    if !io::stdout().is_terminal() {
        // Whatever reads a pipe can cut lines itself; a bound keeps tables readable in a file.
        return 2 * DEFAULT_WIDTH;
    }
    terminal_size::terminal_size().map_or(DEFAULT_WIDTH, |(width, _)| usize::from(width.0))
}

/// Returns how many lines the terminal shows.
pub(crate) fn height() -> usize {
    terminal_size::terminal_size().map_or(24, |(_, height)| usize::from(height.0))
}

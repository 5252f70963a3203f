//! Output: data on standard output, everything else on standard error.
//!
//! Colours and styles are stripped where they cannot be shown (no terminal, `NO_COLOR`), so callers always use them.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use rustix::termios::{Winsize, tcgetwinsize};
use serde::Serialize;
use shared::error::{Code, Error};
use shared::model::ActivityKind;

use crate::failure::Failure;
use crate::text::{cut, harmless, harmless_block, harmless_json};

pub(crate) const PLAIN: Style = Style::new();
pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
pub(crate) const NAME: Style = AnsiColor::Cyan.on_default();

/// Returns the style of an item of an agent's activity.
pub(crate) const fn activity_style(kind: ActivityKind) -> Style {
    match kind {
        ActivityKind::Said => DIM,
        ActivityKind::Told => NAME,
        ActivityKind::Ran | ActivityKind::Changed | ActivityKind::Did => PLAIN,
        ActivityKind::Passed => GOOD,
        ActivityKind::Failed => BAD,
        ActivityKind::Warned => WARNING,
    }
}

/// The size assumed where the terminal reports none.
const DEFAULT_WIDTH: usize = 100;
const DEFAULT_HEIGHT: usize = 24;

/// Longer lines of an error are cut: a broken file may consist of a single line.
const MAX_LINE_COLUMNS: usize = 1_000;

/// The output format: text or JSON.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    json: bool,
}

#[expect(clippy::unused_self, reason = "all printing goes through this value")]
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

    /// Writes JSON with hidden characters escaped, because it may be read in a terminal.
    fn write_json(text: serde_json::Result<String>) -> Result<(), Failure> {
        let text = text.map_err(|error| {
            Error::new(
                Code::Internal,
                format!("cannot convert the result to JSON: {error}"),
            )
        })?;
        let mut stdout = io::stdout().lock();
        stdout.write_all(harmless_json(&text).as_bytes())?;
        stdout.write_all(b"\n")?;
        stdout.flush()?;
        Ok(())
    }

    /// Prints text, which may contain our styles. Text from elsewhere must have passed `harmless`.
    pub(crate) fn print(self, text: &str) -> Result<(), Failure> {
        let mut stdout = anstream::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        stdout.flush()?;
        Ok(())
    }

    /// Writes text to standard output unchanged, for another program.
    pub(crate) fn raw(self, text: &str) -> Result<(), Failure> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        stdout.flush()?;
        Ok(())
    }

    /// Prints a labelled note on standard error, unless the output is JSON.
    pub(crate) fn note(self, label: &str, style: Style, text: &str) {
        if !self.json {
            say(label, style, text);
        }
    }

    /// Prints a line, which may contain our styles, on standard error, unless the output is JSON.
    pub(crate) fn line(self, text: &str) {
        if !self.json {
            let _ = writeln!(anstream::stderr().lock(), "{text}");
        }
    }

    /// Prints an error about one of several things.
    pub(crate) fn problem_of(self, about: &str, mut error: Error) {
        error.message = format!("{about}: {}", error.message);
        self.error(&error);
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
            // Serialization cannot fail: an error consists of strings and JSON.
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

/// Prints a labelled text on standard error. Write errors are ignored.
fn say(label: &str, style: Style, text: &str) {
    let _ = writeln!(
        anstream::stderr().lock(),
        "{style}{label}:{style:#} {}",
        beside_label(text)
    );
}

/// Indents continuation lines, so that a file name or output of git cannot imitate a hint of ours.
fn beside_label(text: &str) -> String {
    let lines = harmless_block(text);
    let lines: Vec<String> = lines
        .lines()
        .map(|line| cut(line, MAX_LINE_COLUMNS))
        .collect();
    lines.join("\n  ")
}

/// Prints help on standard output, or a usage error on standard error.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    let json = std::env::args_os().any(|word| word == "--json");
    if error.use_stderr() && json {
        let text = error.render().to_string();
        let message = text.lines().next().unwrap_or_default();
        let message = message.strip_prefix("error: ").unwrap_or(message);
        let error = Error::new(Code::InvalidArguments, harmless(message)).hint(
            "`claude-codex help` lists the commands; `claude-codex COMMAND --help` describes one.",
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
        // A pipe has no width; a limit keeps tables readable in a file.
        return 2 * DEFAULT_WIDTH;
    }
    window_size().map_or(DEFAULT_WIDTH, |size| usize::from(size.ws_col))
}

/// Returns how many lines the terminal shows.
pub(crate) fn height() -> usize {
    window_size().map_or(DEFAULT_HEIGHT, |size| usize::from(size.ws_row))
}

/// Returns the size of the terminal on standard output, if it is one that knows its size.
fn window_size() -> Option<Winsize> {
    let size = tcgetwinsize(io::stdout()).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then_some(size)
}

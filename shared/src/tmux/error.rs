//! tmux errors.

use std::path::PathBuf;

use super::version::Version;
use crate::model::hidden::{number, reveal_in_line};
use crate::process::ProcessError;

/// Characters kept of text that others wrote.
const MAX_EXCERPT_CHARS: usize = 300;

#[derive(Debug, thiserror::Error)]
pub enum TmuxError {
    #[error("tmux is not installed: `{program}` was not found")]
    NotInstalled { program: String },
    #[error("tmux {found} is too old; {needed} or newer is needed")]
    TooOld { found: Version, needed: Version },
    #[error("`{name}` can't name a {kind}: 1 to 100 ASCII letters, digits and `{signs}` can")]
    InvalidName {
        kind: &'static str,
        signs: &'static str,
        name: String,
    },
    #[error("there is a tmux session `{session}` already")]
    SessionExists { session: String },
    #[error("there is no tmux session `{session}`")]
    SessionMissing { session: String },
    #[error("a session needs a program to run")]
    EmptyCommand,
    #[error("`{name}` is not a usable environment variable name")]
    InvalidVariable { name: String },
    #[error("the tmux command takes {bytes} bytes; {limit} are allowed")]
    CommandTooLong { bytes: usize, limit: usize },
    #[error("{} is not an absolute path of a directory that can be entered", directory.display())]
    InvalidDirectory { directory: PathBuf },
    #[error("there is no text to paste")]
    EmptyText,
    #[error("the text has the hidden character {} at byte {offset}", number(*character))]
    UnsafeText { character: char, offset: usize },
    #[error("terminal output can't be logged to {}: the path has `#`, `%` or a control character, or is not absolute", path.display())]
    UnsafeLogPath { path: PathBuf },
    #[error("cannot write {}: {source}", path.display())]
    Write {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("the tmux server ended during `{action}`, {attempts} times in a row: {stderr}")]
    ServerLost {
        action: &'static str,
        attempts: usize,
        stderr: String,
    },
    #[error("`tmux {action}` failed ({status}): {stderr}")]
    Failed {
        action: &'static str,
        status: std::process::ExitStatus,
        stderr: String,
    },
    #[error("`tmux {action}` printed something unexpected: {output}")]
    UnexpectedOutput {
        action: &'static str,
        output: String,
    },
    #[error(transparent)]
    Process(ProcessError),
}

impl From<ProcessError> for TmuxError {
    fn from(error: ProcessError) -> Self {
        match error {
            ProcessError::NotFound { program } => Self::NotInstalled { program },
            ProcessError::Spawn { .. }
            | ProcessError::Io { .. }
            | ProcessError::TimedOut { .. }
            | ProcessError::TooMuchOutput { .. } => Self::Process(error),
        }
    }
}

/// Returns the beginning of foreign text with hidden characters made visible.
pub(super) fn excerpt(text: &str) -> String {
    let text = reveal_in_line(text.trim());
    let mut kept: String = text.chars().take(MAX_EXCERPT_CHARS).collect();
    if kept.len() < text.len() && text.chars().nth(MAX_EXCERPT_CHARS).is_some() {
        kept.push('…');
    }
    kept
}

//! Ending of an agent's program: exit status or signal, and the last screen of its terminal.

use schemars::JsonSchema;
use serde::Serialize;

use super::Timestamp;

/// How an agent's program ended, and the last lines of its terminal: kept when its session is ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ending {
    /// `null` if it was killed, or was still running when its session was ended.
    pub exit_status: Option<i32>,
    /// The signal that killed it.
    pub signal: Option<i32>,
    /// The last lines, without secrets and hidden characters.
    pub screen: String,
    pub at: Timestamp,
}

impl Ending {
    /// Returns how it ended, as the end of a sentence about it.
    pub fn in_words(&self) -> String {
        ended_in_words(self.exit_status, self.signal)
    }

    /// Tells whether the program ended by itself, or was killed by somebody else than us.
    pub fn is_known(&self) -> bool {
        self.exit_status.is_some() || self.signal.is_some()
    }

    /// Returns the last lines of the screen that are not blank, at most so many.
    pub fn last_lines(&self, most: usize) -> Vec<&str> {
        last_lines(&self.screen, most)
    }
}

/// Returns how a program ended, as the end of a sentence about it.
pub fn ended_in_words(exit_status: Option<i32>, signal: Option<i32>) -> String {
    match (exit_status, signal) {
        (_, Some(signal)) => format!("was killed by signal {signal}"),
        (Some(status), None) => format!("exited with status {status}"),
        (None, None) => "was running when its session was ended".to_owned(),
    }
}

/// Returns the last lines of a text that are not blank, at most so many.
pub fn last_lines(text: &str, most: usize) -> Vec<&str> {
    let mut lines: Vec<&str> = text
        .lines()
        .rev()
        .map(str::trim_end)
        .filter(|line| !line.is_empty())
        .take(most)
        .collect();
    lines.reverse();
    lines
}

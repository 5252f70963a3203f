//! Turns of a headless agent: files by which one process asks for a turn and another reports it.
//!
//! A turn is asked for with `turn-N.json` in the agent's own folder, which is private; the person's
//! environment is not in it, its host has that from its launch. What the agent prints goes to `turn-N.jsonl`, and how the turn ended to
//! `turn-N.end`, both in the folder of its records, which stay when the agent is put away.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::AgentError;
use super::launch::{Launch, make_private, write_json};

/// A turn to be taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    pub launch: Launch,
    /// What the program gets as standard input.
    pub input: PathBuf,
    /// Where the turn is recorded.
    pub records: PathBuf,
    /// The log in which a person reads what happened.
    pub log: PathBuf,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnEnd {
    /// The agent's last message; empty if it said nothing.
    pub message: String,
    /// Why the turn failed, if it did.
    pub error: Option<String>,
}

/// Asks for a turn. The file appears whole.
pub fn ask_for_turn(folder: &Path, number: u32, turn: &Turn) -> Result<(), AgentError> {
    make_private(folder)?;
    make_private(&turn.records)?;
    write_json(&folder.join(format!("turn-{number}.json")), turn)
}

/// Makes the folder in which turns are asked for.
pub fn prepare_turns(folder: &Path) -> Result<(), AgentError> {
    make_private(folder)
}

/// Tells whether a turn was asked for.
pub fn is_asked_for(folder: &Path, number: u32) -> bool {
    folder.join(format!("turn-{number}.json")).exists()
}

/// Returns the first turn that was asked for and has not ended.
pub fn next_turn(folder: &Path) -> Result<Option<(u32, Turn)>, AgentError> {
    for number in numbers(folder, "json") {
        let path = folder.join(format!("turn-{number}.json"));
        let read = |source| AgentError::Read {
            path: path.clone(),
            source,
        };
        let bytes = std::fs::read(&path).map_err(read)?;
        let turn: Turn = serde_json::from_slice(&bytes).map_err(|source| AgentError::Corrupt {
            path: path.clone(),
            source,
        })?;
        if !end_file(&turn.records, number).exists() {
            return Ok(Some((number, turn)));
        }
    }
    Ok(None)
}

/// Returns the number of the last turn that was ever asked for; 0 if there was none.
pub fn last_turn(folder: &Path, records: &Path) -> u32 {
    let asked = numbers(folder, "json").into_iter().max();
    let recorded = numbers(records, "jsonl").into_iter().max();
    asked.max(recorded).unwrap_or(0)
}

/// Returns the file with what the agent printed.
pub fn stream_file(records: &Path, number: u32) -> PathBuf {
    records.join(format!("turn-{number}.jsonl"))
}

fn end_file(records: &Path, number: u32) -> PathBuf {
    records.join(format!("turn-{number}.end"))
}

/// Records how a turn ended.
pub fn end_turn(records: &Path, number: u32, end: &TurnEnd) -> Result<(), AgentError> {
    make_private(records)?;
    write_json(&end_file(records, number), end)
}

/// Returns how a turn ended; nothing while it is under way.
pub fn turn_end(records: &Path, number: u32) -> Result<Option<TurnEnd>, AgentError> {
    let path = end_file(records, number);
    match std::fs::read(&path) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|source| AgentError::Corrupt { path, source }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(AgentError::Read { path, source }),
    }
}

/// Returns the numbers of the files `turn-N.<extension>` in a folder, in order.
fn numbers(folder: &Path, extension: &str) -> Vec<u32> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut numbers: Vec<u32> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let (stem, found) = name.strip_prefix("turn-")?.split_once('.')?;
            (found == extension).then(|| stem.parse().ok()).flatten()
        })
        .collect();
    numbers.sort_unstable();
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_asked_for_taken_once_and_reported() {
        let root = tempfile::tempdir().unwrap();
        let (folder, records) = (root.path().join("agent"), root.path().join("records"));
        assert_eq!(next_turn(&folder).unwrap(), None);
        assert_eq!(last_turn(&folder, &records), 0);
        let turn = Turn {
            launch: Launch {
                argv: vec!["true".to_owned()],
                environment: std::collections::BTreeMap::new(),
                directory: root.path().to_owned(),
            },
            input: root.path().join("in"),
            records: records.clone(),
            log: root.path().join("log"),
        };
        for number in [2, 10] {
            ask_for_turn(&folder, number, &turn).unwrap();
        }
        assert!(is_asked_for(&folder, 2) && !is_asked_for(&folder, 3));
        assert_eq!(next_turn(&folder).unwrap().unwrap().0, 2);
        assert_eq!(turn_end(&records, 2).unwrap(), None);
        let end = TurnEnd {
            message: "done".to_owned(),
            error: None,
        };
        end_turn(&records, 2, &end).unwrap();
        assert_eq!(turn_end(&records, 2).unwrap(), Some(end));
        assert_eq!(next_turn(&folder).unwrap().unwrap(), (10, turn));
        assert_eq!(last_turn(&folder, &records), 10);
    }
}

//! Activity from transcripts: what an agent was told, said, ran and changed, page by page.
//!
//! `/clear` and some ways to resume begin another transcript, so an agent has several; they are read one after the other, the one
//! that was written last at the end. A page is found by a cursor that needs no memory: how far each file was read.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde_json::Value;

use super::activity::{ActivityLines, said};
use super::error::AgentError;
use super::stream::{StreamEvent, blocks};
use super::transcript_lines::TranscriptLines;
use crate::model::{ActivityItem, ActivityKind};

/// How many of an agent's transcripts are looked at: those written last.
pub(super) const MAX_FILES: usize = 8;
/// How much of the end of each file is searched for the last items.
const MAX_TAIL_BYTES: u64 = 4 << 20;
/// How much is read for one page.
const MAX_PAGE_BYTES: u64 = 16 << 20;
/// Of a cursor that somebody sends.
const MAX_CURSOR_BYTES: usize = 1_000;

/// How far each transcript was read, by the name of its session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActivityCursor(BTreeMap<String, u64>);

/// A text that is no cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is not a cursor")]
pub struct InvalidCursor;

impl fmt::Display for ActivityCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (session, offset)) in self.0.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            write!(f, "{comma}{session}.{offset}")?;
        }
        Ok(())
    }
}

impl FromStr for ActivityCursor {
    type Err = InvalidCursor;

    fn from_str(text: &str) -> Result<Self, InvalidCursor> {
        if text.len() > MAX_CURSOR_BYTES {
            return Err(InvalidCursor);
        }
        let parts = text.split(',').filter(|part| !part.is_empty());
        let read = parts.map(|part| {
            let (session, offset) = part.rsplit_once('.')?;
            Some((session.to_owned(), offset.parse().ok()?))
        });
        read.collect::<Option<_>>().map(Self).ok_or(InvalidCursor)
    }
}

/// Some of what an agent did, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActivityPage {
    pub items: Vec<ActivityItem>,
    /// Where the next page begins.
    pub cursor: ActivityCursor,
    /// There is more to read at once.
    pub more: bool,
}

/// Reads what follows a cursor, at most about `limit` items; without a cursor, the last `limit`.
pub fn read_activity(
    transcripts: Vec<PathBuf>,
    worktree: &Path,
    after: Option<&ActivityCursor>,
    limit: usize,
) -> Result<ActivityPage, AgentError> {
    let files = by_age(transcripts);
    let mut page = ActivityPage::default();
    match after {
        Some(after) => read_after(&files, worktree, after, limit, &mut page)?,
        None => read_last(&files, worktree, limit, &mut page)?,
    }
    Ok(page)
}

/// Returns the transcripts that were written last, oldest first.
fn by_age(transcripts: Vec<PathBuf>) -> Vec<PathBuf> {
    let written = |path: &PathBuf| path.metadata().and_then(|found| found.modified()).ok();
    let mut files: Vec<_> = transcripts
        .into_iter()
        .filter_map(|path| Some((written(&path)?, path)))
        .collect();
    files.sort();
    let first = files.len().saturating_sub(MAX_FILES);
    files.drain(..first);
    files.into_iter().map(|(_, path)| path).collect()
}

fn read_after(
    files: &[PathBuf],
    worktree: &Path,
    after: &ActivityCursor,
    limit: usize,
    page: &mut ActivityPage,
) -> Result<(), AgentError> {
    page.cursor = after.clone();
    let named = |session: &String| files.iter().any(|path| session_of(path) == *session);
    page.cursor.0.retain(|session, _| named(session));
    let mut budget = MAX_PAGE_BYTES;
    let mut activity = ActivityLines::new(worktree);
    for path in files {
        let session = session_of(path);
        let from = after.0.get(&session).copied().unwrap_or_default();
        let failed = |source| unreadable(path, source);
        let Some(mut lines) = TranscriptLines::open_at(path, from).map_err(failed)? else {
            continue;
        };
        loop {
            page.more = page.items.len() >= limit || lines.bytes_read() >= budget;
            if page.more {
                break;
            }
            let Some(line) = lines.next().map_err(failed)? else {
                break;
            };
            page.items.extend(items(line, &mut activity));
        }
        page.cursor.0.insert(session, lines.offset());
        if page.more {
            return Ok(());
        }
        budget = budget.saturating_sub(lines.bytes_read());
    }
    Ok(())
}

fn read_last(
    files: &[PathBuf],
    worktree: &Path,
    limit: usize,
    page: &mut ActivityPage,
) -> Result<(), AgentError> {
    for path in files.iter().rev() {
        let missing = limit - page.items.len();
        // What is not needed is only passed over.
        let bytes = if missing > 0 { MAX_TAIL_BYTES } else { 0 };
        let failed = |source| unreadable(path, source);
        let Some(mut lines) = TranscriptLines::open_tail(path, bytes).map_err(failed)? else {
            continue;
        };
        let mut activity = ActivityLines::new(worktree);
        let mut last = VecDeque::new();
        while let Some(line) = lines.next().map_err(failed)? {
            last.extend(items(line, &mut activity));
            last.drain(..last.len().saturating_sub(missing));
        }
        page.cursor.0.insert(session_of(path), lines.offset());
        last.extend(std::mem::take(&mut page.items));
        page.items = last.into();
    }
    Ok(())
}

fn session_of(path: &Path) -> String {
    let name = path.file_stem().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn unreadable(path: &Path, source: io::Error) -> AgentError {
    AgentError::Read {
        path: path.to_owned(),
        source,
    }
}

/// Returns what one record says.
fn items(line: &[u8], activity: &mut ActivityLines) -> Vec<ActivityItem> {
    let Ok(record) = serde_json::from_slice::<Value>(line) else {
        return Vec::new();
    };
    // A subagent's part, and copies in a conversation that was branched off.
    if record["isSidechain"] == true || !record["forkedFrom"].is_null() {
        return Vec::new();
    }
    let mut items: Vec<ActivityItem> = match record["type"].as_str() {
        Some("assistant") => answer(&record, activity),
        Some("user") => input(&record, activity),
        Some("attachment") if record["attachment"]["type"] == "queued_command" => {
            let prompt = record["attachment"]["prompt"].as_str();
            prompt.and_then(told).into_iter().collect()
        }
        Some(_) | None => Vec::new(),
    };
    let at = record["timestamp"]
        .as_str()
        .and_then(|text| text.parse().ok());
    for item in &mut items {
        item.at = at;
    }
    items
}

fn answer(record: &Value, activity: &mut ActivityLines) -> Vec<ActivityItem> {
    let failed = record["isApiErrorMessage"] == true;
    let events = blocks(&record["message"]["content"]);
    events
        .iter()
        .filter_map(|event| match event {
            StreamEvent::Text(text) if failed => said(ActivityKind::Failed, text),
            _ => activity.item(event),
        })
        .collect()
}

fn input(record: &Value, activity: &mut ActivityLines) -> Vec<ActivityItem> {
    if record["isCompactSummary"] == true {
        return vec![ActivityItem {
            kind: ActivityKind::Did,
            at: None,
            text: "continues with a summary of the conversation".to_owned(),
        }];
    }
    let content = &record["message"]["content"];
    let is_meta = record["isMeta"] == true;
    // Claude Code's own additions are no messages, but what a Stop hook says is.
    let hear = |text: &str| match text.strip_prefix("Stop hook feedback:\n") {
        Some(feedback) => told(feedback),
        None if is_meta => None,
        None => told(text),
    };
    if let Some(text) = content.as_str() {
        return hear(text).into_iter().collect();
    }
    let is_shell = record["toolUseResult"]["stdout"].is_string();
    let events = blocks(content);
    events
        .iter()
        .filter_map(|event| match event {
            StreamEvent::Text(text) => hear(text),
            StreamEvent::ToolResult { id, .. } => {
                if is_shell {
                    activity.expect_shell(id);
                }
                activity.item(event)
            }
            _ => None,
        })
        .collect()
}

/// Returns what the agent was told; none for what a slash command or a person's `!` printed.
fn told(text: &str) -> Option<ActivityItem> {
    let printed = ["<bash-", "<local-command-", "<command-", "Caveat: "];
    if printed.iter().any(|start| text.starts_with(start)) {
        return None;
    }
    said(ActivityKind::Told, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::fs;
    use std::time::{Duration, SystemTime};

    fn saying(text: &str) -> String {
        let record = json!({"type": "assistant", "timestamp": "2026-01-02T03:04:05.678Z",
            "message": {"content": [{"type": "text", "text": text}]}});
        format!("{record}\n")
    }

    fn texts(page: &ActivityPage) -> Vec<&str> {
        page.items.iter().map(|item| item.text.as_str()).collect()
    }

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn add(&self, session: &str, text: &str, seconds: u64) {
            let path = self.0.path().join(format!("{session}.jsonl"));
            let before = fs::read_to_string(&path).unwrap_or_default();
            fs::write(&path, before + text).unwrap();
            let at = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            let file = fs::File::options().append(true).open(&path).unwrap();
            file.set_modified(at).unwrap();
        }

        fn read(&self, after: Option<&ActivityCursor>, limit: usize) -> ActivityPage {
            let files = fs::read_dir(self.0.path()).unwrap();
            let files = files.map(|entry| entry.unwrap().path()).collect();
            read_activity(files, Path::new("/w"), after, limit).unwrap()
        }
    }

    #[test]
    fn pages_go_on_in_the_transcript_that_follows() {
        let folder = Folder(tempfile::tempdir().unwrap());
        assert_eq!(folder.read(None, 9), ActivityPage::default());
        folder.add("a", &(saying("one") + &saying("two")), 1);
        folder.add("b", &saying("three"), 2);
        assert_eq!(texts(&folder.read(None, 2)), ["two", "three"]);
        assert_eq!(texts(&folder.read(None, 1)), ["three"]);
        let page = folder.read(None, 9);
        assert_eq!(texts(&page), ["one", "two", "three"]);
        assert_eq!(
            page.items[0].at,
            Some("2026-01-02T03:04:05.678Z".parse().unwrap())
        );
        folder.add("b", &(saying("four") + "{\"half"), 3);
        folder.add("c", &saying("five"), 4);
        let cursor: ActivityCursor = page.cursor.to_string().parse().unwrap();
        assert_eq!(cursor, page.cursor);
        let page = folder.read(Some(&cursor), 1);
        assert_eq!((texts(&page), page.more), (vec!["four"], true));
        let page = folder.read(Some(&page.cursor), 9);
        assert_eq!((texts(&page), page.more), (vec!["five"], false));
        let page = folder.read(Some(&page.cursor), 9);
        assert_eq!((texts(&page), page.more), (vec![], false));
        // A cursor from elsewhere reads from the beginning, or from the middle of a line.
        for text in ["a.99999", "x.1,a.7", ""] {
            folder.read(Some(&text.parse().unwrap()), 9);
        }
        assert_eq!("a".parse::<ActivityCursor>(), Err(InvalidCursor));
    }

    #[test]
    fn records_are_told_apart() {
        let lines = [
            (
                json!({"type": "user", "message": {"content": "Fix it\nplease"}}),
                "told Fix it\nplease",
            ),
            (
                json!({"type": "user", "isMeta": true, "message": {"content": "Stop hook feedback:\nmore"}}),
                "told more",
            ),
            (
                json!({"type": "attachment", "attachment": {"type": "queued_command", "prompt": "also"}}),
                "told also",
            ),
            (
                json!({"type": "assistant", "message": {"content": [{"type": "tool_use", "id": "t", "name": "Edit",
                "input": {"file_path": "/w/a.rs", "old_string": "a\nb\nc", "new_string": "a\nx\ny\nc"}}]}}),
                "changed edits a.rs (+2 −1)",
            ),
            (
                json!({"type": "assistant", "message": {"content": [{"type": "tool_use", "id": "u", "name": "Bash",
                "input": {"command": "cargo test"}}]}}),
                "ran runs cargo test",
            ),
            (
                json!({"type": "user", "toolUseResult": {"stdout": ""}, "message": {"content": [{"type": "tool_result",
                "tool_use_id": "from an earlier page", "content": "2 passed"}]}}),
                "passed ✓ 2 passed",
            ),
            (
                json!({"type": "assistant", "isApiErrorMessage": true, "message": {"content": [{"type": "text",
                "text": "API Error"}]}}),
                "failed API Error",
            ),
            (
                json!({"type": "assistant", "message": {"content": [{"type": "text",
                "text": "\u{1b}]0;x\u{7} ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"}]}}),
                "said <U+001B>]0;x<U+0007> [redacted]",
            ),
        ];
        let mut activity = ActivityLines::new(Path::new("/w"));
        for (record, expected) in lines {
            let found = items(record.to_string().as_bytes(), &mut activity);
            let found: Vec<_> = found
                .iter()
                .map(|item| format!("{} {}", item.kind, item.text))
                .collect();
            assert_eq!(found, [expected]);
        }
        for record in [
            json!({"type": "user", "isMeta": true, "message": {"content": "Caveat"}}),
            json!({"type": "user", "message": {"content": "<command-name>/clear</command-name>"}}),
            json!({"type": "assistant", "isSidechain": true, "message": {"content": [{"type": "text", "text": "x"}]}}),
            json!({"type": "summary"}),
        ] {
            assert_eq!(items(record.to_string().as_bytes(), &mut activity), []);
        }
        assert_eq!(items(b"\xff{", &mut activity), []);
        let long = saying(&"é".repeat(100_000));
        assert!(
            items(long.as_bytes(), &mut activity)[0]
                .text
                .chars()
                .count()
                <= 4_000
        );
    }
}

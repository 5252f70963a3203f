//! Agent activity: one item for each event of an agent's stream or transcript (messages, commands, edits, results of tests).
//!
//! What agents say is not trusted: items are bounded, without secrets, and hidden characters are shown by number.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::stream::StreamEvent;
use crate::model::hidden::{reveal, reveal_in_line};
use crate::model::secrets;
use crate::model::{ActivityItem, ActivityKind};

/// Longer commands and paths are cut.
const MAX_LINE_CHARS: usize = 160;
/// Longer messages are cut.
const MAX_SAID_CHARS: usize = 2_200;
/// Shell calls whose result is waited for; more are never open at a time.
const MAX_SHELLS: usize = 1_000;

/// Turns the events of one agent into items.
#[derive(Debug)]
pub struct ActivityLines {
    worktree: PathBuf,
    /// Shell calls that wait for their result.
    shells: HashSet<String>,
}

impl ActivityLines {
    /// Paths inside the worktree are shown relative to it.
    pub fn new(worktree: &Path) -> Self {
        Self {
            worktree: worktree.to_owned(),
            shells: HashSet::new(),
        }
    }

    /// Returns the item for an event, or none if it is not worth showing.
    pub fn item(&mut self, event: &StreamEvent) -> Option<ActivityItem> {
        let (kind, text) = match event {
            StreamEvent::Began { missing } if missing.is_empty() => return None,
            StreamEvent::Began { missing } => (
                ActivityKind::Warned,
                format!("works without the MCP server {}", missing.join(", ")),
            ),
            StreamEvent::Text(text) => return said(ActivityKind::Said, text),
            StreamEvent::Plain(text) => (ActivityKind::Did, text.trim().to_owned()),
            StreamEvent::Tool { id, name, input } => {
                if name == "Bash" {
                    self.expect_shell(id);
                }
                self.action(name, input)
            }
            StreamEvent::ToolResult { id, error, text } => {
                let shell = self.shells.remove(id);
                let tests = shell.then(|| test_summary(text)).flatten();
                match (tests, error) {
                    (Some(summary), _) if says_failure(&summary) => {
                        (ActivityKind::Failed, format!("✗ {summary}"))
                    }
                    (Some(summary), _) => (ActivityKind::Passed, format!("✓ {summary}")),
                    (None, true) => (ActivityKind::Failed, format!("✗ {}", complaint(text))),
                    (None, false) => return None,
                }
            }
            StreamEvent::Result { error: true, text } => {
                (ActivityKind::Failed, format!("✗ {}", first_line(text)))
            }
            // The handoff or the verdict is reported separately.
            StreamEvent::Result { error: false, .. } => return None,
        };
        let text = cut(&reveal_in_line(&redacted(&text)), MAX_LINE_CHARS);
        (!text.trim().is_empty()).then_some(ActivityItem {
            kind,
            at: None,
            text,
        })
    }

    /// Remembers that a call was a shell's, whose output may end with the summary of a test runner.
    pub(super) fn expect_shell(&mut self, id: &str) {
        if self.shells.len() >= MAX_SHELLS {
            self.shells.clear();
        }
        self.shells.insert(id.to_owned());
    }

    fn action(&self, name: &str, input: &Value) -> (ActivityKind, String) {
        let text = |key: &str| input[key].as_str().unwrap_or_default();
        let path = |key: &str| {
            let path = Path::new(text(key));
            let below = path.strip_prefix(&self.worktree).unwrap_or(path);
            below.to_string_lossy().into_owned()
        };
        let changes = |what: &str, key: &str| {
            let size = change_size(input);
            (ActivityKind::Changed, format!("{what} {}{size}", path(key)))
        };
        match name {
            "Write" => changes("writes", "file_path"),
            "Edit" | "MultiEdit" => changes("edits", "file_path"),
            "NotebookEdit" => changes("edits", "notebook_path"),
            "Bash" => (
                ActivityKind::Ran,
                format!("runs {}", first_line(text("command"))),
            ),
            "Read" => (ActivityKind::Did, format!("reads {}", path("file_path"))),
            "Grep" | "Glob" => (
                ActivityKind::Did,
                format!("searches for {}", text("pattern")),
            ),
            "TodoWrite" => (ActivityKind::Did, "updates its to-do list".to_owned()),
            "Task" | "Agent" => (
                ActivityKind::Did,
                format!("starts a subagent: {}", text("description")),
            ),
            _ => (
                ActivityKind::Did,
                match name.rsplit_once("__") {
                    Some((_, tool)) => format!("calls {tool}"),
                    None => format!("uses {name}"),
                },
            ),
        }
    }
}

/// Returns an item for something said; none for nothing.
pub(super) fn said(kind: ActivityKind, text: &str) -> Option<ActivityItem> {
    let text = reveal(&redacted(text.trim())).replace('\t', " ");
    let text = cut(&text, MAX_SAID_CHARS);
    (!text.is_empty()).then_some(ActivityItem {
        kind,
        at: None,
        text,
    })
}

/// Returns how many lines an edit adds and removes, as in ` (+3 −1)`; nothing if the call does not say.
fn change_size(input: &Value) -> String {
    let one = std::slice::from_ref(input);
    let edits = input["edits"].as_array().map_or(one, Vec::as_slice);
    let (mut added, mut removed) = (0, 0);
    for edit in edits {
        let lines = |key: &str| -> Vec<&str> {
            let text = edit[key].as_str().unwrap_or_default();
            text.lines().collect()
        };
        let (old, mut new) = (lines("old_string"), lines("new_string"));
        new.extend(lines("content"));
        let shorter = old.len().min(new.len());
        let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| {
            pairs.take_while(|(one, other)| one == other).count()
        };
        let before = same(&mut old.iter().zip(&new));
        let after = same(&mut old.iter().rev().zip(new.iter().rev())).min(shorter - before);
        added += new.len() - before - after;
        removed += old.len() - before - after;
    }
    match (added, removed) {
        (0, 0) => String::new(),
        (added, 0) => format!(" (+{added})"),
        (0, removed) => format!(" (−{removed})"),
        (added, removed) => format!(" (+{added} −{removed})"),
    }
}

fn redacted(text: &str) -> String {
    match secrets::redact(&Value::String(text.to_owned())) {
        Value::String(text) => text,
        _ => String::new(),
    }
}

/// Returns the first line that is not blank.
fn first_line(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty());
    line.unwrap_or_default().trim().to_owned()
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text.chars().take(most - 1).chain(['…']).collect(),
    }
}

/// Returns the first line of a failed call; for a shell, its exit code and the first line of output.
fn complaint(text: &str) -> String {
    let first = first_line(text);
    let rest = text.split_once('\n').map_or("", |(_, rest)| rest);
    let said = first_line(rest);
    if first.starts_with("Exit code") && !said.is_empty() {
        format!("{first}: {said}")
    } else {
        first
    }
}

/// Finds the summary line of a test runner, the last one if there are several.
fn test_summary(output: &str) -> Option<String> {
    let line = output.lines().rev().find(|line| is_summary(line.trim()))?;
    Some(line.trim().trim_matches('=').trim().to_owned())
}

fn is_summary(line: &str) -> bool {
    let lower = line.to_lowercase();
    // cargo, unittest, PHPUnit, and the per-package lines of go.
    if lower.starts_with("test result:")
        || ["OK (", "FAILED (", "FAIL\t", "ok  \t"]
            .iter()
            .any(|start| line.starts_with(start))
    {
        return true;
    }
    let words: Vec<&str> = lower
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    words.windows(2).any(|pair| {
        pair[0].bytes().all(|byte| byte.is_ascii_digit())
            && matches!(
                pair[1],
                "passed" | "failed" | "passing" | "failing" | "tests" | "examples"
            )
    })
}

fn says_failure(summary: &str) -> bool {
    let lower = summary.to_lowercase();
    if lower.starts_with("test result: ok") {
        return false;
    }
    let words: Vec<&str> = lower
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    lower.starts_with("fail")
        || lower.starts_with("test result: failed")
        || words.windows(2).any(|pair| {
            pair[0].parse::<u64>().is_ok_and(|count| count > 0)
                && matches!(
                    pair[1],
                    "failed" | "failing" | "failures" | "failure" | "errors"
                )
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tool(id: &str, name: &str, input: Value) -> StreamEvent {
        StreamEvent::Tool {
            id: id.to_owned(),
            name: name.to_owned(),
            input,
        }
    }

    #[test]
    fn actions_are_told_in_a_line() {
        let mut lines = ActivityLines::new(Path::new("/w"));
        let mut line = |event| lines.item(&event).map(|item| item.first_line().to_owned());
        for (event, expected) in [
            (
                tool("1", "Write", json!({"file_path": "/w/a/b.rs"})),
                "writes a/b.rs",
            ),
            (
                tool("2", "Edit", json!({"file_path": "/etc/x"})),
                "edits /etc/x",
            ),
            (
                tool("3", "Bash", json!({"command": "cargo test\nls"})),
                "runs cargo test",
            ),
            (
                tool("4", "mcp__codex-review__create_pr", json!({})),
                "calls create_pr",
            ),
            (tool("5", "WebFetch", json!({})), "uses WebFetch"),
            (
                StreamEvent::Text("\n\nNow \u{1b}[2J it.\nmore".to_owned()),
                "Now <U+001B>[2J it.",
            ),
        ] {
            assert_eq!(line(event).as_deref(), Some(expected));
        }
        let answered = |id: &str, error, text: &str| StreamEvent::ToolResult {
            id: id.to_owned(),
            error,
            text: text.to_owned(),
        };
        assert_eq!(
            line(answered(
                "3",
                false,
                "running 2 tests\ntest result: ok. 2 passed; 0 failed\n"
            ))
            .as_deref(),
            Some("✓ test result: ok. 2 passed; 0 failed")
        );
        // Output of other tools that looks like a summary is ignored.
        assert_eq!(line(answered("1", false, "3 passed")), None);
        assert_eq!(
            line(answered("9", true, "Permission denied\n")).as_deref(),
            Some("✗ Permission denied")
        );
    }

    #[test]
    fn test_runners_are_understood() {
        for (output, failed) in [
            ("test result: FAILED. 1 passed; 2 failed; 0 ignored", true),
            ("===== 3 passed in 0.12s =====", false),
            ("=== 1 failed, 2 passed in 0.12s ===", true),
            ("Tests:       1 failed, 4 passed, 5 total", true),
            ("      Tests  7 passed (7)", false),
            ("Ran 3 tests in 0.001s\n\nFAILED (failures=1)", true),
            ("Ran 3 tests in 0.001s\n\nOK", false),
            ("ok  \texample.com/x\t0.002s", false),
            ("FAIL\texample.com/x [build failed]", true),
            ("12 examples, 0 failures", false),
            ("  5 passing (8ms)", false),
        ] {
            let summary = test_summary(output);
            assert_eq!(
                summary.as_deref().map(says_failure),
                Some(failed),
                "{output}"
            );
        }
        assert_eq!(test_summary("hello\nworld"), None);
    }
}

//! What an agent does, in one line for each action.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anstyle::Style;
use serde_json::Value;
use shared::agent::StreamEvent;

use crate::output::{BAD, DIM, GOOD, PLAIN, WARNING};
use crate::text::{cut, first_line, harmless};

/// More of a command or a sentence than this is cut.
const MOST_COLUMNS: usize = 160;

/// Makes the lines of one agent.
#[derive(Debug)]
pub(crate) struct ActionLines {
    worktree: PathBuf,
    /// Calls of a shell whose results have not come yet.
    shells: HashSet<String>,
}

impl ActionLines {
    /// Paths are shown as they are below the worktree.
    pub(crate) fn new(worktree: &Path) -> Self {
        Self {
            worktree: worktree.to_owned(),
            shells: HashSet::new(),
        }
    }

    /// Returns the line for an event, if it is worth one; without styles of others in it.
    pub(crate) fn line(&mut self, event: &StreamEvent) -> Option<(String, Style)> {
        let (text, style) = match event {
            StreamEvent::Began { missing } if missing.is_empty() => return None,
            StreamEvent::Began { missing } => (
                format!("works without the MCP server {}", missing.join(", ")),
                WARNING,
            ),
            StreamEvent::Text(text) => (first_line(text), DIM),
            StreamEvent::Plain(text) => (text.trim().to_owned(), PLAIN),
            StreamEvent::Tool { id, name, input } => {
                if name == "Bash" {
                    self.shells.insert(id.clone());
                }
                (self.action(name, input), PLAIN)
            }
            StreamEvent::ToolResult { id, error, text } => {
                let shell = self.shells.remove(id);
                let tests = shell.then(|| test_summary(text)).flatten();
                match (tests, error) {
                    (Some(summary), _) if says_failure(&summary) => (format!("✗ {summary}"), BAD),
                    (Some(summary), _) => (format!("✓ {summary}"), GOOD),
                    (None, true) => (format!("✗ {}", complaint(text)), BAD),
                    (None, false) => return None,
                }
            }
            StreamEvent::Result { error: true, text } => (format!("✗ {}", first_line(text)), BAD),
            // The handoff, or the verdict, is told by itself.
            StreamEvent::Result { error: false, .. } => return None,
        };
        let text = harmless(&text);
        (!text.trim().is_empty()).then(|| (cut(&text, MOST_COLUMNS), style))
    }

    fn action(&self, name: &str, input: &Value) -> String {
        let text = |key: &str| input[key].as_str().unwrap_or_default();
        let path = |key: &str| {
            let path = Path::new(text(key));
            let below = path.strip_prefix(&self.worktree).unwrap_or(path);
            below.to_string_lossy().into_owned()
        };
        match name {
            "Read" => format!("reads {}", path("file_path")),
            "Write" => format!("writes {}", path("file_path")),
            "Edit" | "MultiEdit" => format!("edits {}", path("file_path")),
            "NotebookEdit" => format!("edits {}", path("notebook_path")),
            "Bash" => format!("runs {}", first_line(text("command"))),
            "Grep" | "Glob" => format!("looks for {}", text("pattern")),
            "TodoWrite" => "notes what is to be done".to_owned(),
            "Task" | "Agent" => format!("has a helper look into: {}", text("description")),
            _ => match name.rsplit_once("__") {
                Some((_, tool)) => format!("calls {tool}"),
                None => format!("uses {name}"),
            },
        }
    }
}

/// Returns what a failed call says: a shell's status and what its command printed first.
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

/// Finds the line in which a test runner sums up, the last if there are several.
fn test_summary(output: &str) -> Option<String> {
    let line = output.lines().rev().find(|line| is_summary(line.trim()))?;
    Some(line.trim().trim_matches('=').trim().to_owned())
}

fn is_summary(line: &str) -> bool {
    let lower = line.to_lowercase();
    // cargo, unittest, PHPUnit, and go's lines for a package.
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
        let mut lines = ActionLines::new(Path::new("/w"));
        let mut line = |event| lines.line(&event).map(|(text, _)| text);
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
        // A file that merely speaks of tests is none.
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

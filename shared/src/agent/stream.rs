//! Output stream of a headless agent: Claude Code's `stream-json`, one object per line, or plain text.
//!
//! Seen in 2.1.325. A line of another shape is passed over: the stream is for people to follow, and
//! only its `result` decides anything.

use serde_json::Value;

/// How much of a result or of plain text is kept: as much as a review's description may have.
const MAX_CHARS: usize = 20_000;

/// One thing that an agent said or did.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamEvent {
    /// It began; `missing` are MCP servers that it could not reach.
    Began {
        missing: Vec<String>,
    },
    Text(String),
    Tool {
        id: String,
        name: String,
        input: Value,
    },
    ToolResult {
        id: String,
        error: bool,
        text: String,
    },
    /// The last line of Claude Code's stream: its final message, or why there is none.
    Result {
        error: bool,
        text: String,
    },
    /// A line of a program that prints plain text.
    Plain(String),
}

/// Reads one line. Most lines hold one event, some none, some several.
pub fn parse(line: &str) -> Vec<StreamEvent> {
    let line = line.trim_end_matches(['\n', '\r']);
    let value = match serde_json::from_str::<Value>(line) {
        Ok(value) if value["type"].is_string() => value,
        Ok(_) | Err(_) => return vec![StreamEvent::Plain(line.to_owned())],
    };
    match value["type"].as_str() {
        Some("system") if value["subtype"] == "init" => vec![StreamEvent::Began {
            missing: missing_servers(&value),
        }],
        Some("assistant" | "user") => blocks(&value["message"]["content"]),
        Some("result") => vec![result(&value)],
        Some(_) | None => Vec::new(),
    }
}

fn missing_servers(init: &Value) -> Vec<String> {
    let servers = init["mcp_servers"].as_array();
    servers
        .into_iter()
        .flatten()
        .filter(|server| server["status"] == "failed")
        .filter_map(|server| server["name"].as_str().map(str::to_owned))
        .collect()
}

/// Reads the blocks of a message.
pub(super) fn blocks(content: &Value) -> Vec<StreamEvent> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let blocks = content.as_array().into_iter().flatten();
    blocks
        .filter_map(|block| match block["type"].as_str()? {
            "text" => Some(StreamEvent::Text(text(&block["text"]))),
            "tool_use" => Some(StreamEvent::Tool {
                id: text(&block["id"]),
                name: text(&block["name"]),
                input: block["input"].clone(),
            }),
            "tool_result" => Some(StreamEvent::ToolResult {
                id: text(&block["tool_use_id"]),
                error: block["is_error"] == true,
                text: plain_text(&block["content"]),
            }),
            _ => None,
        })
        .collect()
}

/// Returns the text of a tool's result: a string, or blocks of which some are text.
fn plain_text(content: &Value) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let blocks = content.as_array().into_iter().flatten();
    let texts: Vec<&str> = blocks.filter_map(|block| block["text"].as_str()).collect();
    texts.join("\n")
}

fn result(value: &Value) -> StreamEvent {
    let said = value["result"].as_str().unwrap_or_default();
    let subtype = value["subtype"].as_str().unwrap_or("unknown");
    let error = value["is_error"] == true || subtype != "success";
    let errors = value["errors"].as_array().into_iter().flatten();
    let errors: Vec<&str> = errors.filter_map(Value::as_str).collect();
    let text = match (said.trim().is_empty(), error) {
        (true, true) if errors.is_empty() => subtype.to_owned(),
        (true, true) => errors.join("; "),
        _ => said.to_owned(),
    };
    StreamEvent::Result { error, text }
}

/// Finds the last message of a turn among what the agent prints.
#[derive(Debug, Default)]
pub struct LastMessage {
    result: Option<Result<String, String>>,
    plain: String,
}

impl LastMessage {
    pub fn take(&mut self, event: &StreamEvent) {
        match event {
            StreamEvent::Result { error: true, text } => self.result = Some(Err(text.clone())),
            StreamEvent::Result { error: false, text } => self.result = Some(Ok(text.clone())),
            StreamEvent::Plain(line) => {
                self.plain.push_str(line);
                self.plain.push('\n');
                // Cut now and then: a program may print without end.
                if self.plain.len() > 16 * MAX_CHARS {
                    self.plain = last_chars(&self.plain);
                }
            }
            StreamEvent::Began { .. }
            | StreamEvent::Text(_)
            | StreamEvent::Tool { .. }
            | StreamEvent::ToolResult { .. } => {}
        }
    }

    /// Returns the message, or why there is none.
    ///
    /// Claude Code's is its `result`. Of another program it is what it printed to standard output, the
    /// end of it if that is long.
    pub fn finish(self) -> Result<String, String> {
        match self.result {
            Some(Ok(text)) => Ok(last_chars(text.trim())),
            Some(Err(text)) => Err(last_chars(text.trim())),
            None => Ok(last_chars(self.plain.trim())),
        }
    }
}

fn last_chars(text: &str) -> String {
    let from = text.char_indices().rev().nth(MAX_CHARS - 1);
    from.map_or(text, |(at, _)| &text[at..]).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_claude_code_prints_is_understood() {
        let init = json!({"type": "system", "subtype": "init", "mcp_servers": [
            {"name": "codex-coding", "status": "connected"}, {"name": "other", "status": "failed"}]});
        assert_eq!(
            parse(&init.to_string()),
            [StreamEvent::Began {
                missing: vec!["other".to_owned()]
            }]
        );
        let said = json!({"type": "assistant", "message": {"content": [
            {"type": "text", "text": "Now the tests."},
            {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "cargo test"}}]}});
        let events = parse(&said.to_string());
        assert_eq!(events[0], StreamEvent::Text("Now the tests.".to_owned()));
        assert!(matches!(&events[1], StreamEvent::Tool { name, .. } if name == "Bash"));
        for content in [json!("ok"), json!([{"type": "text", "text": "ok"}])] {
            let answered = json!({"type": "user", "message": {"content": [
                {"type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": content}]}});
            assert_eq!(
                parse(&answered.to_string()),
                [StreamEvent::ToolResult {
                    id: "t1".to_owned(),
                    error: true,
                    text: "ok".to_owned()
                }]
            );
        }
        assert_eq!(parse(r#"{"type":"new_kind","x":1}"#), []);
        assert_eq!(parse("plain\n"), [StreamEvent::Plain("plain".to_owned())]);
    }

    #[test]
    fn the_last_message_is_the_result_or_what_was_printed() {
        let message = |lines: &[&str]| {
            let mut last = LastMessage::default();
            for event in lines.iter().flat_map(|line| parse(line)) {
                last.take(&event);
            }
            last.finish()
        };
        let result =
            r#"{"type":"result","subtype":"success","is_error":false,"result":" Handed over. "}"#;
        assert_eq!(message(&["noise", result]), Ok("Handed over.".to_owned()));
        let failed =
            r#"{"type":"result","subtype":"success","is_error":true,"result":"Invalid API key"}"#;
        assert_eq!(message(&[failed]), Err("Invalid API key".to_owned()));
        let failed = r#"{"type":"result","subtype":"error_max_turns","is_error":true}"#;
        assert_eq!(message(&[failed]), Err("error_max_turns".to_owned()));
        assert_eq!(message(&["", "one", "two", ""]), Ok("one\ntwo".to_owned()));
        assert_eq!(message(&[]), Ok(String::new()));
        let long = "é".repeat(MAX_CHARS + 5);
        assert_eq!(message(&[&long]).unwrap().chars().count(), MAX_CHARS);
    }

    proptest::proptest! {
        #[test]
        fn any_line_is_read(line: String) {
            parse(&line);
        }
    }
}

//! The shape of the Messages API: reading requests, building answers.

use serde_json::{Value, json};

use crate::script::{Block, Reply};

/// Characters per streamed piece: small enough that a per-piece delay makes a slow stream.
const PIECE: usize = 40;

/// Side requests (titles, summaries) come without tools.
pub fn offers_tools(request: &Value) -> bool {
    request["tools"]
        .as_array()
        .is_some_and(|tools| !tools.is_empty())
}

/// Returns the text of the last user message: its text blocks and tool results, one per line.
pub fn last_user_text(request: &Value) -> String {
    last_user(request)
        .map(|message| text_of(&message["content"]))
        .unwrap_or_default()
}

/// Returns the ids of the calls that the last user message answers.
pub fn answered_calls(request: &Value) -> Vec<&str> {
    let blocks = last_user(request).and_then(|message| message["content"].as_array());
    blocks
        .into_iter()
        .flatten()
        .filter_map(|block| block["tool_use_id"].as_str())
        .collect()
}

/// Returns the system prompt as one text.
pub fn system_text(request: &Value) -> String {
    text_of(&request["system"])
}

fn last_user(request: &Value) -> Option<&Value> {
    let messages = request["messages"].as_array()?;
    messages
        .iter()
        .rev()
        .find(|message| message["role"] == "user")
}

fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks
            .iter()
            .map(|block| match block["type"].as_str() {
                Some("tool_result") => text_of(&block["content"]),
                Some(_) | None => block["text"].as_str().unwrap_or_default().to_owned(),
            })
            .collect::<Vec<_>>()
            .join("\n"),
        _ => String::new(),
    }
}

pub fn error_body(kind: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": message}})
}

fn usage() -> Value {
    json!({"input_tokens": 100, "output_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0})
}

fn stop_reason(reply: &Reply) -> &'static str {
    if reply.answer.calls_tools() {
        "tool_use"
    } else {
        "end_turn"
    }
}

/// Returns the answer as one message.
pub fn whole(model: &str, reply: &Reply) -> Value {
    let content: Vec<Value> = reply
        .blocks()
        .map(|(block, id)| match block {
            Block::Text(text) => json!({"type": "text", "text": text}),
            Block::Tool { name, input } => {
                json!({"type": "tool_use", "id": id, "name": name, "input": input})
            }
        })
        .collect();
    json!({
        "id": format!("msg_{}", reply.serial), "type": "message", "role": "assistant", "model": model,
        "content": content, "stop_reason": stop_reason(reply), "stop_sequence": null, "usage": usage(),
    })
}

/// Returns an event as a stream has it, named by its `type`.
pub fn as_sent(event: &Value) -> String {
    let name = event["type"].as_str().unwrap_or("message");
    format!("event: {name}\ndata: {event}\n\n")
}

/// Returns the answer as the events of a stream.
pub fn events(model: &str, reply: &Reply) -> Vec<Value> {
    let mut events = vec![json!({"type": "message_start", "message": {
        "id": format!("msg_{}", reply.serial), "type": "message", "role": "assistant", "model": model,
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage(),
    }})];
    for (index, (block, id)) in reply.blocks().enumerate() {
        let (start, pieces): (Value, Vec<Value>) = match block {
            Block::Text(text) => (
                json!({"type": "text", "text": ""}),
                pieces(text)
                    .map(|piece| json!({"type": "text_delta", "text": piece}))
                    .collect(),
            ),
            Block::Tool { name, input } => (
                json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
                pieces(&input.to_string())
                    .map(|piece| json!({"type": "input_json_delta", "partial_json": piece}))
                    .collect(),
            ),
        };
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        for delta in pieces {
            events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(json!({
        "type": "message_delta",
        "delta": {"stop_reason": stop_reason(reply), "stop_sequence": null},
        "usage": {"output_tokens": 10},
    }));
    events.push(json!({"type": "message_stop"}));
    events
}

fn pieces(text: &str) -> impl Iterator<Item = String> {
    let characters: Vec<char> = text.chars().collect();
    characters
        .chunks(PIECE)
        .map(|piece| piece.iter().collect())
        .collect::<Vec<String>>()
        .into_iter()
}

//! Answers in the shape of the Messages API, whole or as a stream of events.

use serde_json::{Value, json};

use crate::script::{Block, Reply};

/// Characters per streamed piece: small enough that a per-piece delay makes a slow stream.
const PIECE: usize = 40;

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

//! What a request to the Messages API says: its last user message, its system prompt, its tools.

use serde_json::Value;

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

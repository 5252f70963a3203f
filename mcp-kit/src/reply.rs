//! Converts replies and errors to MCP results.

use rmcp::model::{CallToolResult, ContentBlock, ErrorData};
use serde_json::{Value, json};

use shared::error::{Code, Error};
use shared::model::secrets::value_without_secrets;

/// Returns structured content with readable text. An internal error, which the agent can't fix, is a protocol error.
///
/// With `data_as_text` the data follows the message as text, for clients that show agents only text.
pub(super) fn answer(
    result: Result<Value, Error>,
    data_as_text: bool,
) -> Result<CallToolResult, ErrorData> {
    match result {
        Ok(value) => {
            let value = value_without_secrets(value);
            let text = match value.get("message").and_then(Value::as_str) {
                Some(message) => message.to_owned(),
                None => value.to_string(),
            };
            let mut content = vec![ContentBlock::text(text)];
            if data_as_text {
                content.push(ContentBlock::text(value.to_string()));
            }
            let mut result = CallToolResult::structured(value);
            result.content = content;
            Ok(result)
        }
        Err(error) if error.code == Code::Internal => Err(protocol_error(&error)),
        Err(error) => {
            let error = error.without_secrets();
            let mut text = format!("{}: {}", error.code, error.message);
            if let Some(hint) = &error.hint {
                text.push('\n');
                text.push_str(hint);
            }
            let mut result = CallToolResult::structured_error(json!(error));
            result.content = vec![ContentBlock::text(text)];
            Ok(result)
        }
    }
}

pub(super) fn protocol_error(error: &Error) -> ErrorData {
    let error = error.clone().without_secrets();
    ErrorData::internal_error(error.message.clone(), Some(json!(error)))
}

//! Answers as GitHub words them.

use serde_json::{Value, json};

#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::text(status, "application/json; charset=utf-8", &body.to_string())
    }

    pub(crate) fn text(status: u16, content_type: &str, body: &str) -> Self {
        let answer = Self {
            status,
            headers: Vec::new(),
            body: body.as_bytes().to_vec(),
        };
        answer.with("content-type", content_type)
    }

    /// A refusal with nothing but a message.
    pub(crate) fn message(status: u16, message: &str) -> Self {
        let body = json!({
            "message": message,
            "documentation_url": "https://docs.github.com/rest",
            "status": status.to_string(),
        });
        Self::json(status, &body)
    }

    /// A refusal that says what is wrong with which field.
    pub(crate) fn invalid(errors: &Value) -> Self {
        let body = json!({
            "message": "Validation Failed",
            "errors": errors,
            "documentation_url": "https://docs.github.com/rest",
            "status": "422",
        });
        Self::json(422, &body)
    }

    pub(crate) fn not_found() -> Self {
        Self::message(404, "Not Found")
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }
}

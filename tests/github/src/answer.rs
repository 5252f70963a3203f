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

    /// A refusal of a request that lacks a field.
    pub(crate) fn missing_field(resource: &str, field: &str) -> Self {
        Self::invalid(&json!([{"resource": resource, "field": field, "code": "missing_field"}]))
    }

    pub(crate) fn not_found() -> Self {
        Self::message(404, "Not Found")
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }
}

/// Returns an account with every field that GitHub sends.
pub(crate) fn user(login: &str) -> Value {
    let api = format!("https://api.github.com/users/{login}");
    json!({
        "login": login,
        "id": 1,
        "node_id": "MDQ6VXNlcjE=",
        "avatar_url": "https://avatars.githubusercontent.com/u/1?v=4",
        "gravatar_id": "",
        "url": api,
        "html_url": format!("https://github.com/{login}"),
        "followers_url": format!("{api}/followers"),
        "following_url": format!("{api}/following{{/other_user}}"),
        "gists_url": format!("{api}/gists{{/gist_id}}"),
        "starred_url": format!("{api}/starred{{/owner}}{{/repo}}"),
        "subscriptions_url": format!("{api}/subscriptions"),
        "organizations_url": format!("{api}/orgs"),
        "repos_url": format!("{api}/repos"),
        "events_url": format!("{api}/events{{/privacy}}"),
        "received_events_url": format!("{api}/received_events"),
        "type": "User",
        "site_admin": false,
    })
}

/// Returns a text of a request's body.
pub(crate) fn text(body: &Value, field: &str) -> Option<String> {
    body[field].as_str().map(str::to_owned)
}

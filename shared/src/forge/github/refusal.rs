//! Error responses: from GitHub's status, message and headers to a `ForgeError`.

use std::fmt;

use http::StatusCode;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::client::{Github, shown};
use super::request::Response;
use crate::forge::ForgeError;

/// The resource that a request is about.
#[derive(Debug, Clone, Copy)]
pub(super) enum Subject {
    Issue(u64),
    Pull(u64),
    /// Its lists, and new resources in it.
    Repository,
}

impl fmt::Display for Subject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Issue(number) => write!(formatter, "issue {number}"),
            Self::Pull(number) => write!(formatter, "pull request {number}"),
            Self::Repository => formatter.write_str("the repository"),
        }
    }
}

/// The body of an error response.
#[derive(Debug, Default, Deserialize)]
pub(super) struct ErrorBody {
    #[serde(default)]
    pub(super) message: String,
    /// A list of strings and objects; sometimes a single string.
    #[serde(default)]
    errors: Value,
}

impl ErrorBody {
    pub(super) fn of(response: &Response) -> Self {
        serde_json::from_slice(&response.body).unwrap_or_default()
    }

    /// Returns the message and the errors of fields as one text.
    pub(super) fn text(&self) -> String {
        let details: Vec<String> = self.errors().iter().filter_map(detail).collect();
        match (self.message.as_str(), details.is_empty()) {
            (message, true) => message.to_owned(),
            ("" | "Validation Failed", false) => details.join("; "),
            (message, false) => format!("{message}: {}", details.join("; ")),
        }
    }

    fn errors(&self) -> &[Value] {
        match &self.errors {
            Value::Array(errors) => errors,
            other => std::slice::from_ref(other),
        }
    }

    /// Returns whether a field is reported as invalid.
    pub(super) fn blames(&self, field: &str) -> bool {
        self.errors()
            .iter()
            .any(|error| error["field"] == field && error["code"] == "invalid")
    }
}

fn detail(error: &Value) -> Option<String> {
    if let Some(text) = error.as_str().or(error["message"].as_str()) {
        return Some(text.to_owned());
    }
    let (field, code) = (error["field"].as_str()?, error["code"].as_str()?);
    Some(match code {
        "missing_field" => format!("`{field}` is missing"),
        "missing" => format!("`{field}` does not exist"),
        "already_exists" => format!("`{field}` already exists"),
        code => format!("`{field}` is {}", code.replace('_', " ")),
    })
}

/// Returns whether an error response is a rate limit.
pub(super) fn is_rate_limit(response: &Response) -> bool {
    let limited = || {
        let message = ErrorBody::of(response).message.to_lowercase();
        response.header("retry-after").is_some()
            || response.header("x-ratelimit-remaining") == Some("0")
            || message.contains("rate limit")
            || message.contains("abuse detection")
    };
    match response.status {
        StatusCode::TOO_MANY_REQUESTS => true,
        StatusCode::FORBIDDEN => limited(),
        _ => false,
    }
}

impl Github {
    /// Returns the message of an error response.
    pub(super) fn message(&self, response: &Response) -> String {
        let text = ErrorBody::of(response).text();
        if text.is_empty() {
            // An HTML page of a proxy, or no body.
            return response
                .status
                .canonical_reason()
                .unwrap_or("no reason")
                .to_owned();
        }
        shown(&text, &self.token)
    }

    /// Parses the JSON of a successful response.
    pub(super) fn parse<T: DeserializeOwned>(
        &self,
        response: &Response,
        subject: Subject,
    ) -> Result<T, ForgeError> {
        if !response.status.is_success() {
            return Err(self.refusal(response, subject));
        }
        let not_understood = |reason: String| ForgeError::NotUnderstood {
            what: subject.to_string(),
            reason: shown(&reason, &self.token),
        };
        if response.truncated {
            return Err(not_understood(format!(
                "it has more than {} bytes",
                response.body.len()
            )));
        }
        serde_json::from_slice(&response.body).map_err(|error| not_understood(error.to_string()))
    }

    /// Returns the error that the status stands for.
    pub(super) fn refusal(&self, response: &Response, subject: Subject) -> ForgeError {
        let message = self.message(response);
        let status = response.status.as_u16();
        let what = || match subject {
            Subject::Issue(_) | Subject::Pull(_) => format!("{subject} of {}", self.full_name()),
            Subject::Repository => format!("the repository {}", self.full_name()),
        };
        match status {
            401 => ForgeError::Unauthorized,
            403 if message.contains("archived") => ForgeError::Archived,
            403 => ForgeError::Forbidden {
                message,
                needs: self.needed(response),
            },
            404 if matches!(subject, Subject::Repository) => ForgeError::RepositoryNotFound {
                repository: self.full_name(),
            },
            404 => ForgeError::NotFound { what: what() },
            410 => ForgeError::Gone {
                what: what(),
                message,
            },
            422 => ForgeError::Invalid { message },
            500..=599 => ForgeError::ServerFailed { status, message },
            _ => ForgeError::Refused { status, message },
        }
    }

    /// Returns what the token lacks: permissions of a fine-grained one, scopes of a classic one.
    fn needed(&self, response: &Response) -> Option<String> {
        ["x-accepted-github-permissions", "x-accepted-oauth-scopes"]
            .into_iter()
            .filter_map(|name| response.header(name))
            .map(|value| shown(value.trim(), &self.token))
            .find(|value| !value.is_empty())
    }
}

//! What GitHub means when it says no.

use std::fmt;

use http::StatusCode;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::client::Github;
use super::request::Answer;
use crate::forge::ForgeError;
use crate::model::Secret;
use crate::model::hidden::drop_hidden_in_line;

/// Of a text from GitHub: enough for any message, not for a page of HTML.
const SHOWN: usize = 300;

/// What a question is about.
#[derive(Debug, Clone, Copy)]
pub(super) enum Subject {
    Issue(u64),
    Pull(u64),
    /// Its lists, and what is to be made in it.
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

/// The body of a refusal.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Complaint {
    #[serde(default)]
    pub(super) message: String,
    /// A list of texts and objects; in some answers one text.
    #[serde(default)]
    errors: Value,
}

impl Complaint {
    pub(super) fn of(answer: &Answer) -> Self {
        serde_json::from_slice(&answer.body).unwrap_or_default()
    }

    /// Returns the whole as one text: the message, and what is wrong with which field.
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

    /// Whether a field is named as invalid.
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
    Some(format!("`{field}` is {}", code.replace('_', " ")))
}

/// Returns a text fit to be shown: bounded, without the token and without hidden characters.
pub(super) fn shown(text: &str, token: &Secret) -> String {
    drop_hidden_in_line(&text.replace(token.expose(), "***"))
        .chars()
        .take(SHOWN)
        .collect()
}

/// Whether it is refused for asking too often, not for what was asked.
pub(super) fn is_rate_limit(answer: &Answer) -> bool {
    let limited = || {
        let message = Complaint::of(answer).message.to_lowercase();
        answer.header("retry-after").is_some()
            || answer.header("x-ratelimit-remaining") == Some("0")
            || message.contains("rate limit")
            || message.contains("abuse detection")
    };
    match answer.status {
        StatusCode::TOO_MANY_REQUESTS => true,
        StatusCode::FORBIDDEN => limited(),
        _ => false,
    }
}

impl Github {
    /// Returns what a refusal says.
    pub(super) fn message(&self, answer: &Answer) -> String {
        let text = Complaint::of(answer).text();
        if text.is_empty() {
            // A proxy's page, or nothing at all.
            return answer
                .status
                .canonical_reason()
                .unwrap_or("no reason")
                .to_owned();
        }
        shown(&text, &self.token)
    }

    /// Reads the answer as JSON if it is one of success, else says what is wrong.
    pub(super) fn read<T: DeserializeOwned>(
        &self,
        answer: &Answer,
        subject: Subject,
    ) -> Result<T, ForgeError> {
        if !answer.status.is_success() {
            return Err(self.refusal(answer, subject));
        }
        let not_understood = |reason: String| ForgeError::NotUnderstood {
            what: subject.to_string(),
            reason: shown(&reason, &self.token),
        };
        if answer.cut {
            return Err(not_understood(format!(
                "it has more than {} bytes",
                answer.body.len()
            )));
        }
        serde_json::from_slice(&answer.body).map_err(|error| not_understood(error.to_string()))
    }

    /// Returns the error for a refusal whose status says enough.
    pub(super) fn refusal(&self, answer: &Answer, subject: Subject) -> ForgeError {
        let message = self.message(answer);
        let status = answer.status.as_u16();
        let what = || match subject {
            Subject::Issue(_) | Subject::Pull(_) => format!("{subject} of {}", self.full_name()),
            Subject::Repository => format!("the repository {}", self.full_name()),
        };
        match status {
            401 => ForgeError::Unauthorized,
            403 if message.contains("archived") => ForgeError::Archived,
            403 => ForgeError::Forbidden {
                message,
                needs: self.needed(answer),
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

    /// Returns what a token needs for the request: permissions of fine-grained ones, scopes of classic ones.
    fn needed(&self, answer: &Answer) -> Option<String> {
        ["x-accepted-github-permissions", "x-accepted-oauth-scopes"]
            .into_iter()
            .filter_map(|name| answer.header(name))
            .map(|value| shown(value.trim(), &self.token))
            .find(|value| !value.is_empty())
    }
}

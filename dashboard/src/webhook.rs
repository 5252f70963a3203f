//! `POST /webhooks/github`: HMAC-signed GitHub webhooks about pull requests.

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use ring::hmac;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use shared::error::{Code, Error};
use shared::model::{PullState, Secret};
use shared::workflow::{self, PullNews, Synced};

use crate::app::AppState;
use crate::record::{RecordedAction, run_recorded};
use crate::reply::{Failure, not_found};

/// The outcome of a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum WebhookOutcome {
    /// Accepted: agents will follow the pull request.
    Taken,
    /// A delivery that was received before.
    Repeated,
    /// About something that does not concern agents.
    Ignored,
}

/// The answer to a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WebhookReply {
    outcome: WebhookOutcome,
}

#[derive(Debug, Deserialize)]
struct Payload {
    action: String,
    pull_request: Pull,
}

#[derive(Debug, Deserialize)]
struct Pull {
    number: u64,
    html_url: String,
    state: String,
    #[serde(default)]
    merged: bool,
}

pub(crate) async fn github(
    State(app): State<AppState>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Failure> {
    let Some(secret) = &app.options.webhook_secret else {
        return Err(not_found());
    };
    check_signature(secret, &headers, &body)?;
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let delivery = text("x-github-delivery").filter(|id| (1..=100).contains(&id.len()));
    let (Some(event), Some(delivery)) = (text("x-github-event"), delivery) else {
        return Err(Error::argument("x-github-event", "or x-github-delivery is missing").into());
    };
    if event != "pull_request" {
        return Ok(reply(WebhookOutcome::Ignored));
    }
    let payload: Payload = serde_json::from_slice(&body).map_err(|problem| {
        Error::argument("body", format!("is not a pull_request event: {problem}"))
    })?;
    let Some(news) = news(payload) else {
        return Ok(reply(WebhookOutcome::Ignored));
    };
    if !workflow::record_webhook(&app.context, delivery).await? {
        return Ok(reply(WebhookOutcome::Repeated));
    }
    // GitHub times out after ten seconds, and an agent's last turn may take longer.
    let (follower, parameters) = (
        app.clone(),
        json!({ "number": news.number, "state": news.state }),
    );
    tokio::spawn(async move {
        let action = RecordedAction {
            name: "webhook",
            parameters,
            instance: None,
            summary: |moved: &Vec<Synced>| {
                let first = moved.first().map(|one| one.id.clone());
                (json!({ "moved": moved.len() }), first)
            },
        };
        let context = follower.context.clone();
        let done = run_recorded(&follower, action, move |run| async move {
            workflow::follow_news(&context, &run, &news).await
        });
        if let Err(error) = done.await {
            tracing::warn!(code = %error.code, %error, "cannot follow a webhook; sync will");
        }
    });
    Ok(reply(WebhookOutcome::Taken))
}

fn reply(outcome: WebhookOutcome) -> Response {
    let status = match outcome {
        WebhookOutcome::Taken => StatusCode::ACCEPTED,
        WebhookOutcome::Repeated | WebhookOutcome::Ignored => StatusCode::OK,
    };
    (status, Json(WebhookReply { outcome })).into_response()
}

/// Checks `X-Hub-Signature-256` in constant time.
fn check_signature(secret: &Secret, headers: &HeaderMap, body: &[u8]) -> Result<(), Error> {
    let given = headers
        .get("x-hub-signature-256")
        .and_then(|value| value.to_str().ok()?.strip_prefix("sha256="))
        .and_then(unhex);
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.expose().as_bytes());
    let valid = given.is_some_and(|given| hmac::verify(&key, body, &given).is_ok());
    if valid {
        return Ok(());
    }
    Err(
        Error::new(Code::Forbidden, "the signature is missing or wrong")
            .hint("The secret on GitHub must be the one in dashboard.webhookSecretFile."),
    )
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    (0..text.len())
        .step_by(2)
        .map(|start| u8::from_str_radix(&text[start..start + 2], 16).ok())
        .collect()
}

/// Returns the change of a pull request that agents must follow, if the payload has one.
fn news(payload: Payload) -> Option<PullNews> {
    if !matches!(payload.action.as_str(), "closed" | "reopened") {
        return None;
    }
    let pull = payload.pull_request;
    let state = match (pull.state.as_str(), pull.merged) {
        (_, true) => PullState::Merged,
        ("closed", false) => PullState::Closed,
        ("open", false) => PullState::Open,
        _ => return None,
    };
    Some(PullNews {
        number: pull.number,
        url: pull.html_url,
        state,
    })
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    /// The example from GitHub's documentation.
    #[test]
    fn signatures_are_githubs() {
        let check = |signature: &'static str, body: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("x-hub-signature-256", HeaderValue::from_static(signature));
            check_signature(
                &Secret::new("It's a Secret to Everybody"),
                &headers,
                body.as_bytes(),
            )
        };
        let right = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
        assert!(check(right, "Hello, World!").is_ok());
        assert!(check(right, "Hello, World").is_err());
        assert!(check("sha256=", "Hello, World!").is_err());
        assert!(check("sha1=757107ea", "Hello, World!").is_err());
        assert!(check_signature(&Secret::new(""), &HeaderMap::new(), b"").is_err());
    }

    #[test]
    fn only_closing_and_reopening_matter() {
        let read = |action: &str, state: &str, merged: bool| {
            let text = json!({"action": action, "pull_request": {
                "number": 3, "html_url": "https://github.com/o/r/pull/3", "state": state, "merged": merged,
                "title": "ignored"}, "repository": {}});
            let news = news(serde_json::from_value(text).unwrap());
            news.map(|news| news.state)
        };
        assert_eq!(read("closed", "closed", true), Some(PullState::Merged));
        assert_eq!(read("closed", "closed", false), Some(PullState::Closed));
        assert_eq!(read("reopened", "open", false), Some(PullState::Open));
        assert_eq!(read("synchronize", "open", false), None);
        assert_eq!(read("closed", "odd", false), None);
    }
}

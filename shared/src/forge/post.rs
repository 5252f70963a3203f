//! Posts JSON to a webhook of the person's own, with the HTTP client that also talks to GitHub, without its token.

use std::time::Duration;

use octocrab::Octocrab;
use octocrab::service::middleware::retry::RetryConfig;
use serde_json::Value;

use super::remote::is_unencrypted;

const POST_TIMEOUT: Duration = Duration::from_secs(15);

/// Why a webhook was not told. The address, which may hold a secret, is never part of it.
#[derive(Debug, thiserror::Error)]
pub enum PostError {
    #[error("it is not a URL that begins with https:// (http:// only for this machine)")]
    InvalidAddress,
    #[error("the request failed: {reason}")]
    Failed { reason: &'static str },
    #[error("the server answered with status {status}")]
    Refused { status: u16 },
}

/// Posts a document to a URL, once.
pub async fn post_json(url: &str, body: &Value) -> Result<(), PostError> {
    let is_web = ["https://", "http://"]
        .iter()
        .any(|scheme| url.starts_with(scheme));
    if !is_web || is_unencrypted(url) {
        return Err(PostError::InvalidAddress);
    }
    let uri: http::Uri = url.parse().map_err(|_| PostError::InvalidAddress)?;
    let client = Octocrab::builder()
        .base_uri(uri.clone())
        .map_err(|_| PostError::InvalidAddress)?
        .add_retry_config(RetryConfig::None)
        .set_connect_timeout(Some(POST_TIMEOUT))
        .build()
        .map_err(|_| PostError::Failed {
            reason: "no connection can be secured",
        })?;
    let request = client._post(uri, Some(body));
    let answer = tokio::time::timeout(POST_TIMEOUT, request)
        .await
        .map_err(|_| PostError::Failed {
            reason: "there was no answer in time",
        })?
        .map_err(|_| PostError::Failed {
            reason: "the server can't be reached",
        })?;
    let status = answer.status();
    if !status.is_success() {
        return Err(PostError::Refused {
            status: status.as_u16(),
        });
    }
    Ok(())
}

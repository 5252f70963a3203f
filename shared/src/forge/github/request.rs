//! One HTTP request, with `ETag`, same-host redirects and a bounded body.

use http::header::{ACCEPT, HeaderMap, HeaderName, HeaderValue, IF_NONE_MATCH, LOCATION};
use http::{Method, StatusCode};
use http_body_util::BodyExt;
use serde::Serialize;
use serde_json::Value;

use super::client::{Github, chain, innermost, shown};
use crate::forge::ForgeError;

/// Far more than any response that we ask for.
const MAX_BODY_BYTES: usize = 16 * 1024 * 1024;
/// A renamed repository redirects to its new URL; two renames are rare, more are a loop.
const MAX_REDIRECTS: usize = 3;

#[derive(Debug, Clone)]
pub(super) struct Request {
    method: Method,
    path: String,
    headers: Vec<(HeaderName, HeaderValue)>,
    body: Option<Value>,
    limit: usize,
    /// Whether it may be sent again without a check whether it took effect.
    pub(super) idempotent: bool,
}

impl Request {
    fn new(method: Method, path: String, body: Option<Value>) -> Self {
        // Our PATCH requests set fields to fixed values.
        let idempotent = method == Method::GET || method == Method::PATCH;
        let json = HeaderValue::from_static("application/vnd.github+json");
        Self {
            method,
            path,
            headers: vec![(ACCEPT, json)],
            body,
            limit: MAX_BODY_BYTES,
            idempotent,
        }
    }

    pub(super) fn get(path: String) -> Self {
        Self::new(Method::GET, path, None)
    }

    pub(super) fn post(path: String, body: Value) -> Self {
        Self::new(Method::POST, path, Some(body))
    }

    pub(super) fn patch(path: String, body: Value) -> Self {
        Self::new(Method::PATCH, path, Some(body))
    }

    pub(super) fn put(path: String, body: Value) -> Self {
        Self::new(Method::PUT, path, Some(body))
    }

    /// Asks for another media type than JSON.
    pub(super) fn accept(mut self, media_type: &'static str) -> Self {
        self.headers = vec![(ACCEPT, HeaderValue::from_static(media_type))];
        self
    }

    /// Makes the request conditional: GitHub answers 304 if the resource still has this `ETag`.
    pub(super) fn if_none_match(mut self, etag: Option<&str>) -> Self {
        // A stored ETag that is not a valid header value did not come from GitHub.
        if let Some(Ok(value)) = etag.map(HeaderValue::from_str) {
            self.headers.push((IF_NONE_MATCH, value));
        }
        self
    }

    /// Reads at most this many bytes of the body.
    pub(super) fn at_most(mut self, bytes: usize) -> Self {
        self.limit = bytes.min(MAX_BODY_BYTES);
        self
    }
}

/// Returns the query string of one of octocrab's list builders.
pub(super) fn query(parameters: &impl Serialize) -> Result<String, ForgeError> {
    serde_urlencoded::to_string(parameters).map_err(|error| ForgeError::Invalid {
        message: error.to_string(),
    })
}

/// A response with any status.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
    /// Whether the body was longer than the limit.
    pub(super) truncated: bool,
}

impl Response {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// A request without a response.
#[derive(Debug)]
pub(super) struct Unanswered {
    pub(super) error: ForgeError,
    /// Whether GitHub may have acted on the request.
    pub(super) may_have_happened: bool,
}

impl Github {
    /// Sends a request once, following redirects.
    pub(super) async fn send_once(&self, request: &Request) -> Result<Response, Unanswered> {
        let mut path = request.path.clone();
        for _ in 0..MAX_REDIRECTS {
            let response = self.send_to(&path, request).await?;
            let redirect = response
                .header(LOCATION.as_str())
                // The token goes to no other host.
                .and_then(|location| location.strip_prefix(self.api_url.as_str()))
                .filter(|path| path.starts_with('/'));
            match redirect {
                Some(redirect) if response.status.is_redirection() => {
                    redirect.clone_into(&mut path);
                }
                Some(_) | None => return Ok(response),
            }
        }
        self.send_to(&path, request).await
    }

    async fn send_to(&self, path: &str, request: &Request) -> Result<Response, Unanswered> {
        let unanswered =
            |error: &(dyn std::error::Error + 'static), may_have_happened| Unanswered {
                may_have_happened,
                error: ForgeError::Unreachable {
                    reason: shown(&innermost(error), &self.token),
                },
            };
        let mut builder = http::Request::builder()
            .method(request.method.clone())
            .uri(path);
        for (name, value) in &request.headers {
            builder = builder.header(name, value);
        }
        let message = self
            .client
            .build_request(builder, request.body.as_ref())
            .map_err(|error| unanswered(&error, false))?;
        let response = self
            .client
            .execute(message)
            .await
            .map_err(|error| unanswered(&error, !failed_to_connect(&error)))?;
        let (parts, mut frames) = response.into_parts();
        // An error response is read whole, for its message.
        let limit = if parts.status.is_success() {
            request.limit
        } else {
            MAX_BODY_BYTES
        };
        let (mut body, mut truncated) = (Vec::new(), false);
        while let Some(frame) = frames.frame().await {
            // The response has begun, so GitHub has received the request.
            let frame = frame.map_err(|error| unanswered(&error, true))?;
            let data = frame.into_data().unwrap_or_default();
            let room = limit - body.len();
            body.extend_from_slice(&data[..data.len().min(room)]);
            if data.len() > room {
                truncated = true;
                break;
            }
        }
        Ok(Response {
            status: parts.status,
            headers: parts.headers,
            body,
            truncated,
        })
    }
}

/// Returns whether it failed before there was a connection to send anything on.
fn failed_to_connect(error: &(dyn std::error::Error + 'static)) -> bool {
    chain(error).any(|cause| {
        cause
            .downcast_ref::<hyper_util::client::legacy::Error>()
            .is_some_and(hyper_util::client::legacy::Error::is_connect)
    })
}

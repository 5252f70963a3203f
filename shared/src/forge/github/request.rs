//! One request and its answer, read up to a bound.

use http::header::{ACCEPT, HeaderMap, HeaderName, HeaderValue, IF_NONE_MATCH, LOCATION};
use http::{Method, StatusCode};
use http_body_util::BodyExt;
use serde_json::Value;

use super::client::Github;
use super::refusal::shown;
use crate::forge::ForgeError;

/// Far more than any answer we ask for; less than what would hurt.
const MOST_BYTES: usize = 16 * 1024 * 1024;
/// Renamed repositories answer with their new address; two renames are rare, more are a loop.
const MOST_REDIRECTS: usize = 3;

/// What is asked.
#[derive(Debug, Clone)]
pub(super) struct Request {
    method: Method,
    path: String,
    headers: Vec<(HeaderName, HeaderValue)>,
    body: Option<Value>,
    limit: usize,
    /// Whether sending it twice does no more than sending it once.
    pub(super) repeatable: bool,
}

impl Request {
    fn new(method: Method, path: String, body: Option<Value>) -> Self {
        let repeatable = method == Method::GET || method == Method::PATCH;
        let json = HeaderValue::from_static("application/vnd.github+json");
        Self {
            method,
            path,
            headers: vec![(ACCEPT, json)],
            body,
            limit: MOST_BYTES,
            repeatable,
        }
    }

    pub(super) fn get(path: String) -> Self {
        Self::new(Method::GET, path, None)
    }

    /// Makes something new: sent twice, it is made twice.
    pub(super) fn post(path: String, body: Value) -> Self {
        Self::new(Method::POST, path, Some(body))
    }

    /// Sets fields to values, which may be done again.
    pub(super) fn patch(path: String, body: Value) -> Self {
        Self::new(Method::PATCH, path, Some(body))
    }

    pub(super) fn put(path: String, body: Value) -> Self {
        Self::new(Method::PUT, path, Some(body))
    }

    /// Asks for another form of the answer than JSON.
    pub(super) fn accept(mut self, media_type: &'static str) -> Self {
        self.headers = vec![(ACCEPT, HeaderValue::from_static(media_type))];
        self
    }

    /// Asks for an answer only if it is another one than that of this tag.
    pub(super) fn unless(mut self, etag: Option<&str>) -> Self {
        // A tag that is no header can't be GitHub's.
        if let Some(Ok(value)) = etag.map(HeaderValue::from_str) {
            self.headers.push((IF_NONE_MATCH, value));
        }
        self
    }

    /// Reads no more than this of the answer.
    pub(super) fn at_most(mut self, bytes: usize) -> Self {
        self.limit = bytes.min(MOST_BYTES);
        self
    }
}

/// What was answered.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
    /// Whether there was more than the bound allows.
    pub(super) cut: bool,
}

impl Answer {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// A request that got no answer.
#[derive(Debug)]
pub(super) struct Lost {
    pub(super) error: ForgeError,
    /// Whether GitHub may have acted on it.
    pub(super) unclear: bool,
}

impl Github {
    /// Sends a request once, and again only where GitHub names another address for it.
    pub(super) async fn send(&self, request: &Request) -> Result<Answer, Lost> {
        let mut path = request.path.clone();
        for _ in 0..MOST_REDIRECTS {
            let answer = self.send_to(&path, request).await?;
            let elsewhere = answer
                .header(LOCATION.as_str())
                // The token goes to no other server, whoever names it.
                .and_then(|location| location.strip_prefix(self.api_url.as_str()))
                .filter(|path| path.starts_with('/'));
            match elsewhere {
                Some(elsewhere) if answer.status.is_redirection() => {
                    elsewhere.clone_into(&mut path);
                }
                Some(_) | None => return Ok(answer),
            }
        }
        self.send_to(&path, request).await
    }

    async fn send_to(&self, path: &str, request: &Request) -> Result<Answer, Lost> {
        let lost = |error: &(dyn std::error::Error + 'static)| Lost {
            unclear: !never_connected(error),
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
            .map_err(|error| Lost {
                unclear: false,
                ..lost(&error)
            })?;
        let response = self
            .client
            .execute(message)
            .await
            .map_err(|error| lost(&error))?;
        let (parts, mut frames) = response.into_parts();
        // A refusal is read whole, to understand it.
        let limit = if parts.status.is_success() {
            request.limit
        } else {
            MOST_BYTES
        };
        let (mut body, mut cut) = (Vec::new(), false);
        while let Some(frame) = frames.frame().await {
            // The answer has begun, so the request has been seen.
            let frame = frame.map_err(|error| Lost {
                unclear: true,
                ..lost(&error)
            })?;
            let data = frame.into_data().unwrap_or_default();
            let room = limit - body.len();
            body.extend_from_slice(&data[..data.len().min(room)]);
            if data.len() > room {
                cut = true;
                break;
            }
        }
        Ok(Answer {
            status: parts.status,
            headers: parts.headers,
            body,
            cut,
        })
    }
}

fn chain<'a>(
    error: &'a (dyn std::error::Error + 'static),
) -> impl Iterator<Item = &'a (dyn std::error::Error + 'static)> {
    std::iter::successors(Some(error), |error| error.source())
}

/// Whether it failed before there was a connection to send anything on.
fn never_connected(error: &(dyn std::error::Error + 'static)) -> bool {
    chain(error).any(|cause| {
        cause
            .downcast_ref::<hyper_util::client::legacy::Error>()
            .is_some_and(hyper_util::client::legacy::Error::is_connect)
    })
}

/// Returns the cause that says most: the innermost one.
pub(super) fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    chain(error).last().unwrap_or(error).to_string()
}

/// Returns a text as it may stand in a query.
pub(super) fn encoded(text: &str) -> String {
    let mut query = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            query.push(char::from(byte));
        } else {
            query.push_str(&format!("%{byte:02X}"));
        }
    }
    query
}

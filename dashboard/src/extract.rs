//! Extractors: path parameters, query, JSON or form bodies, and the terminal lease.

use std::str::FromStr;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, OptionalFromRequestParts, Path, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;
use shared::error::Error;
use shared::model::InstanceId;

use crate::guard::{is_form, query_without};
use crate::reply::{Failure, not_found, see_other};
use crate::view::Done;

/// Query fields that pages add for themselves.
const PAGE_FIELDS: [&str; 3] = ["fragment", "done", "token"];

/// An agent's id from the path.
#[derive(Debug)]
pub(crate) struct Id(pub(crate) InstanceId);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let PathParam(text) = PathParam::from_request_parts(parts, state).await?;
        text.parse()
            .map(Self)
            .map_err(|error| Failure(Error::from(error)))
    }
}

/// The one variable segment of a path.
#[derive(Debug)]
pub(crate) struct PathParam(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for PathParam {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let found = <Path<String> as FromRequestParts<S>>::from_request_parts(parts, state).await;
        match found {
            Ok(Path(text)) => Ok(Self(text)),
            Err(_) => Err(not_found()),
        }
    }
}

/// A number from the path, as a positive integer that fits `i64`.
#[derive(Debug)]
pub(crate) struct Number(pub(crate) u64);

impl FromStr for Number {
    type Err = Failure;

    fn from_str(text: &str) -> Result<Self, Failure> {
        let number = text.parse().ok();
        number
            .filter(|number| *number > 0 && i64::try_from(*number).is_ok())
            .map(Self)
            .ok_or_else(|| Failure(Error::argument("number", "must be a number from 1")))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Number {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let PathParam(text) = PathParam::from_request_parts(parts, state).await?;
        text.parse()
    }
}

/// A pending comment, and whose work it is about, from the path.
#[derive(Debug)]
pub(crate) struct CommentOf<T> {
    pub(crate) of: T,
    pub(crate) comment: i64,
}

impl<T: FromStr, S: Send + Sync> FromRequestParts<S> for CommentOf<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let found =
            <Path<(String, i64)> as FromRequestParts<S>>::from_request_parts(parts, state).await;
        let parsed = found.ok().and_then(|Path((of, comment))| {
            let of = of.parse().ok()?;
            Some(Self { of, comment })
        });
        parsed.ok_or_else(not_found)
    }
}

/// The query of an address. Empty fields, as forms send them, count as absent.
#[derive(Debug)]
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let query = query_without(&parts.uri, &PAGE_FIELDS);
        parse_form(query.as_bytes()).map(Self).map_err(|problem| {
            Failure(Error::argument(
                "query",
                format!("can't be parsed: {problem}"),
            ))
        })
    }
}

/// The repository that a request is about; by default the one that the dashboard was started in.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RepositoryQuery {
    pub(crate) repository: Option<String>,
}

/// The body of a request: JSON, or an HTML form.
#[derive(Debug)]
pub(crate) struct JsonOrForm<T> {
    pub(crate) value: T,
    /// Whether it was a form, sent without a script: the answer is a page.
    pub(crate) form: bool,
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for JsonOrForm<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Result<Self, Failure> {
        let headers = request.headers().clone();
        let bytes = Bytes::from_request(request, state).await;
        let bytes = bytes.map_err(|_| Failure(Error::argument("body", "can't be read")))?;
        parse_body(&headers, &bytes).map_err(|problem| {
            Failure(Error::argument(
                "body",
                format!("can't be parsed: {problem}"),
            ))
        })
    }
}

fn parse_body<T: DeserializeOwned>(
    headers: &HeaderMap,
    bytes: &[u8],
) -> Result<JsonOrForm<T>, String> {
    if is_form(headers) {
        let value = parse_form(bytes)?;
        return Ok(JsonOrForm { value, form: true });
    }
    // No body counts as an empty object.
    let text: &[u8] = if bytes.is_empty() { b"{}" } else { bytes };
    let value = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    Ok(JsonOrForm { value, form: false })
}

/// Parses a form. Empty fields count as absent, and `on`, the value of a ticked box, as `true`.
fn parse_form<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    let pairs: Vec<(String, String)> =
        serde_urlencoded::from_bytes(bytes).map_err(|error| error.to_string())?;
    let filled: Vec<(String, String)> = pairs
        .into_iter()
        .filter(|(name, value)| name != "csrf" && !value.is_empty())
        .map(|(name, value)| match value.as_str() {
            "on" => (name, "true".to_owned()),
            _ => (name, value),
        })
        .collect();
    let text = serde_urlencoded::to_string(filled).map_err(|error| error.to_string())?;
    serde_urlencoded::from_str(&text).map_err(|error| error.to_string())
}

impl<T> JsonOrForm<T> {
    /// Answers a form with a redirect to the page that shows the result, and JSON with data.
    pub(crate) fn answer(
        &self,
        status: StatusCode,
        data: &impl Serialize,
        page: &str,
        done: Done,
    ) -> Response {
        if self.form {
            let (page, place) = match page.split_once('#') {
                Some((page, place)) => (page, format!("#{place}")),
                None => (page, String::new()),
            };
            let mark = if page.contains('?') { '&' } else { '?' };
            return see_other(&format!("{page}{mark}done={}{place}", done.as_str()));
        }
        (status, axum::Json(json!(data))).into_response()
    }
}

/// The parts of a request that all pages have in common.
#[derive(Debug)]
pub(crate) struct PageRequest {
    /// Only `<main>` is wanted, to replace the one in the browser.
    pub(crate) fragment: bool,
    pub(crate) done: Option<Done>,
    /// Path and query without the fields of `PAGE_FIELDS`.
    pub(crate) url: String,
}

impl PageRequest {
    fn of(uri: &Uri) -> Self {
        let pairs: Vec<(String, String)> =
            serde_urlencoded::from_str(uri.query().unwrap_or_default()).unwrap_or_default();
        let find = |wanted: &str| pairs.iter().find(|(name, _)| name == wanted);
        let query = query_without(uri, &PAGE_FIELDS);
        Self {
            fragment: find("fragment").is_some_and(|(_, value)| value == "1"),
            done: find("done").and_then(|(_, word)| Done::from_word(word)),
            url: if query.is_empty() {
                uri.path().to_owned()
            } else {
                format!("{}?{query}", uri.path())
            },
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for PageRequest {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(Self::of(&parts.uri))
    }
}

/// The lease on a terminal, from the header `x-codex-lease`.
#[derive(Debug)]
pub(crate) struct Lease(pub(crate) String);

impl<S: Send + Sync> OptionalFromRequestParts<S> for Lease {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Option<Self>, Self::Rejection> {
        let given = parts.headers.get("x-codex-lease");
        let given = given.and_then(|value| value.to_str().ok());
        Ok(given.map(|text| Self(text.to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::LaunchForm;

    #[test]
    fn forms_are_read_as_people_fill_them_in() {
        let form = "csrf=x&kind=code&prompt=Fix+it&issue=&maxReviews=3&requireReview=on&base=";
        let form: LaunchForm = parse_form(form.as_bytes()).unwrap();
        assert_eq!(form.prompt.as_deref(), Some("Fix it"));
        assert_eq!((form.issue, form.max_reviews), (None, Some(3)));
        assert!(form.require_review && form.base.is_none());
        assert!(parse_form::<LaunchForm>(b"maxReviews=many").is_err());
    }

    #[test]
    fn page_fields_are_separated_from_the_query() {
        let request = PageRequest::of(&"/events?name=a&fragment=1&done=stopped".parse().unwrap());
        assert!(request.fragment);
        assert_eq!(request.done, Some(Done::Stopped));
        assert_eq!(request.url, "/events?name=a");
        let plain = PageRequest::of(&"/?done=%3Cscript%3E".parse().unwrap());
        assert_eq!((plain.done, plain.url.as_str()), (None, "/"));
    }
}

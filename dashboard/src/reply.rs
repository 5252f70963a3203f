//! How handlers take requests and answer them.

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, OptionalFromRequestParts, Path, Request};
use axum::http::header::{CONTENT_TYPE, LOCATION};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use maud::Markup;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use shared::error::{Code, Error};
use shared::model::InstanceId;
use shared::model::hidden::{self, Piece};
use shared::store::StoreError;

use crate::guard::is_form;
use crate::view::Done;

/// An error on its way out: the guard shows it as its reader wants it.
#[derive(Debug, Clone)]
pub(crate) struct Failure(pub(crate) Error);

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut answer = status(self.0.code).into_response();
        answer.extensions_mut().insert(self);
        answer
    }
}

/// Says that there is nothing at an address.
pub(crate) fn not_found() -> Failure {
    Failure(
        Error::new(Code::NotFound, "there is nothing at this address")
            .hint("/api/openapi.json describes what there is."),
    )
}

/// Returns the HTTP status that fits an error.
pub(crate) fn status(code: Code) -> StatusCode {
    use Code as C;
    match code {
        C::InvalidArguments | C::ForgeInvalid => StatusCode::BAD_REQUEST,
        C::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        C::TokenRequired => StatusCode::UNAUTHORIZED,
        C::Forbidden
        | C::ReadOnly
        | C::RepositoryUntrusted
        | C::ForgeForbidden
        | C::ForgeUnauthorized => StatusCode::FORBIDDEN,
        C::NotFound
        | C::AnalysisNotFound
        | C::BaseNotFound
        | C::BranchNotFound
        | C::ForgeNotFound
        | C::HeadNotFound
        | C::InstanceNotFound
        | C::NotARepository
        | C::PullRequestNotFound
        | C::RemoteNotFound
        | C::RepositoryNotFound
        | C::TaskNotFound
        | C::TddRunNotFound
        | C::TmuxSessionNotFound => StatusCode::NOT_FOUND,
        C::AddressInUse
        | C::AgentEnded
        | C::AnotherSession
        | C::BranchExists
        | C::BranchInUse
        | C::BranchMerged
        | C::BranchProtected
        | C::Cancelled
        | C::ControlTaken
        | C::ForgeNotConfigured
        | C::IllegalState
        | C::InstanceLimitReached
        | C::IssueLimitReached
        | C::MergeConflict
        | C::NoBranch
        | C::NotAvailable
        | C::NotMergeable
        | C::NothingToPublish
        | C::NothingToReview
        | C::PullRequestExists
        | C::PullRequestNotOpen
        | C::PushDeclinedByHook
        | C::PushForbidden
        | C::PushNotFastForward
        | C::PushProtected
        | C::PushRejected
        | C::PushUnauthorized
        | C::RepositoryEmpty
        | C::ReviewDecided
        | C::ReviewLimitReached
        | C::ReviewOutdated
        | C::ReviewPending
        | C::ReviewRequired
        | C::TaskNotReady
        | C::WorktreeDirty
        | C::WorktreePathTaken => StatusCode::CONFLICT,
        C::ForgeRateLimited
        | C::ForgeUnavailable
        | C::ForgeUncertain
        | C::RemoteUnreachable
        | C::DatabaseBusy
        | C::DatabaseMoved
        | C::DatabaseCorrupt
        | C::DatabaseNewer
        | C::DatabaseReadOnly
        | C::DatabaseUnavailable
        | C::DiskFull
        | C::ClaudeMissing
        | C::ClaudeTooOld
        | C::ConfigInvalid
        | C::GitMissing
        | C::GitTooOld
        | C::ServerMissing
        | C::TmuxMissing
        | C::TmuxTooOld => StatusCode::SERVICE_UNAVAILABLE,
        C::AgentFailed | C::GitFailed | C::Internal | C::TmuxFailed => {
            StatusCode::INTERNAL_SERVER_ERROR
        }
    }
}

/// A page.
pub(crate) fn html(markup: &Markup) -> Response {
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    ([(CONTENT_TYPE, kind)], revealed(&markup.0)).into_response()
}

/// Shows hidden characters of a whole page: any title, path or message in it may have some.
///
/// Markup itself has none, so what is found is text or the value of an attribute, and both read references.
pub(crate) fn revealed(page: &str) -> String {
    let mut shown = String::with_capacity(page.len());
    for piece in hidden::pieces(&page.replace("\r\n", "\n")) {
        match piece {
            Piece::Visible(part) => shown.push_str(part),
            Piece::Hidden(character) => {
                shown.push_str(&format!("&lt;{}&gt;", hidden::number(character)));
            }
        }
    }
    shown
}

/// Sends a browser to another page of ours.
pub(crate) fn see_other(path: &str) -> Response {
    let mut answer = StatusCode::SEE_OTHER.into_response();
    let location = HeaderValue::from_str(path).unwrap_or(HeaderValue::from_static("/"));
    answer.headers_mut().insert(LOCATION, location);
    answer
}

/// Returns the query of an address without some of its fields.
pub(crate) fn query_without(uri: &Uri, unwanted: &[&str]) -> String {
    let pairs: Vec<(String, String)> =
        serde_urlencoded::from_str(uri.query().unwrap_or_default()).unwrap_or_default();
    let kept: Vec<_> = pairs
        .iter()
        .filter(|(name, _)| !unwanted.contains(&name.as_str()))
        .collect();
    serde_urlencoded::to_string(kept).unwrap_or_default()
}

/// An agent's id out of the path.
#[derive(Debug)]
pub(crate) struct Id(pub(crate) InstanceId);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let Segment(text) = Segment::from_request_parts(parts, state).await?;
        text.parse()
            .map(Self)
            .map_err(|error| Failure(Error::from(error)))
    }
}

/// The one variable segment of a path.
#[derive(Debug)]
pub(crate) struct Segment(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for Segment {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let found = <Path<String> as FromRequestParts<S>>::from_request_parts(parts, state).await;
        match found {
            Ok(Path(text)) => Ok(Self(text)),
            Err(_) => Err(not_found()),
        }
    }
}

/// A number out of the path.
#[derive(Debug)]
pub(crate) struct Number(pub(crate) u64);

impl<S: Send + Sync> FromRequestParts<S> for Number {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let Segment(text) = Segment::from_request_parts(parts, state).await?;
        // SQLite's integers end here.
        let number = text
            .parse()
            .ok()
            .filter(|number| i64::try_from(*number).is_ok());
        number
            .filter(|number| *number > 0)
            .map(Self)
            .ok_or_else(|| Failure(Error::argument("number", "is a number from 1")))
    }
}

/// What is asked in the query. Fields that are left empty, as forms do, are not given.
#[derive(Debug)]
pub(crate) struct Ask<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Ask<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        // What pages add for themselves is not part of the question.
        let query = query_without(&parts.uri, &["fragment", "done", "token"]);
        parse_form(query.as_bytes()).map(Self).map_err(|problem| {
            Failure(Error::argument(
                "query",
                format!("can't be understood: {problem}"),
            ))
        })
    }
}

/// What is given in the body: JSON, or an HTML form.
#[derive(Debug)]
pub(crate) struct Given<T> {
    pub(crate) value: T,
    /// Whether a person without a script sent it, who wants a page next.
    pub(crate) form: bool,
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Given<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Result<Self, Failure> {
        let headers = request.headers().clone();
        let bytes = Bytes::from_request(request, state).await;
        let bytes = bytes.map_err(|_| Failure(Error::argument("body", "can't be read")))?;
        given(&headers, &bytes).map_err(|problem| {
            Failure(Error::argument(
                "body",
                format!("can't be understood: {problem}"),
            ))
        })
    }
}

fn given<T: DeserializeOwned>(headers: &HeaderMap, bytes: &[u8]) -> Result<Given<T>, String> {
    if is_form(headers) {
        let value = parse_form(bytes)?;
        return Ok(Given { value, form: true });
    }
    // No body at all is an empty one.
    let text: &[u8] = if bytes.is_empty() { b"{}" } else { bytes };
    let value = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    Ok(Given { value, form: false })
}

/// Reads a form: what is empty was not filled in, what is `on` was ticked.
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

impl<T> Given<T> {
    /// Answers what was asked for: a form with the page to go on with, anything else with data.
    pub(crate) fn answer(
        &self,
        status: StatusCode,
        data: &impl Serialize,
        page: &str,
        done: Done,
    ) -> Response {
        if self.form {
            let mark = if page.contains('?') { '&' } else { '?' };
            return see_other(&format!("{page}{mark}done={}", done.as_str()));
        }
        (status, axum::Json(json!(data))).into_response()
    }
}

/// What pages are asked beside their own question.
#[derive(Debug)]
pub(crate) struct Manner {
    pub(crate) fragment: bool,
    pub(crate) done: Option<Done>,
    /// The address without that.
    pub(crate) url: String,
}

impl Manner {
    pub(crate) fn of(uri: &Uri) -> Self {
        let pairs: Vec<(String, String)> =
            serde_urlencoded::from_str(uri.query().unwrap_or_default()).unwrap_or_default();
        let find = |wanted: &str| pairs.iter().find(|(name, _)| name == wanted);
        let query = query_without(uri, &["fragment", "done", "token"]);
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

impl<S: Send + Sync> FromRequestParts<S> for Manner {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(Self::of(&parts.uri))
    }
}

/// The lease of whoever controls a terminal, in its own header.
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
    fn what_pages_add_is_taken_apart() {
        let manner = Manner::of(&"/events?name=a&fragment=1&done=stopped".parse().unwrap());
        assert!(manner.fragment);
        assert_eq!(manner.done, Some(Done::Stopped));
        assert_eq!(manner.url, "/events?name=a");
        let plain = Manner::of(&"/?done=%3Cscript%3E".parse().unwrap());
        assert_eq!((plain.done, plain.url.as_str()), (None, "/"));
    }
}

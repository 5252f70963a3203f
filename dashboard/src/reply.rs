//! Renders responses: pages, redirects, and errors as HTML for people or JSON for programs.

use axum::http::header::{ACCEPT, ALLOW, CONTENT_TYPE, HeaderMap, LOCATION, SET_COOKIE};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use maud::Markup;
use shared::error::{Code, Error};
use shared::model::hidden::{self, Piece};
use shared::store::StoreError;

use crate::app::App;
use crate::guard::{Area, Rejection, is_form};
use crate::pages;
use crate::view::Section;

/// An error of a handler. It travels as an extension of the response, for [`render_error`].
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
        let mut response = status(self.0.code).into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// Returns the error for an address that does not exist.
pub(crate) fn not_found() -> Failure {
    Failure(
        Error::new(Code::NotFound, "there is nothing at this address")
            .hint("/api/openapi.json describes the API."),
    )
}

/// Returns the error for a method that an address does not support; the header `Allow` lists those it does.
pub(crate) fn wrong_method() -> Failure {
    Failure(
        Error::new(
            Code::MethodNotAllowed,
            "this address does not support that method",
        )
        .hint("/api/openapi.json describes the API."),
    )
}

/// Returns the response to a request that the guard has rejected.
pub(crate) fn rejected(app: &App, rejection: Rejection) -> Response {
    match rejection {
        Rejection::Error(error) => Failure(error).into_response(),
        Rejection::SignIn { location } => {
            let mut response = see_other(&location);
            if let Ok(cookie) = HeaderValue::from_str(&app.keys.set_cookie()) {
                response.headers_mut().insert(SET_COOKIE, cookie);
            }
            response
        }
        Rejection::Locked => (StatusCode::UNAUTHORIZED, html(&pages::locked())).into_response(),
    }
}

/// Returns whether a person reads the response: of a page, or of a form that was sent without a script.
pub(crate) fn wants_page(area: Area, method: &Method, headers: &HeaderMap) -> bool {
    match area {
        Area::Page => true,
        Area::Api => {
            let accepts = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
            let accepts = accepts.is_some_and(|value| value.contains("text/html"));
            *method == Method::POST && is_form(headers) && accepts
        }
        Area::Open | Area::Assets | Area::Webhook => false,
    }
}

/// Renders the error in a response, if there is one, as a page or as JSON.
pub(crate) fn render_error(app: &App, mut response: Response, as_page: bool) -> Response {
    let Some(Failure(error)) = response.extensions_mut().remove::<Failure>() else {
        return response;
    };
    let mut rendered = if as_page {
        let mut frame = app.frame(Section::Elsewhere, "/".to_owned());
        if matches!(error.code, Code::TokenRequired | Code::Forbidden) {
            // The reader has not proved to be allowed in, so the page carries no CSRF token.
            frame.csrf.clear();
        }
        html(&pages::problem(&error, &frame))
    } else {
        axum::Json(&error).into_response()
    };
    *rendered.status_mut() = response.status();
    if let Some(methods) = response.headers_mut().remove(ALLOW) {
        rendered.headers_mut().insert(ALLOW, methods);
    }
    rendered
}

/// Returns the HTTP status of an error.
pub(crate) fn status(code: Code) -> StatusCode {
    use Code as C;
    match code {
        C::InvalidArguments | C::AmbiguousId | C::ForgeInvalid => StatusCode::BAD_REQUEST,
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
        | C::DialogChanged
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
        | C::PullRequestOutdated
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

/// Returns a page as a response.
pub(crate) fn html(markup: &Markup) -> Response {
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    ([(CONTENT_TYPE, kind)], revealed(&markup.0)).into_response()
}

/// Reveals hidden characters in a whole page: any title, path or message in it may have some.
///
/// The markup itself has none, so each one found is in text or in an attribute, and both decode character references.
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

/// Redirects a browser to another page of the dashboard.
pub(crate) fn see_other(path: &str) -> Response {
    let location = HeaderValue::from_str(path).unwrap_or(HeaderValue::from_static("/"));
    (StatusCode::SEE_OTHER, [(LOCATION, location)]).into_response()
}

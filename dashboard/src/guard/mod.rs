//! Who may ask, and for what. Every request passes here first, and every answer last.

mod headers;
mod keys;
mod origin;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{
    ACCEPT, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, LOCATION, SET_COOKIE,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use shared::error::{Code, Error};

use crate::app::{App, Shared};
use crate::pages;
use crate::reply::{self, Failure};
use crate::view::{Frame, Section};

pub(crate) use keys::Keys;
pub(crate) use keys::token;

/// The longest body that is taken: a prompt of a megabyte, and what a form makes of it.
const MOST_BYTES: usize = 4 << 20;

/// What an address needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Area {
    /// For everybody who can connect: is it alive?
    Open,
    /// Styles and scripts, which hold nothing.
    Assets,
    /// Signed by its sender.
    Webhook,
    /// For programs.
    Api,
    Page,
}

fn area(path: &str) -> Area {
    if path == "/healthz" {
        Area::Open
    } else if path.starts_with("/assets/") {
        Area::Assets
    } else if path.starts_with("/webhooks/") {
        Area::Webhook
    } else if path == "/metrics" || path == "/api" || path.starts_with("/api/") {
        Area::Api
    } else {
        Area::Page
    }
}

/// Lets a request through or not, and puts what every answer has on it.
pub(crate) async fn guard(State(app): State<Shared>, request: Request, next: Next) -> Response {
    let area = area(request.uri().path());
    let reader = Reader::of(request.method(), request.headers(), area);
    let answer = match admitted(&app, area, request).await {
        Ok(request) => next.run(request).await,
        Err(Refusal::Error(error)) => Failure(error).into_response(),
        Err(Refusal::Answer(answer)) => *answer,
    };
    let mut answer = reader.shown(&app, answer);
    headers::harden(area == Area::Assets, answer.headers_mut());
    answer
}

/// Why a request gets no further.
enum Refusal {
    Error(Error),
    Answer(Box<Response>),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

async fn admitted(app: &App, area: Area, request: Request) -> Result<Request, Refusal> {
    let changes = !matches!(*request.method(), Method::GET | Method::HEAD);
    match area {
        Area::Open => return Ok(request),
        Area::Webhook => {
            // Its signature is looked at with its body, by its handler.
            return if app.options.read_only {
                Err(read_only().into())
            } else {
                Ok(bounded(request).await?.0)
            };
        }
        Area::Assets | Area::Api | Area::Page => {}
    }
    let host = origin::host(request.headers(), request.uri())?;
    origin::check_host(&host, &app.options.host_names)?;
    if area == Area::Assets {
        return Ok(request);
    }
    if changes || area == Area::Api {
        origin::check_origin(&host, request.headers())?;
    }
    let Some(proof) = proof(app, request.headers()) else {
        return Err(introduced(app, area, &request));
    };
    if area == Area::Page && token_in(request.uri()).is_some() {
        // Already known; the token only has to go from the address.
        return Err(introduced(app, area, &request));
    }
    if !changes {
        return Ok(request);
    }
    if app.options.read_only {
        return Err(read_only().into());
    }
    let (request, body) = bounded(request).await?;
    if proof == Proof::Cookie && !has_csrf(app, request.headers(), &body) {
        return Err(Error::new(
            Code::Forbidden,
            "the request does not come from a page of ours",
        )
        .hint("Reload the page. Programs send `Authorization: Bearer TOKEN` instead of the cookie.")
        .into());
    }
    Ok(request)
}

fn read_only() -> Error {
    Error::new(
        Code::ReadOnly,
        "this dashboard only shows, it changes nothing",
    )
    .hint("It was started with --read-only.")
}

/// Reads the body into memory, so far as it is not too long.
async fn bounded(request: Request) -> Result<(Request, Bytes), Error> {
    let too_long = || Error::argument("body", format!("has more than {MOST_BYTES} bytes"));
    let announced = request.headers().get(CONTENT_LENGTH);
    let announced = announced.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > MOST_BYTES as u64) {
        return Err(too_long());
    }
    let (parts, body) = request.into_parts();
    let bytes = to_bytes(body, MOST_BYTES).await.map_err(|_| too_long())?;
    Ok((Request::from_parts(parts, Body::from(bytes.clone())), bytes))
}

/// How somebody has shown that they may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Proof {
    Bearer,
    Cookie,
}

fn proof(app: &App, headers: &HeaderMap) -> Option<Proof> {
    let bearer = headers
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    if bearer.is_some_and(|token| app.keys.is_token(token.trim())) {
        return Some(Proof::Bearer);
    }
    let name = app.keys.cookie_name();
    let cookies = headers.get_all(COOKIE).iter();
    let mut cookies = cookies
        .filter_map(|value| value.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='));
    cookies
        .any(|(key, value)| key == name && app.keys.is_cookie(value))
        .then_some(Proof::Cookie)
}

/// Answers somebody without a cookie: with one if the address has the token, else with how to get it.
fn introduced(app: &App, area: Area, request: &Request) -> Refusal {
    let uri = request.uri();
    let given = token_in(uri).filter(|token| app.keys.is_token(token));
    let looks = matches!(*request.method(), Method::GET | Method::HEAD);
    if area == Area::Page && looks && given.is_some() {
        let mut answer = StatusCode::SEE_OTHER.into_response();
        let location = HeaderValue::from_str(&without_token(uri));
        let location = location.unwrap_or(HeaderValue::from_static("/"));
        answer.headers_mut().insert(LOCATION, location);
        if let Ok(cookie) = HeaderValue::from_str(&app.keys.set_cookie()) {
            answer.headers_mut().insert(SET_COOKIE, cookie);
        }
        return Refusal::Answer(Box::new(answer));
    }
    if area == Area::Page && looks {
        let mut answer = reply::html(&pages::locked());
        *answer.status_mut() = StatusCode::UNAUTHORIZED;
        return Refusal::Answer(Box::new(answer));
    }
    Refusal::Error(
        Error::new(Code::TokenRequired, "the token is missing or wrong").hint(
            "Open the address that `claude-codex dashboard` printed, or send `Authorization: Bearer TOKEN`.",
        ),
    )
}

fn token_in(uri: &Uri) -> Option<String> {
    let pairs: Vec<(String, String)> = serde_urlencoded::from_str(uri.query()?).ok()?;
    pairs
        .into_iter()
        .find(|(name, _)| name == "token")
        .map(|(_, value)| value)
}

/// Returns path and query without the token. The path begins with exactly one `/`, or it would be another site's.
fn without_token(uri: &Uri) -> String {
    let path = format!("/{}", uri.path().trim_start_matches(['/', '\\']));
    let query = reply::query_without(uri, &["token"]);
    if query.is_empty() {
        path
    } else {
        format!("{path}?{query}")
    }
}

/// Tells whether a request carries what only our pages know: in a header, or in a field of a form.
fn has_csrf(app: &App, headers: &HeaderMap, body: &[u8]) -> bool {
    let header = headers
        .get("x-codex-csrf")
        .and_then(|value| value.to_str().ok());
    if let Some(given) = header {
        return app.keys.is_csrf(given);
    }
    if !is_form(headers) {
        return false;
    }
    let pairs: Vec<(String, String)> = serde_urlencoded::from_bytes(body).unwrap_or_default();
    let mut given = pairs.iter().filter(|(name, _)| name == "csrf");
    given.any(|(_, value)| app.keys.is_csrf(value))
}

/// Tells whether the body is an HTML form's.
pub(crate) fn is_form(headers: &HeaderMap) -> bool {
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    kind.is_some_and(|kind| {
        let kind = kind.split(';').next().unwrap_or_default().trim();
        kind.eq_ignore_ascii_case("application/x-www-form-urlencoded")
    })
}

/// Who reads the answer.
struct Reader {
    is_person: bool,
}

impl Reader {
    fn of(method: &Method, headers: &HeaderMap, area: Area) -> Self {
        let accepts = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
        let accepts = accepts.is_some_and(|value| value.contains("text/html"));
        let form = *method == Method::POST && is_form(headers);
        Self {
            is_person: match area {
                Area::Page => true,
                Area::Api => form && accepts,
                Area::Open | Area::Assets | Area::Webhook => false,
            },
        }
    }

    /// Shows an error as its reader wants it.
    fn shown(&self, app: &App, mut answer: Response) -> Response {
        let Some(Failure(error)) = answer.extensions_mut().remove::<Failure>() else {
            return answer;
        };
        let status = answer.status();
        let mut shown = if self.is_person {
            let frame = Frame {
                section: Section::Elsewhere,
                csrf: app.keys.csrf().to_owned(),
                read_only: app.options.read_only,
                fragment: false,
                url: "/".to_owned(),
                version: app.changes.version(),
                counts: None,
                done: None,
            };
            let frame = if error.code == Code::TokenRequired || error.code == Code::Forbidden {
                // Whoever gets this may not be who it looks like.
                Frame {
                    csrf: String::new(),
                    ..frame
                }
            } else {
                frame
            };
            reply::html(&pages::problem(&error, &frame))
        } else {
            axum::Json(&error).into_response()
        };
        *shown.status_mut() = status;
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_goes_and_the_address_stays_ours() {
        let uri = |text: &str| text.parse::<Uri>().unwrap();
        assert_eq!(without_token(&uri("/?token=abc")), "/");
        assert_eq!(
            without_token(&uri("/events?errors=true&token=a&name=x%20y")),
            "/events?errors=true&name=x+y"
        );
        assert_eq!(
            without_token(&uri("//evil.example/?token=a")),
            "/evil.example/"
        );
        assert_eq!(token_in(&uri("/?a=1&token=b")).as_deref(), Some("b"));
        assert_eq!(token_in(&uri("/")), None);
    }

    #[test]
    fn areas() {
        assert_eq!(area("/api"), Area::Api);
        assert_eq!(area("/api/board"), Area::Api);
        assert_eq!(area("/apis"), Area::Page);
        assert_eq!(area("/metrics"), Area::Api);
        assert_eq!(area("/assets/../x"), Area::Assets);
        assert_eq!(area("/"), Area::Page);
    }
}

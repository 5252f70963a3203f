//! Authorizes every request: token or cookie, Host, Origin, CSRF, read-only mode and body size; sets security headers.
//!
//! It decides and renders nothing: a [`Rejection`] becomes a response in `reply`.

mod headers;
mod origin;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::Request;
use axum::http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, COOKIE};
use axum::http::{HeaderMap, Method, Uri};
use shared::error::{Code, Error};

use crate::app::App;

pub(crate) use headers::harden;

/// The longest body that is accepted: a prompt of a megabyte, as a form encodes it.
const MAX_BODY_BYTES: usize = 4 << 20;

/// The part of the site that an address belongs to, which decides what a request to it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Area {
    /// The health check, for everybody who can connect.
    Open,
    /// Styles and scripts, which contain no data.
    Assets,
    /// Signed by its sender.
    Webhook,
    /// For programs.
    Api,
    Page,
}

impl Area {
    pub(crate) fn of(path: &str) -> Self {
        if path == "/healthz" {
            Self::Open
        } else if path.starts_with("/assets/") {
            Self::Assets
        } else if path.starts_with("/webhooks/") {
            Self::Webhook
        } else if path == "/metrics" || path == "/api" || path.starts_with("/api/") {
            Self::Api
        } else {
            Self::Page
        }
    }
}

/// Why a request does not reach its handler.
#[derive(Debug)]
pub(crate) enum Rejection {
    Error(Error),
    /// The address has the token: the browser gets the cookie, and goes on to the address without it.
    SignIn {
        location: String,
    },
    /// A page was asked for without a token.
    Locked,
}

impl From<Error> for Rejection {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// Returns the request if it may reach its handler, with its body in memory if it changes something.
pub(crate) async fn authorize(
    app: &App,
    area: Area,
    request: Request,
) -> Result<Request, Rejection> {
    let changes = !is_read(&request);
    match area {
        Area::Open => return Ok(request),
        Area::Webhook => {
            // The handler checks the signature, which covers the body.
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
    let Some(credential) = credential(app, request.headers()) else {
        return Err(sign_in_or_reject(app, area, &request));
    };
    if area == Area::Page && token_in(request.uri()).is_some() {
        // The browser has its cookie; the token must still go from the address.
        return Err(sign_in_or_reject(app, area, &request));
    }
    if !changes {
        return Ok(request);
    }
    if app.options.read_only {
        return Err(read_only().into());
    }
    let (request, body) = bounded(request).await?;
    if credential == Credential::Cookie && !has_csrf(app, request.headers(), &body) {
        return Err(Error::new(
            Code::Forbidden,
            "the request does not come from a page of this dashboard",
        )
        .hint("Reload the page. Programs send `Authorization: Bearer TOKEN` instead of the cookie.")
        .into());
    }
    Ok(request)
}

fn is_read(request: &Request) -> bool {
    matches!(*request.method(), Method::GET | Method::HEAD)
}

fn read_only() -> Error {
    Error::new(Code::ReadOnly, "this dashboard is read-only")
        .hint("It was started with --read-only.")
}

/// Reads the body into memory, up to the limit.
async fn bounded(request: Request) -> Result<(Request, Bytes), Error> {
    let too_long = || Error::argument("body", format!("has more than {MAX_BODY_BYTES} bytes"));
    let announced = request.headers().get(CONTENT_LENGTH);
    let announced = announced.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > MAX_BODY_BYTES as u64) {
        return Err(too_long());
    }
    let (parts, body) = request.into_parts();
    let bytes = to_bytes(body, MAX_BODY_BYTES)
        .await
        .map_err(|_| too_long())?;
    Ok((Request::from_parts(parts, Body::from(bytes.clone())), bytes))
}

/// What a request has authenticated itself with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Credential {
    Bearer,
    Cookie,
}

fn credential(app: &App, headers: &HeaderMap) -> Option<Credential> {
    let bearer = headers
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    if bearer.is_some_and(|token| app.keys.is_token(token.trim())) {
        return Some(Credential::Bearer);
    }
    let name = app.keys.cookie_name();
    let cookies = headers.get_all(COOKIE).iter();
    let mut cookies = cookies
        .filter_map(|value| value.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='));
    cookies
        .any(|(key, value)| key == name && app.keys.is_cookie(value))
        .then_some(Credential::Cookie)
}

/// Rejects a request without a credential; a page whose address has the token signs its browser in.
fn sign_in_or_reject(app: &App, area: Area, request: &Request) -> Rejection {
    let token = token_in(request.uri()).filter(|token| app.keys.is_token(token));
    if area != Area::Page || !is_read(request) {
        let error = Error::new(Code::TokenRequired, "the token is missing or wrong").hint(
            "Open the address that `claude-codex dashboard` printed, or send `Authorization: Bearer TOKEN`.",
        );
        return Rejection::Error(error);
    }
    match token {
        Some(_) => Rejection::SignIn {
            location: without_token(request.uri()),
        },
        None => Rejection::Locked,
    }
}

fn token_in(uri: &Uri) -> Option<String> {
    let pairs: Vec<(String, String)> = serde_urlencoded::from_str(uri.query()?).ok()?;
    pairs
        .into_iter()
        .find(|(name, _)| name == "token")
        .map(|(_, value)| value)
}

/// Returns path and query without the token. The path begins with exactly one `/`: two would name another host.
fn without_token(uri: &Uri) -> String {
    let path = format!("/{}", uri.path().trim_start_matches(['/', '\\']));
    let query = query_without(uri, &["token"]);
    if query.is_empty() {
        path
    } else {
        format!("{path}?{query}")
    }
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

/// Returns whether a request has the CSRF token, in a header or in a field of a form.
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

/// Returns whether the body is an HTML form.
pub(crate) fn is_form(headers: &HeaderMap) -> bool {
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    kind.is_some_and(|kind| {
        let kind = kind.split(';').next().unwrap_or_default().trim();
        kind.eq_ignore_ascii_case("application/x-www-form-urlencoded")
    })
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
        assert_eq!(Area::of("/api"), Area::Api);
        assert_eq!(Area::of("/api/board"), Area::Api);
        assert_eq!(Area::of("/apis"), Area::Page);
        assert_eq!(Area::of("/metrics"), Area::Api);
        assert_eq!(Area::of("/assets/../x"), Area::Assets);
        assert_eq!(Area::of("/"), Area::Page);
    }
}

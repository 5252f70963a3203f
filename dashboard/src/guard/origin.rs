//! Validates Host and Origin, headers that a page on another site cannot forge.
//!
//! Such a page can make a browser send requests here. Checking `Host` defeats DNS rebinding; checking `Origin` and
//! `Sec-Fetch-Site` defeats cross-site requests.

use std::net::IpAddr;

use axum::http::Uri;
use axum::http::header::{HOST, HeaderMap, ORIGIN};
use shared::error::{Code, Error};

/// Returns the host that the client has addressed.
pub(super) fn host(headers: &HeaderMap, uri: &Uri) -> Result<String, Error> {
    let mut given = headers.get_all(HOST).iter();
    let (first, second) = (given.next(), given.next());
    let first = first.and_then(|value| value.to_str().ok());
    match (first, second, uri.authority()) {
        (Some(host), None, None) => Ok(host.to_ascii_lowercase()),
        (Some(host), None, Some(authority)) if authority.as_str().eq_ignore_ascii_case(host) => {
            Ok(host.to_ascii_lowercase())
        }
        _ => Err(refused("the request does not say which host it is for")),
    }
}

/// Accepts IP addresses, `localhost` and the configured names, with any port: a tunnel may use another one.
pub(super) fn check_host(host: &str, names: &[String]) -> Result<(), Error> {
    let name = without_port(host);
    let is_address = name
        .trim_start_matches('[')
        .trim_end_matches(']')
        .parse::<IpAddr>()
        .is_ok();
    let is_known =
        name == "localhost" || names.iter().any(|known| known.eq_ignore_ascii_case(name));
    if is_address || is_known {
        return Ok(());
    }
    Err(refused("this dashboard does not answer to that host name")
        .hint("Use its IP address, or start it with `--host-name NAME`."))
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

/// Rejects requests of pages on other sites.
pub(super) fn check_origin(host: &str, headers: &HeaderMap) -> Result<(), Error> {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    if let Some(site) = text("sec-fetch-site")
        && !matches!(site, "same-origin" | "none")
    {
        return Err(refused("the request comes from another site"));
    }
    if let Some(origin) = text(ORIGIN.as_str()) {
        let ours = origin
            .strip_prefix("http://")
            .or_else(|| origin.strip_prefix("https://"))
            .is_some_and(|rest| rest.eq_ignore_ascii_case(host));
        if !ours {
            return Err(refused("the request comes from another site"));
        }
    }
    Ok(())
}

fn refused(why: &str) -> Error {
    Error::new(Code::Forbidden, why)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn names_that_we_have() {
        let names = ["Desk.example".to_owned()];
        for host in [
            "localhost",
            "localhost:4620",
            "127.0.0.1:1",
            "[::1]:4620",
            "192.168.1.4",
            "desk.example:80",
        ] {
            assert!(check_host(host, &names).is_ok(), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example:4620",
            "127.0.0.1.evil.example",
            "",
            "a:b:c",
        ] {
            assert!(check_host(host, &names).is_err(), "{host}");
        }
    }

    #[test]
    fn origins_that_are_ours() {
        let check = |headers: &[(&'static str, &'static str)]| {
            let headers = headers
                .iter()
                .map(|(name, value)| {
                    let name = axum::http::HeaderName::from_static(name);
                    (name, HeaderValue::from_static(value))
                })
                .collect();
            check_origin("127.0.0.1:4620", &headers).is_ok()
        };
        assert!(check(&[]));
        assert!(check(&[("origin", "http://127.0.0.1:4620")]));
        assert!(check(&[("sec-fetch-site", "same-origin")]));
        for wrong in [
            [("origin", "http://127.0.0.1:9999")],
            [("origin", "null")],
            [("origin", "http://evil.example")],
            [("origin", "http://127.0.0.1:4620.evil.example")],
            [("sec-fetch-site", "cross-site")],
            [("sec-fetch-site", "same-site")],
        ] {
            assert!(!check(&wrong), "{wrong:?}");
        }
    }
}

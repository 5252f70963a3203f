//! Who may ask for what: each door tried with each key.

use serde_json::json;

use super::client::Dashboard;
use crate::support::Place;

/// One request: what is sent, and what must come of it.
struct Case {
    what: &'static str,
    method: &'static str,
    path: &'static str,
    headers: Vec<(&'static str, String)>,
    body: &'static str,
    status: u16,
}

fn case(
    what: &'static str,
    method: &'static str,
    path: &'static str,
    headers: Vec<(&'static str, String)>,
    status: u16,
) -> Case {
    let body = if method == "POST" { "{}" } else { "" };
    Case {
        what,
        method,
        path,
        headers,
        body,
        status,
    }
}

fn try_all(dashboard: &Dashboard, cases: &[Case]) {
    for case in cases {
        let headers: Vec<_> = case
            .headers
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let answer = dashboard.raw(case.method, case.path, &headers, case.body);
        assert_eq!(answer.status, case.status, "{}: {answer:?}", case.what);
        assert!(!answer.body.contains(&dashboard.token), "{}", case.what);
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "same-origin"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{}", case.what);
        }
        let policy = answer.header("content-security-policy").unwrap();
        assert!(
            policy.starts_with("default-src 'none'; script-src 'self';"),
            "{policy}"
        );
        assert!(!policy.contains("unsafe"), "{policy}");
    }
}

/// An agent that is not there: who gets as far as 404 was let in.
const STOP: &str = "/api/instances/nobody/stop";

#[test]
fn only_those_with_the_token_get_in_and_only_from_our_own_pages() {
    let place = Place::new("idle", "idle");
    let dashboard = Dashboard::start(&place, &["--host-name", "desk.example"]);
    let cookie = dashboard.cookie();
    let csrf = dashboard.csrf(&cookie);
    let own = format!("http://{}", dashboard.address);
    let bearer = || ("authorization", format!("Bearer {}", dashboard.token));
    let with_cookie = || ("cookie", cookie.clone());
    let with_csrf = || ("x-codex-csrf", csrf.clone());
    let header = |name: &'static str, value: &str| (name, value.to_owned());
    let json = || header("content-type", "application/json");
    let cases = [
        case("health is for all", "GET", "/healthz", vec![], 200),
        case("styles are for all", "GET", "/assets/app.css", vec![], 200),
        case("a page without a token", "GET", "/", vec![], 401),
        case("an agent's page without", "GET", "/agents/x", vec![], 401),
        case(
            "a wrong token in the address",
            "GET",
            "/?token=wrong",
            vec![],
            401,
        ),
        case("data without", "GET", "/api/board", vec![], 401),
        case(
            "an address that is not there, without",
            "GET",
            "/api/nothing",
            vec![],
            401,
        ),
        case("numbers without", "GET", "/metrics", vec![], 401),
        case(
            "the description without",
            "GET",
            "/api/openapi.json",
            vec![],
            401,
        ),
        case("a stream without", "GET", "/api/changes", vec![], 401),
        case("a deed without", "POST", STOP, vec![json()], 401),
        case(
            "a token in the address is none for data",
            "GET",
            "/api/board?token=x",
            vec![],
            401,
        ),
        case(
            "a wrong bearer",
            "GET",
            "/api/board",
            vec![header("authorization", "Bearer x")],
            401,
        ),
        case(
            "a wrong cookie",
            "GET",
            "/api/board",
            vec![header("cookie", "codex_dashboard=x")],
            401,
        ),
        case(
            "data with the bearer",
            "GET",
            "/api/board",
            vec![bearer()],
            200,
        ),
        case(
            "numbers with the bearer",
            "GET",
            "/metrics",
            vec![bearer()],
            200,
        ),
        case(
            "data with the cookie",
            "GET",
            "/api/board",
            vec![with_cookie()],
            200,
        ),
        case(
            "a page with the cookie",
            "GET",
            "/",
            vec![with_cookie()],
            200,
        ),
        case("HEAD", "HEAD", "/", vec![with_cookie()], 200),
        case(
            "another name of this machine",
            "GET",
            "/",
            vec![with_cookie(), header("host", "localhost:1")],
            200,
        ),
        case(
            "a name that was given",
            "GET",
            "/",
            vec![with_cookie(), header("host", "desk.example")],
            200,
        ),
        case(
            "a name that points here",
            "GET",
            "/",
            vec![with_cookie(), header("host", "evil.example")],
            403,
        ),
        case(
            "the same for data",
            "GET",
            "/api/board",
            vec![bearer(), header("host", "evil.example:4620")],
            403,
        ),
        case(
            "the same for styles",
            "GET",
            "/assets/app.css",
            vec![header("host", "evil.example")],
            403,
        ),
        case(
            "data for another site",
            "GET",
            "/api/board",
            vec![with_cookie(), header("origin", "http://evil.example")],
            403,
        ),
        case(
            "a stream for another site",
            "GET",
            "/api/changes",
            vec![with_cookie(), header("sec-fetch-site", "cross-site")],
            403,
        ),
        case(
            "a deed with the bearer",
            "POST",
            STOP,
            vec![bearer(), json()],
            404,
        ),
        case(
            "a deed with cookie alone",
            "POST",
            STOP,
            vec![with_cookie(), json()],
            403,
        ),
        case(
            "a wrong csrf",
            "POST",
            STOP,
            vec![with_cookie(), json(), header("x-codex-csrf", "x")],
            403,
        ),
        case(
            "a deed from our page",
            "POST",
            STOP,
            vec![with_cookie(), with_csrf(), json(), ("origin", own.clone())],
            404,
        ),
        case(
            "the same from another port",
            "POST",
            STOP,
            vec![
                with_cookie(),
                with_csrf(),
                json(),
                header("origin", "http://127.0.0.1:1"),
            ],
            403,
        ),
        case(
            "from nowhere",
            "POST",
            STOP,
            vec![with_cookie(), with_csrf(), json(), header("origin", "null")],
            403,
        ),
        case(
            "from a sister site",
            "POST",
            STOP,
            vec![bearer(), json(), header("sec-fetch-site", "same-site")],
            403,
        ),
        case(
            "DELETE with cookie alone",
            "DELETE",
            "/api/instances/nobody",
            vec![with_cookie()],
            403,
        ),
        case(
            "an address that is not there",
            "GET",
            "/api/nothing",
            vec![bearer()],
            404,
        ),
        case(
            "a method that is not there",
            "POST",
            "/api/board",
            vec![bearer(), json()],
            405,
        ),
        case(
            "webhooks without a secret",
            "POST",
            "/webhooks/github",
            vec![json()],
            404,
        ),
    ];
    try_all(&dashboard, &cases);

    // The same without a script: the field of a form.
    let form = [
        ("cookie", cookie.as_str()),
        ("content-type", "application/x-www-form-urlencoded"),
        ("accept", "text/html"),
    ];
    let refused = dashboard.raw("POST", STOP, &form, "csrf=wrong");
    assert_eq!(refused.status, 403);
    assert!(refused.body.contains("<html"), "{refused:?}");
    let taken = dashboard.raw("POST", STOP, &form, &format!("csrf={csrf}"));
    assert_eq!(taken.status, 404, "{taken:?}");
}

#[test]
fn the_token_leaves_the_address_and_becomes_a_cookie_of_this_site_alone() {
    let place = Place::new("idle", "idle");
    let dashboard = Dashboard::start(&place, &[]);
    assert!(
        dashboard
            .url
            .ends_with(&format!("?token={}", dashboard.token))
    );
    let path = format!("/events?errors=true&token={}", dashboard.token);
    let answer = dashboard.raw("GET", &path, &[], "");
    assert_eq!(answer.status, 303);
    assert_eq!(answer.header("location"), Some("/events?errors=true"));
    let cookie = answer.header("set-cookie").unwrap();
    assert!(cookie.contains("; HttpOnly; SameSite=Strict"), "{cookie}");
    assert!(
        !cookie.contains(&dashboard.token),
        "the cookie is another secret"
    );
    // Somebody who is known already is not shown with the token in the address either.
    let known = cookie.split(';').next().unwrap();
    let again = dashboard.raw("GET", &path, &[("cookie", known)], "");
    assert_eq!(again.header("location"), Some("/events?errors=true"));
    // A path that would lead to another site stays here.
    let odd = format!("//evil.example/?token={}", dashboard.token);
    let odd = dashboard.raw("GET", &odd, &[], "");
    assert_ne!(odd.header("location"), Some("//evil.example/"), "{odd:?}");
}

#[test]
fn a_read_only_dashboard_shows_everything_and_changes_nothing() {
    let place = Place::new("idle", "idle");
    let coder = place.coder(&[]);
    let dashboard = Dashboard::start(&place, &["--read-only"]);
    let board = dashboard.get("/api/board").good();
    assert_eq!(board["readOnly"], true);
    let agent = dashboard.get(&format!("/api/instances/{coder}")).good();
    let actions = agent["actions"].as_array().unwrap();
    assert!(
        actions.iter().all(|action| action["allowed"] == false),
        "{agent}"
    );
    for (path, body) in [
        ("stop", json!({})),
        ("messages", json!({ "text": "hello" })),
        ("review", json!({})),
        ("control", json!({})),
        ("keys", json!({ "text": "x" })),
    ] {
        let answer = dashboard.post(&format!("/api/instances/{coder}/{path}"), &body);
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (403, "READ_ONLY"),
            "{path}"
        );
    }
    let launch = dashboard.post("/api/instances", &json!({ "prompt": "x" }));
    assert_eq!(launch.code(), "READ_ONLY");
    assert!(place.messages(&coder).is_empty());
    assert!(place.instance(&coder).status.is_live());
}

#[test]
fn bodies_are_bounded_and_nonsense_is_told_as_such() {
    let place = Place::new("idle", "idle");
    let dashboard = Dashboard::start(&place, &[]);
    let bearer = format!("Bearer {}", dashboard.token);
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
    ];
    for body in [
        "[",
        "{\"prompt\": 3}",
        "{\"promt\": \"x\"}",
        "null",
        "\"x\"",
    ] {
        let answer = dashboard.raw("POST", "/api/instances", &headers, body);
        assert_eq!(answer.status, 400, "{body}: {answer:?}");
        assert_eq!(answer.code(), "INVALID_ARGUMENTS", "{body}");
    }
    let long = format!("{{\"prompt\": \"{}\"}}", "x".repeat(1_100_000));
    let answer = dashboard.raw("POST", "/api/instances", &headers, &long);
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (400, "INVALID_ARGUMENTS")
    );
    for path in [
        "/api/instances/..%2f..%2fetc",
        "/api/pulls/0",
        "/api/pulls/x",
        "/api/analysis/..%2Fcodex",
    ] {
        let answer = dashboard.get(path);
        assert!(matches!(answer.status, 400 | 404), "{path}: {answer:?}");
        assert!(answer.json()["message"].is_string(), "{path}");
    }
}

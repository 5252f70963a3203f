//! Who may ask for what: each door tried with each key.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::json;
use tests::dashboard::{Dashboard, Response};
use tests::{AgentEnv, WAIT_TIMEOUT};

/// An agent that is not there: who gets as far as 404 was let in.
const STOP: &str = "/api/instances/nobody/stop";

/// What is tried, how it is asked for, what is sent along, and the status that must come of it.
///
/// `bearer`, `cookie` and `csrf` are the right ones, `json` is the kind of body, `own` our own origin.
const DOORS: &str = "
health is for all | GET /healthz | | 200
styles are for all | GET /assets/app.css | | 200
a page without a token | GET / | | 401
an agent's page without | GET /agents/x | | 401
a wrong token in the address | GET /?token=wrong | | 401
data without | GET /api/board | | 401
an address that is not there, without | GET /api/nothing | | 401
numbers without | GET /metrics | | 401
the description without | GET /api/openapi.json | | 401
a stream without | GET /api/changes | | 401
a deed without | POST STOP | json | 401
a token in the address is none for data | GET /api/board?token=x | | 401
a wrong bearer | GET /api/board | authorization=Bearer x | 401
a wrong cookie | GET /api/board | cookie=codex_dashboard=x | 401
data with the bearer | GET /api/board | bearer | 200
numbers with the bearer | GET /metrics | bearer | 200
data with the cookie | GET /api/board | cookie | 200
a page with the cookie | GET / | cookie | 200
only the head of a page | HEAD / | cookie | 200
another name of this machine | GET / | cookie, host=localhost:1 | 200
a name that was given | GET / | cookie, host=desk.example | 200
a name that points here | GET / | cookie, host=evil.example | 403
the same for data | GET /api/board | bearer, host=evil.example:4620 | 403
the same for styles | GET /assets/app.css | host=evil.example | 403
data for another site | GET /api/board | cookie, origin=http://evil.example | 403
a stream for another site | GET /api/changes | cookie, sec-fetch-site=cross-site | 403
a deed with the bearer | POST STOP | bearer, json | 404
a deed with the cookie alone | POST STOP | cookie, json | 403
a wrong csrf | POST STOP | cookie, json, x-codex-csrf=x | 403
a deed from our page | POST STOP | cookie, csrf, json, own | 404
the same from another port | POST STOP | cookie, csrf, json, origin=http://127.0.0.1:1 | 403
from nowhere | POST STOP | cookie, csrf, json, origin=null | 403
from a sister site | POST STOP | bearer, json, sec-fetch-site=same-site | 403
an end with the cookie alone | DELETE /api/instances/nobody | cookie | 403
an address that is not there | GET /api/nothing | bearer | 404
a number that fits no database | DELETE /api/pulls/9223372036854775808/comments/1 | bearer | 404
a method that is not there | POST /api/board | bearer, json | 405
webhooks without a secret | POST /webhooks/github | json | 404
";

#[test]
fn only_those_with_the_token_get_in_and_only_from_our_own_pages() {
    let env = AgentEnv::new("idle", "idle");
    let dashboard = Dashboard::start(&env, &["--host-name", "desk.example"]);
    let cookie = dashboard.cookie();
    let csrf = dashboard.csrf(&cookie);
    let header = |word: &str| {
        let (name, value) = match word {
            "bearer" => ("authorization", format!("Bearer {}", dashboard.token)),
            "cookie" => ("cookie", cookie.clone()),
            "csrf" => ("x-codex-csrf", csrf.clone()),
            "json" => ("content-type", "application/json".to_owned()),
            "own" => ("origin", format!("http://{}", dashboard.address)),
            other => {
                let (name, value) = other.split_once('=').unwrap();
                return (name.to_owned(), value.to_owned());
            }
        };
        (name.to_owned(), value)
    };
    for door in DOORS.lines().filter(|line| !line.is_empty()) {
        let parts: Vec<&str> = door.split('|').map(str::trim).collect();
        let [what, request, sent, status] = parts[..] else {
            panic!("{door}");
        };
        let (method, path) = request.split_once(' ').unwrap();
        let path = if path == "STOP" { STOP } else { path };
        let sent: Vec<_> = sent
            .split(", ")
            .filter(|word| !word.is_empty())
            .map(header)
            .collect();
        let sent: Vec<_> = sent
            .iter()
            .map(|(name, value)| (&**name, &**value))
            .collect();
        let body = if method == "POST" { "{}" } else { "" };
        let answer = dashboard.raw(method, path, &sent, body);
        assert_eq!(answer.status.to_string(), status, "{what}: {answer:?}");
        assert!(!answer.body.contains(&dashboard.token), "{what}");
        is_hardened(&answer, what);
        // A browser keeps our own files, and nothing that says anything about agents.
        let is_kept = answer.header("cache-control") != Some("no-store");
        assert_eq!(is_kept, path.starts_with("/assets/"), "{what}");
    }
}

/// Every answer says to the browser what it may not do with it.
fn is_hardened(answer: &Response, what: &str) {
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        // Not `no-referrer`: forms would then say that they come from nowhere.
        ("referrer-policy", "same-origin"),
    ] {
        assert_eq!(answer.header(name), Some(value), "{what}");
    }
    let policy = answer.header("content-security-policy").unwrap();
    assert!(
        policy.starts_with("default-src 'none'; script-src 'self';"),
        "{policy}"
    );
    assert!(!policy.contains("unsafe"), "{policy}");
}

#[test]
fn a_form_carries_what_only_our_pages_know() {
    let env = AgentEnv::new("idle", "idle");
    let dashboard = Dashboard::start(&env, &[]);
    let cookie = dashboard.cookie();
    let csrf = dashboard.csrf(&cookie);
    let form = [
        ("cookie", cookie.as_str()),
        ("content-type", "application/x-www-form-urlencoded"),
        ("accept", "text/html"),
    ];
    let refused = dashboard.raw("POST", STOP, &form, "csrf=wrong");
    assert_eq!(refused.status, 403);
    assert!(refused.body.contains("<html"), "{refused:?}");
    assert!(!refused.body.contains(&csrf), "whoever this is gets no key");
    let taken = dashboard.raw("POST", STOP, &form, &format!("csrf={csrf}"));
    assert_eq!(taken.status, 404, "{taken:?}");
}

#[test]
fn the_token_leaves_the_address_and_becomes_a_cookie_of_this_site_alone() {
    let env = AgentEnv::new("idle", "idle");
    let dashboard = Dashboard::start(&env, &[]);
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
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&[]);
    let dashboard = Dashboard::start(&env, &["--read-only"]);
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
    assert!(env.messages(&coder).is_empty());
    assert!(env.instance(&coder).status.is_live());
}

#[test]
fn bodies_are_bounded_and_nonsense_is_told_as_such() {
    let env = AgentEnv::new("idle", "idle");
    let dashboard = Dashboard::start(&env, &[]);
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

#[test]
fn a_key_in_another_place_opens_nothing() {
    let env = AgentEnv::new("idle", "idle");
    let dashboard = Dashboard::start(&env, &[]);
    let cookie = dashboard.cookie();
    let csrf = dashboard.csrf(&cookie);
    let (name, value) = cookie.split_once('=').unwrap();
    for other in [format!("{name}=x"), format!("other={value}")] {
        let answer = dashboard.raw("GET", "/api/board", &[("cookie", &other)], "");
        assert_eq!(answer.status, 401, "{other}");
        assert_eq!(answer.code(), "TOKEN_REQUIRED", "{other}");
    }
    // The token in an address is for a person who opens a page, and for nothing else.
    for (method, path) in [("GET", "/api/board"), ("POST", "/")] {
        let path = format!("{path}?token={}", dashboard.token);
        let answer = dashboard.raw(method, &path, &[("accept", "text/html")], "");
        assert_eq!(answer.status, 401, "{method} {path}");
        assert_eq!(answer.header("set-cookie"), None, "{method} {path}");
        assert!(!answer.body.contains(&csrf), "{method} {path}");
    }
    let form = format!("csrf={csrf}");
    for (kind, body) in [
        ("text/plain", form.as_str()),
        ("application/x-www-form-urlencoded", &format!("x={csrf}")),
    ] {
        let headers = [("cookie", cookie.as_str()), ("content-type", kind)];
        let answer = dashboard.raw("POST", STOP, &headers, body);
        assert_eq!(answer.status, 403, "{kind} {body}");
        // Only a form of a person who reads HTML is answered with a page.
        assert_eq!(answer.code(), "FORBIDDEN", "{kind} {body}");
    }
}

#[test]
fn a_person_is_answered_with_a_page_that_can_be_gone_on_from() {
    let env = AgentEnv::new("idle", "idle");
    let dashboard = Dashboard::start(&env, &[]);
    let cookie = dashboard.cookie();
    let csrf = dashboard.csrf(&cookie);
    let html = ("accept", "text/html");
    let form = ("content-type", "application/x-www-form-urlencoded");
    let known = ("cookie", cookie.as_str());
    let body = format!("csrf={csrf}");
    let missing = dashboard.raw("POST", STOP, &[known, form, html], &body);
    assert_eq!(missing.status, 404);
    assert!(missing.body.contains(&csrf), "its forms work");
    let unknown = dashboard.raw("POST", STOP, &[form, html], &body);
    assert_eq!(unknown.status, 401);
    assert!(unknown.body.contains("<html"), "{unknown:?}");
    assert!(!unknown.body.contains(&csrf), "whoever this is gets no key");
    let bearer = format!("Bearer {}", dashboard.token);
    let program = ("authorization", bearer.as_str());
    let json = ("content-type", "application/json");
    let nobody = "/api/instances/nobody";
    for (method, path, headers) in [
        ("GET", nobody, [program, html]),
        ("POST", STOP, [program, json]),
    ] {
        let answer = dashboard.raw(method, path, &headers, "{}");
        assert_eq!(answer.code(), "INSTANCE_NOT_FOUND", "{method}");
    }
}

#[test]
fn a_body_may_be_as_long_as_is_said_and_a_longer_one_is_not_waited_for() {
    const MOST: usize = 4 << 20;
    let env = AgentEnv::new("idle", "idle");
    let dashboard = Dashboard::start(&env, &[]);
    let body = format!("{{}}{}", " ".repeat(MOST - 2));
    let bearer = format!("Bearer {}", dashboard.token);
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
    ];
    let answer = dashboard.raw("POST", STOP, &headers, &body);
    assert_eq!(answer.status, 404, "{}", answer.body);
    let mut stream = TcpStream::connect(&dashboard.address).unwrap();
    stream.set_read_timeout(Some(WAIT_TIMEOUT)).unwrap();
    let (address, longer) = (&dashboard.address, MOST + 1);
    let head = format!(
        "POST {STOP} HTTP/1.1\r\nhost: {address}\r\nauthorization: {bearer}\r\ncontent-length: {longer}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut status = [0; 12];
    stream.read_exact(&mut status).unwrap();
    assert_eq!(&status, b"HTTP/1.1 400");
}

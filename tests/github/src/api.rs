//! The API: who asks, how often, and for what.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::SocketAddr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use loopback_http::Request;
use serde_json::{Value, json};

use crate::answer::{Answer, user};
use crate::state::State;
use crate::{issues, pulls};

/// Answers one request to the API.
pub(crate) fn answer(state: &mut State, address: SocketAddr, request: &Request) -> Answer {
    // Enterprise servers have their API below this path.
    let (prefix, path) = match request.path.strip_prefix("/api/v3") {
        Some(path) => ("/api/v3", path),
        None => ("", request.path.as_str()),
    };
    if !is_authorised(state, request) {
        return Answer::message(401, "Bad credentials");
    }
    if !state.rate.take() {
        let mut answer = Answer::message(403, "API rate limit exceeded for user ID 1.");
        answer.headers.extend(state.rate.headers());
        return answer;
    }
    let address = format!("http://{address}{prefix}");
    let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
    let answer = match segments.as_slice() {
        ["repos", owner, name, rest @ ..] => {
            let is = |theirs: &str, ours: &str| theirs.eq_ignore_ascii_case(ours);
            if !is(owner, &state.owner) {
                Answer::not_found()
            } else if is(name, &state.name) {
                in_repository(state, &address, rest, request)
            } else if state.former_name.as_ref().is_some_and(|old| is(name, old)) {
                moved(&address, rest, request)
            } else {
                Answer::not_found()
            }
        }
        ["repositories", "1", rest @ ..] => in_repository(state, &address, rest, request),
        _ => Answer::not_found(),
    };
    let mut answer = conditional(answer, request);
    if answer.status == 304 {
        state.rate.remaining += 1;
    }
    answer.headers.extend(state.rate.headers());
    answer
}

/// Whether the request shows the token, in any of the forms that GitHub takes.
pub(crate) fn is_authorised(state: &State, request: &Request) -> bool {
    let Some((scheme, value)) = request
        .header("authorization")
        .and_then(|header| header.split_once(' '))
    else {
        return false;
    };
    if scheme.eq_ignore_ascii_case("basic") {
        let decoded = STANDARD.decode(value).unwrap_or_default();
        let text = String::from_utf8_lossy(&decoded).into_owned();
        return text
            .split_once(':')
            .is_some_and(|(_, password)| password == state.token);
    }
    ["bearer", "token"].contains(&scheme.to_ascii_lowercase().as_str()) && value == state.token
}

/// Sends the client to the repository by its id, which survives a renaming.
fn moved(address: &str, rest: &[&str], request: &Request) -> Answer {
    let mut location = format!("{address}/repositories/1/{}", rest.join("/"));
    if !request.query.is_empty() {
        location = format!("{location}?{}", request.query);
    }
    let status = if request.method == "GET" { 301 } else { 307 };
    Answer::message(status, "Moved Permanently").with("location", location)
}

fn in_repository(state: &mut State, address: &str, rest: &[&str], request: &Request) -> Answer {
    let method = request.method.as_str();
    if state.read_only && method != "GET" {
        let message = "Resource not accessible by personal access token";
        let kind = if rest.first() == Some(&"issues") {
            "issues=write"
        } else {
            "pull_requests=write"
        };
        return Answer::message(403, message).with("x-accepted-github-permissions", kind);
    }
    let body = match serde_json::from_slice::<Value>(&request.body) {
        Ok(body) => body,
        Err(_) if request.body.is_empty() => Value::Null,
        Err(_) => return Answer::message(400, "Problems parsing JSON"),
    };
    let number = |text: &str| text.parse::<u64>().ok();
    match (method, rest) {
        ("GET", []) => Answer::json(200, &repository(state, address)),
        ("GET", ["issues"]) => page(issues::list(state, address, request), address, request),
        ("POST", ["issues"]) => issues::create(state, address, &body),
        ("GET", ["issues", text]) => number(text).map_or_else(Answer::not_found, |number| {
            issues::get(state, address, number)
        }),
        ("PATCH", ["issues", text]) => number(text).map_or_else(Answer::not_found, |number| {
            issues::update(state, address, number, &body)
        }),
        ("GET", ["pulls"]) => page(pulls::list(state, address, request), address, request),
        ("POST", ["pulls"]) => pulls::create(state, address, &body),
        ("GET", ["pulls", text]) => number(text).map_or_else(Answer::not_found, |number| {
            pulls::get(state, address, number, request)
        }),
        ("PATCH", ["pulls", text]) => number(text).map_or_else(Answer::not_found, |number| {
            pulls::update(state, address, number, &body)
        }),
        ("PUT", ["pulls", text, "merge"]) => number(text)
            .map_or_else(Answer::not_found, |number| {
                pulls::merge(state, number, &body)
            }),
        _ => Answer::not_found(),
    }
}

fn repository(state: &State, address: &str) -> Value {
    let full_name = format!("{}/{}", state.owner, state.name);
    json!({
        "id": 1,
        "name": state.name,
        "full_name": full_name,
        "private": false,
        "owner": user(&state.owner),
        "html_url": format!("{address}/{full_name}"),
        "url": format!("{address}/repos/{full_name}"),
        "default_branch": "main",
        "permissions": {"pull": true, "push": !state.read_only},
    })
}

/// Returns one page of a list, with the addresses of the others.
fn page(items: Vec<Value>, address: &str, request: &Request) -> Answer {
    let parameter = |name: &str, otherwise: usize| {
        let value = request.parameter(name).and_then(|text| text.parse().ok());
        value.unwrap_or(otherwise).max(1)
    };
    let size = parameter("per_page", 30).min(100);
    let page = parameter("page", 1);
    let pages = items.len().div_ceil(size).max(1);
    let link = |to: usize, relation: &str| {
        let others = request
            .query
            .split('&')
            .filter(|parameter| !parameter.is_empty() && !parameter.starts_with("page="));
        let query: Vec<&str> = others.collect();
        format!(
            r#"<{address}{}?{}&page={to}>; rel="{relation}""#,
            request.path,
            query.join("&")
        )
    };
    let mut links = Vec::new();
    if page > 1 {
        links.push(link(page - 1, "prev"));
    }
    if page < pages {
        links.push(link(page + 1, "next"));
        links.push(link(pages, "last"));
    }
    let items: Vec<Value> = items
        .into_iter()
        .skip((page - 1) * size)
        .take(size)
        .collect();
    let answer = Answer::json(200, &Value::Array(items));
    if links.is_empty() {
        answer
    } else {
        answer.with("link", links.join(", "))
    }
}

/// Tags an answer, and leaves its body out if the client has it already.
fn conditional(answer: Answer, request: &Request) -> Answer {
    if request.method != "GET" || answer.status != 200 {
        return answer;
    }
    let mut hasher = DefaultHasher::new();
    answer.body.hash(&mut hasher);
    let etag = format!("W/\"{:016x}\"", hasher.finish());
    let answer = if request.header("if-none-match") == Some(&etag) {
        Answer {
            status: 304,
            body: Vec::new(),
            ..answer
        }
    } else {
        answer
    };
    answer.with("etag", etag)
}

//! Issues.

use loopback_http::Request;
use serde_json::{Value, json};

use crate::answer::{Answer, text, user};
use crate::pulls;
use crate::state::{Issue, State};

const DISABLED: &str = "Issues has been disabled in this repository.";

fn shown(state: &State, address: &str, number: u64, issue: &Issue) -> Value {
    let place = format!("{}/{}", state.owner, state.name);
    let labels = issue
        .labels
        .iter()
        .map(|name| json!({"id": 1, "name": name}));
    json!({
        "id": number,
        "number": number,
        "url": format!("{address}/repos/{place}/issues/{number}"),
        "html_url": format!("{address}/{place}/issues/{number}"),
        "title": issue.title,
        "body": issue.body,
        "state": if issue.open { "open" } else { "closed" },
        "labels": labels.collect::<Vec<_>>(),
        "user": user("octocat"),
        "comments": 0,
        "created_at": issue.created_at,
        "updated_at": issue.updated_at,
    })
}

/// Returns issues and, as GitHub does, pull requests; the newest first.
pub(crate) fn list(state: &State, address: &str, request: &Request) -> Vec<Value> {
    let wanted = request
        .parameter("state")
        .unwrap_or_else(|| "open".to_owned());
    let fits = |open: bool| match wanted.as_str() {
        "all" => true,
        "closed" => !open,
        _ => open,
    };
    let issues = state
        .issues
        .iter()
        .filter(|(_, issue)| fits(issue.open))
        .map(|(number, issue)| (*number, shown(state, address, *number, issue)));
    let pulls = state
        .pulls
        .iter()
        .filter(|(_, pull)| fits(pull.open))
        .map(|(number, pull)| (*number, pulls::as_issue(state, address, *number, pull)));
    let mut all: Vec<(u64, Value)> = issues.chain(pulls).collect();
    all.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
    all.into_iter().map(|(_, issue)| issue).collect()
}

pub(crate) fn get(state: &State, address: &str, number: u64) -> Answer {
    if let Some(pull) = state.pulls.get(&number) {
        return Answer::json(200, &pulls::as_issue(state, address, number, pull));
    }
    match state.issues.get(&number) {
        _ if !state.issues_enabled => Answer::message(410, DISABLED),
        Some(issue) => Answer::json(200, &shown(state, address, number, issue)),
        None => Answer::not_found(),
    }
}

pub(crate) fn create(state: &mut State, address: &str, body: &Value) -> Answer {
    if !state.issues_enabled {
        return Answer::message(410, DISABLED);
    }
    let Some(title) = text(body, "title") else {
        return Answer::missing_field("Issue", "title");
    };
    let labels: Vec<&str> = body["labels"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let number = state.add_issue(&title, &text(body, "body").unwrap_or_default(), &labels);
    match state.issues.get(&number) {
        Some(issue) => Answer::json(201, &shown(state, address, number, issue)),
        None => Answer::not_found(),
    }
}

pub(crate) fn update(state: &mut State, address: &str, number: u64, body: &Value) -> Answer {
    let now = state.now();
    let Some(issue) = state.issues.get_mut(&number) else {
        return Answer::not_found();
    };
    if let Some(title) = text(body, "title") {
        issue.title = title;
    }
    if let Some(text) = text(body, "body") {
        issue.body = text;
    }
    if let Some(wanted) = text(body, "state") {
        issue.open = wanted == "open";
    }
    issue.updated_at = now;
    get(state, address, number)
}

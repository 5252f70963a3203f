//! A person's review over REST and by forms: line comments, request changes, approve, reopen.

use serde_json::json;
use shared::model::{InstanceId, MessageState, Status, Verdict};
use tests::AgentEnv;
use tests::dashboard::{Dashboard, Response};

/// Sends a form as a browser without scripts does.
fn submit(dashboard: &Dashboard, path: &str, fields: &str) -> Response {
    let cookie = dashboard.cookie();
    let csrf = dashboard.csrf(&cookie);
    let headers = [
        ("cookie", cookie.as_str()),
        ("content-type", "application/x-www-form-urlencoded"),
        ("accept", "text/html"),
    ];
    dashboard.raw("POST", path, &headers, &format!("csrf={csrf}&{fields}"))
}

fn published(env: &AgentEnv) -> InstanceId {
    let coder = env.coder(&[]);
    env.commit(&coder, "first\n");
    let answer = env.create_pr(&coder, "Title");
    assert_eq!(answer["error"], false, "{answer}");
    env.until("the coder is put away", || {
        !env.has_session(&coder) && env.instance(&coder).owner.is_none()
    });
    coder
}

fn action(dashboard: &Dashboard, id: &InstanceId, key: &str) -> bool {
    let view = dashboard.get(&format!("/api/instances/{id}")).good();
    let actions = view["actions"].as_array().unwrap();
    let found = actions.iter().find(|action| action["key"] == key).unwrap();
    found["allowed"].as_bool().unwrap()
}

#[test]
fn comments_become_one_round_and_exactly_one_commit_is_approved() {
    let env = AgentEnv::new("idle", "idle");
    let coder = published(&env);
    let dashboard = Dashboard::start(&env, &[]);
    assert!(
        action(&dashboard, &coder, "message"),
        "published work can be sent back"
    );
    assert!(
        !action(&dashboard, &coder, "resume"),
        "nothing is to be done"
    );

    let comments = "/api/pulls/1/comments";
    let comment = |line: u32, text: &str| {
        let body = json!({ "file": "work.txt", "line": line, "text": text });
        dashboard.post(comments, &body)
    };
    let first = comment(1, "Why?");
    assert_eq!(first.status, 201, "{first:?}");
    let id = first.json()[0]["id"].as_i64().unwrap();
    assert_eq!(comment(2, "No such line").code(), "INVALID_ARGUMENTS");
    assert_eq!(comment(1, " ").code(), "INVALID_ARGUMENTS");
    // The same drafts under the agent's address, and by a form.
    let agents = format!("/api/instances/{coder}/comments");
    assert_eq!(
        dashboard.get(&agents).good(),
        dashboard.get(comments).good()
    );
    let sent = submit(&dashboard, &agents, "file=work.txt&line=1&text=And+this");
    assert_eq!(sent.status, 303, "{sent:?}");
    let page = sent.header("location").unwrap();
    let begin = format!("/agents/{coder}/diff?done=commented#draft-");
    assert!(page.starts_with(&begin), "{page}");
    assert_eq!(dashboard.get(comments).good().as_array().unwrap().len(), 2);
    let left = dashboard.delete(&format!("{comments}/{id}"), &[]);
    assert_eq!(left.good().as_array().unwrap().len(), 1);
    assert_eq!(
        dashboard.delete(&format!("{comments}/{id}"), &[]).code(),
        "INVALID_ARGUMENTS"
    );

    let asked = dashboard.post(
        "/api/pulls/1/request-changes",
        &json!({ "text": "Say more." }),
    );
    let asked = asked.good();
    assert_eq!(
        (&asked["comments"], &asked["restarted"]),
        (&json!(1), &json!(true))
    );
    env.until("the agent has it", || {
        env.messages(&coder)[0].state == MessageState::Taken
    });
    let received = env.received(&coder).pop().unwrap();
    assert!(received.contains("Say more.") && received.contains("work.txt:1: And this"));
    assert_eq!(dashboard.get(comments).good(), json!([]));
    assert!(
        action(&dashboard, &coder, "review"),
        "a person's round uses none of the agent's"
    );

    env.commit(&coder, "second\n");
    let seen = env.reviews(&coder)[0].commit_id.clone();
    let approve = format!("/api/instances/{coder}/approve");
    let old = dashboard.post(&approve, &json!({ "commit": seen }));
    assert_eq!((old.status, old.code().as_str()), (409, "REVIEW_OUTDATED"));
    assert_eq!(env.reviews(&coder).len(), 1);
    let worktree = env.instance(&coder).worktree_path;
    let head = env.git(&["-C", worktree.to_str().unwrap(), "rev-parse", "HEAD"]);
    let form = format!("commit={}&text=Good", head.trim());
    let approved = submit(&dashboard, &approve, &form);
    let page = approved.header("location").unwrap_or_default();
    assert!(page.ends_with("/diff?done=approved"), "{approved:?}");
    let review = env.reviews(&coder).pop().unwrap();
    assert_eq!(
        (review.verdict, review.commit_id.as_str()),
        (Verdict::Approved, head.trim())
    );
    for name in ["pr request-changes", "pr approve"] {
        let events = env.recorded(name);
        assert!(
            events.iter().any(|event| event.server == "dashboard"),
            "{name}"
        );
    }
}

#[test]
fn a_closed_pull_request_is_opened_again_and_can_be_sent_back() {
    let env = AgentEnv::new("idle", "idle");
    let coder = published(&env);
    let dashboard = Dashboard::start(&env, &[]);
    dashboard.post("/api/pulls/1/close", &json!({})).good();
    let body = json!({ "text": "x" });
    let closed = dashboard.post("/api/pulls/1/request-changes", &body);
    assert_eq!(closed.code(), "PULL_REQUEST_NOT_OPEN");
    assert!(
        dashboard
            .get("/pulls/1")
            .body
            .contains("/api/pulls/1/reopen")
    );
    let opened = submit(&dashboard, "/api/pulls/1/reopen", "");
    assert_eq!(opened.status, 303, "{opened:?}");
    assert_eq!(env.status(&coder), Status::PrCreated);
    dashboard.post("/api/pulls/1/request-changes", &body).good();
}

#[test]
fn a_read_only_dashboard_takes_no_review() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder_with_commit();
    let dashboard = Dashboard::start(&env, &["--read-only"]);
    let path = |verb: &str| format!("/api/instances/{coder}/{verb}");
    let comment = json!({ "file": "work.txt", "line": 1, "text": "x" });
    assert_eq!(
        dashboard.post(&path("comments"), &comment).code(),
        "READ_ONLY"
    );
    assert_eq!(
        dashboard.delete(&path("comments/1"), &[]).code(),
        "READ_ONLY"
    );
    let changes = dashboard.post(&path("request-changes"), &json!({ "text": "x" }));
    assert_eq!(changes.code(), "READ_ONLY");
}

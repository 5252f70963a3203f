//! GitHub's webhooks: only what it signed, and only once.

use serde_json::{Value, json};
use shared::model::{InstanceId, Status, StatusEvent};
use tests::dashboard::{Dashboard, Response};
use tests::{AgentEnv, GithubRemote};

const SECRET: &str = "a secret that GitHub knows";
const URL: &str = "https://github.com/o/r/pull/7";

/// Signs as GitHub does, by the tool that everybody has.
fn signature(env: &AgentEnv, body: &str) -> String {
    let script = "import hashlib, hmac, os; print(hmac.new(os.environ['KEY'].encode(), os.environ['BODY'].encode(), hashlib.sha256).hexdigest())";
    let mut python = env.command(std::path::Path::new("python3"));
    let output = python
        .args(["-c", script])
        .env("KEY", SECRET)
        .env("BODY", body)
        .output()
        .unwrap();
    format!("sha256={}", tests::text(&output).trim())
}

fn deliver(dashboard: &Dashboard, event: &str, id: &str, signature: &str, body: &str) -> Response {
    let headers = [
        ("content-type", "application/json"),
        ("host", "hooks.example"),
        ("x-github-event", event),
        ("x-github-delivery", id),
        ("x-hub-signature-256", signature),
    ];
    dashboard.raw("POST", "/webhooks/github", &headers, body)
}

fn news(action: &str, state: &str, merged: bool) -> Value {
    json!({ "action": action, "pull_request": { "number": 7, "html_url": URL, "state": state, "merged": merged } })
}

/// Makes an agent whose pull request is on GitHub.
fn published(env: &AgentEnv) -> InstanceId {
    let coder = env.coder(&[]);
    env.store()
        .write_now(|w| {
            w.transition(&coder, StatusEvent::PublishBegins { by_reviewer: false })?;
            w.set_pull_request(&coder, 7, URL)?;
            w.transition(&coder, StatusEvent::Published)
        })
        .unwrap();
    coder
}

#[test]
fn a_signed_webhook_moves_the_agent_once() {
    let mut env = AgentEnv::new("idle", "idle");
    let file = env.path("secret");
    std::fs::write(&file, format!("{SECRET}\n")).unwrap();
    env.set(
        "CODEX_DASHBOARD_WEBHOOK_SECRET_FILE",
        file.to_str().unwrap(),
    );
    let coder = published(&env);
    let dashboard = Dashboard::start(&env, &[]);

    let body = news("closed", "closed", false).to_string();
    let signed = signature(&env, &body);
    for wrong in [
        "",
        "sha256=",
        &signed[..60],
        &signed.replace("sha256", "sha1"),
    ] {
        let answer = deliver(&dashboard, "pull_request", "d-0", wrong, &body);
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (403, "FORBIDDEN"),
            "{wrong}"
        );
    }
    let forged = body.replace("closed", "opened");
    assert_eq!(
        deliver(&dashboard, "pull_request", "d-0", &signed, &forged).status,
        403
    );
    assert_eq!(env.status(&coder), Status::PrCreated);

    let ping = "{\"zen\":\"x\"}";
    let answer = deliver(&dashboard, "ping", "d-1", &signature(&env, ping), ping);
    assert_eq!(
        (answer.status, &answer.json()["outcome"]),
        (200, &json!("ignored"))
    );
    let edited = news("edited", "open", false).to_string();
    let answer = deliver(
        &dashboard,
        "pull_request",
        "d-2",
        &signature(&env, &edited),
        &edited,
    );
    assert_eq!(answer.json()["outcome"], "ignored");
    let odd = "{\"action\":\"closed\"}";
    let answer = deliver(
        &dashboard,
        "pull_request",
        "d-3",
        &signature(&env, odd),
        odd,
    );
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (400, "INVALID_ARGUMENTS")
    );

    let taken = deliver(&dashboard, "pull_request", "d-4", &signed, &body);
    assert_eq!(
        (taken.status, &taken.json()["outcome"]),
        (202, &json!("taken"))
    );
    env.until("the agent has moved", || {
        env.status(&coder) == Status::PrClosed
    });
    // Opened again by a person; the same news, sent again, does not close it a second time.
    env.store()
        .write_now(|w| w.transition(&coder, StatusEvent::Reopened))
        .unwrap();
    let again = deliver(&dashboard, "pull_request", "d-4", &signed, &body);
    assert_eq!(
        (again.status, &again.json()["outcome"]),
        (200, &json!("repeated"))
    );
    let merged = news("closed", "closed", true).to_string();
    deliver(
        &dashboard,
        "pull_request",
        "d-5",
        &signature(&env, &merged),
        &merged,
    );
    env.until("it is merged", || env.status(&coder) == Status::PrMerged);
    env.until("both are recorded", || env.recorded("webhook").len() == 2);
    let moved = env.recorded("webhook");
    assert!(
        moved
            .iter()
            .all(|event| event.instance_id.as_ref() == Some(&coder))
    );
    assert!(!format!("{:?}", env.recorded("webhook")).contains(SECRET));
}

#[test]
fn a_secret_that_is_none_is_refused_at_the_start() {
    let mut env = AgentEnv::new("idle", "idle");
    let file = env.path("secret");
    env.set(
        "CODEX_DASHBOARD_WEBHOOK_SECRET_FILE",
        file.to_str().unwrap(),
    );
    assert_eq!(env.refused(&["dashboard", "--port", "0"]), "CONFIG_INVALID");
    std::fs::write(&file, "short").unwrap();
    assert_eq!(env.refused(&["dashboard", "--port", "0"]), "CONFIG_INVALID");
}

#[test]
fn what_no_webhook_tells_is_found_out_in_the_background() {
    let mut env = AgentEnv::new("idle", "idle");
    let github = GithubRemote::new(&mut env);
    env.set("CODEX_DASHBOARD_SYNC_SECONDS", "1");
    let coder = env.coder_with_commit();
    env.create_pr(&coder, "The work");
    env.until("it is published", || {
        env.status(&coder) == Status::PrCreated
    });
    let _dashboard = Dashboard::start(&env, &[]);
    github.state().merge(1);
    env.until("its merge is known", || {
        env.status(&coder) == Status::PrMerged
    });
    env.until("that is recorded", || {
        let found = env.recorded("sync");
        found.iter().any(|event| event.server == "dashboard")
    });
}

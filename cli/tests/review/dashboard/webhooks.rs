//! GitHub's webhooks: only what it signed, and only once.

use serde_json::{Value, json};
use shared::model::{InstanceId, Status, StatusEvent};

use super::client::{Answer, Dashboard};
use crate::github_support::{Hub, committed};
use crate::support::Place;

const SECRET: &str = "a secret that GitHub knows";
const URL: &str = "https://github.com/o/r/pull/7";

/// Signs as GitHub does, by the tool that everybody has.
fn signature(place: &Place, body: &str) -> String {
    let script = "import hashlib, hmac, os; print(hmac.new(os.environ['KEY'].encode(), os.environ['BODY'].encode(), hashlib.sha256).hexdigest())";
    let mut python = place.command(std::path::Path::new("python3"));
    let output = python
        .args(["-c", script])
        .env("KEY", SECRET)
        .env("BODY", body)
        .output()
        .unwrap();
    format!("sha256={}", crate::support::text(&output).trim())
}

fn deliver(dashboard: &Dashboard, event: &str, id: &str, signature: &str, body: &str) -> Answer {
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
fn published(place: &Place) -> InstanceId {
    let coder = place.coder(&[]);
    place
        .store()
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
    let mut place = Place::new("idle", "idle");
    let file = place.path("secret");
    std::fs::write(&file, format!("{SECRET}\n")).unwrap();
    place.set(
        "CODEX_DASHBOARD_WEBHOOK_SECRET_FILE",
        file.to_str().unwrap(),
    );
    let coder = published(&place);
    let dashboard = Dashboard::start(&place, &[]);

    let body = news("closed", "closed", false).to_string();
    let signed = signature(&place, &body);
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
    assert_eq!(place.status(&coder), Status::PrCreated);

    let ping = "{\"zen\":\"x\"}";
    let answer = deliver(&dashboard, "ping", "d-1", &signature(&place, ping), ping);
    assert_eq!(
        (answer.status, &answer.json()["outcome"]),
        (200, &json!("ignored"))
    );
    let edited = news("edited", "open", false).to_string();
    let answer = deliver(
        &dashboard,
        "pull_request",
        "d-2",
        &signature(&place, &edited),
        &edited,
    );
    assert_eq!(answer.json()["outcome"], "ignored");
    let odd = "{\"action\":\"closed\"}";
    let answer = deliver(
        &dashboard,
        "pull_request",
        "d-3",
        &signature(&place, odd),
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
    place.until("the agent has moved", || {
        place.status(&coder) == Status::PrClosed
    });
    // Opened again by a person; the same news, sent again, does not close it a second time.
    place
        .store()
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
        &signature(&place, &merged),
        &merged,
    );
    place.until("it is merged", || place.status(&coder) == Status::PrMerged);
    place.until("both are recorded", || place.recorded("webhook").len() == 2);
    let moved = place.recorded("webhook");
    assert!(
        moved
            .iter()
            .all(|event| event.instance_id.as_ref() == Some(&coder))
    );
    assert!(!format!("{:?}", place.recorded("webhook")).contains(SECRET));
}

#[test]
fn a_secret_that_is_none_is_refused_at_the_start() {
    let mut place = Place::new("idle", "idle");
    let file = place.path("secret");
    place.set(
        "CODEX_DASHBOARD_WEBHOOK_SECRET_FILE",
        file.to_str().unwrap(),
    );
    assert_eq!(
        place.refused(&["dashboard", "--port", "0"]),
        "CONFIG_INVALID"
    );
    std::fs::write(&file, "short").unwrap();
    assert_eq!(
        place.refused(&["dashboard", "--port", "0"]),
        "CONFIG_INVALID"
    );
}

#[test]
fn what_no_webhook_tells_is_found_out_in_the_background() {
    let mut place = Place::new("idle", "idle");
    let hub = Hub::new(&mut place);
    place.set("CODEX_DASHBOARD_SYNC_SECONDS", "1");
    let coder = committed(&place);
    place.create_pr(&coder, "The work");
    place.until("it is published", || {
        place.status(&coder) == Status::PrCreated
    });
    let _dashboard = Dashboard::start(&place, &[]);
    hub.server.state().merge(1);
    place.until("its merge is known", || {
        place.status(&coder) == Status::PrMerged
    });
    place.until("that is recorded", || {
        let found = place.recorded("sync");
        found.iter().any(|event| event.server == "dashboard")
    });
}

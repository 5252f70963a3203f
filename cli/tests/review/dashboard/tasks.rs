//! Tasks that a person plans and changes in the browser or by REST.

use serde_json::json;
use tests::AgentEnv;
use tests::dashboard::Dashboard;

#[test]
fn tasks_are_added_changed_and_closed() {
    let env = AgentEnv::new("idle", "idle");
    let dashboard = Dashboard::start(&env, &[]);
    let first = dashboard.post(
        "/api/tasks",
        &json!({ "title": "First <i>", "priority": "high" }),
    );
    assert_eq!(first.status, 201, "{first:?}");
    let first = first.json();
    let id = first["id"].as_str().unwrap();
    let second = dashboard
        .post(
            "/api/tasks",
            &json!({ "title": "Second", "dependsOn": [id] }),
        )
        .good();
    assert_eq!(second["ready"], false);
    let address = |what: &str| format!("/api/tasks/{id}{what}");
    let token = format!("Bearer {}", dashboard.token);
    let json_headers = [
        ("authorization", token.as_str()),
        ("content-type", "application/json"),
    ];
    let edited = dashboard.raw(
        "PATCH",
        &address(""),
        &json_headers,
        r#"{"priority":"low"}"#,
    );
    assert_eq!(edited.good()["priority"], "low");
    let cycle = dashboard.post(&address(""), &json!({ "dependsOn": [second["id"]] }));
    assert_eq!(cycle.code(), "INVALID_ARGUMENTS");
    assert_eq!(
        dashboard.post(&address("/close"), &json!({})).good()["status"],
        "done"
    );
    assert_eq!(
        dashboard.post(&address("/reopen"), &json!({})).good()["status"],
        "open"
    );
    assert_eq!(
        dashboard.post(&address("/cancel"), &json!({})).good()["status"],
        "cancelled"
    );
    let unknown = dashboard.post("/api/tasks/task-none/close", &json!({}));
    assert_eq!(unknown.code(), "TASK_NOT_FOUND");

    // A form, as a browser without scripts sends it.
    let cookie = dashboard.cookie();
    let csrf = dashboard.csrf(&cookie);
    let form = format!(
        "csrf={csrf}&title=Third&description=&priority=medium&estimatedHours=2.5&dependsOn={id}"
    );
    let headers = [
        ("cookie", cookie.as_str()),
        ("content-type", "application/x-www-form-urlencoded"),
        ("accept", "text/html"),
    ];
    let sent = dashboard.raw("POST", "/api/tasks", &headers, &form);
    assert_eq!(sent.status, 303, "{sent:?}");
    let page = dashboard.get("/tasks").body;
    for part in [
        "First &lt;i&gt;",
        "Third",
        "id=\"new-task\"",
        "/close",
        "/reopen",
    ] {
        assert!(page.contains(part), "{part} is missing: {page}");
    }
}

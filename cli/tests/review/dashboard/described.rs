//! Answers are as the API's own description says.

use serde_json::{Value, json};
use tests::AgentEnv;
use tests::dashboard::Dashboard;

/// Returns the schema of an answer, with all that it refers to.
fn schema(document: &Value, path: &str, method: &str, status: &str) -> Value {
    let answers = &document["paths"][path][method]["responses"];
    let schema = &answers[status]["content"]["application/json"]["schema"];
    assert!(schema.is_object(), "{method} {path} {status}: {answers}");
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "allOf": [schema],
        "components": document["components"],
    })
}

#[test]
fn real_answers_are_as_described() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&[]);
    let dashboard = Dashboard::start(&env, &[]);
    let document = dashboard.get("/api/openapi.json").good();
    assert_eq!(document["openapi"], "3.1.0");
    let check = |path: &str, method: &str, status: &str, answer: &Value| {
        let schema = schema(&document, path, method, status);
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        let problems: Vec<_> = validator
            .iter_errors(answer)
            .map(|problem| format!("{} at {}", problem, problem.instance_path()))
            .collect();
        assert!(
            problems.is_empty(),
            "{method} {path}: {problems:?}\n{answer:#}"
        );
    };
    env.commit(&coder, "work");
    dashboard
        .post(
            &format!("/api/instances/{coder}/messages"),
            &json!({ "text": "Hi" }),
        )
        .good();
    let agent = "/api/instances/{id}";
    for (path, described) in [
        ("/healthz".to_owned(), "/healthz"),
        ("/api/board".to_owned(), "/api/board"),
        ("/api/instances".to_owned(), "/api/instances"),
        (format!("/api/instances/{coder}"), agent),
        (
            format!("/api/instances/{coder}/diff"),
            "/api/instances/{id}/diff",
        ),
        (
            format!("/api/instances/{coder}/screen?history=5"),
            "/api/instances/{id}/screen",
        ),
        ("/api/tasks".to_owned(), "/api/tasks"),
        ("/api/pulls".to_owned(), "/api/pulls"),
        ("/api/events".to_owned(), "/api/events"),
        ("/api/analysis".to_owned(), "/api/analysis"),
    ] {
        check(described, "get", "200", &dashboard.get(&path).good());
    }
    let pull = dashboard.post(
        &format!("/api/instances/{coder}/pull"),
        &json!({ "title": "T", "description": "D" }),
    );
    check("/api/instances/{id}/pull", "post", "200", &pull.good());
    check(
        "/api/pulls",
        "get",
        "200",
        &dashboard.get("/api/pulls").good(),
    );
    check(
        "/api/pulls/{number}",
        "get",
        "200",
        &dashboard.get("/api/pulls/1").good(),
    );
    let launched = dashboard
        .post("/api/instances", &json!({ "prompt": "More" }))
        .good();
    check("/api/instances", "post", "201", &launched);
    let id = launched["id"].as_str().unwrap();
    let control = dashboard.post(&format!("/api/instances/{id}/control"), &json!({}));
    check(
        "/api/instances/{id}/control",
        "post",
        "200",
        &control.good(),
    );
    let stopped = dashboard.post(&format!("/api/instances/{id}/stop"), &json!({}));
    check("/api/instances/{id}/stop", "post", "200", &stopped.good());
    for error in [
        dashboard.get("/api/instances/nobody"),
        dashboard.post("/api/instances", &json!({})),
        dashboard.get("/api/events?before=x"),
    ] {
        check(agent, "get", "4XX", &error.json());
    }
}

//! Tasks that a person plans and changes: `tasks add`, `edit`, `show`, `close`, `reopen`, `cancel`.

use serde_json::{Value, json};
use tests::{TestEnv, error};

use crate::support::env_with_agent;

fn add(env: &TestEnv, words: &[&str]) -> String {
    let task = env.json(&[&["tasks", "add"], words].concat());
    task["id"].as_str().unwrap().to_owned()
}

fn refused(env: &TestEnv, words: &[&str]) -> Value {
    let output = env.codex(&[words, &["--json"]].concat());
    assert!(!output.status.success(), "{output:?}");
    error(&output)
}

#[test]
fn a_person_plans_changes_and_closes_tasks() {
    let env = env_with_agent();
    let first = add(
        &env,
        &[
            "First",
            "--description",
            "Do\nit",
            "--priority",
            "high",
            "--hours",
            "1.5",
        ],
    );
    let second = add(&env, &["Second", "--depends-on", &first[..9]]);
    let shown = env.json(&["tasks", "show", &second]);
    assert_eq!(shown["dependsOn"], json!([first]));
    assert_eq!(
        (&shown["ready"], &shown["priority"]),
        (&json!(false), &json!("medium"))
    );
    let text = env.text(&["tasks", "show", &first]);
    assert!(
        text.contains("First") && text.contains("Do\nit") && text.contains("1.5"),
        "{text}"
    );

    let edited = env.json(&[
        "tasks",
        "edit",
        &second,
        "--title",
        "Other",
        "--priority",
        "low",
    ]);
    assert_eq!(
        (&edited["title"], &edited["priority"]),
        (&json!("Other"), &json!("low"))
    );
    assert_eq!(edited["dependsOn"], json!([first]), "the rest stays");
    let cycle = refused(&env, &["tasks", "edit", &first, "--depends-on", &second]);
    assert_eq!(cycle["code"], "INVALID_ARGUMENTS");
    assert!(
        cycle["message"].as_str().unwrap().contains("waits for"),
        "{cycle}"
    );
    refused(&env, &["tasks", "edit", &first, "--depends-on", &first]);
    refused(&env, &["tasks", "edit", &first]);
    refused(&env, &["tasks", "edit", &first, "--hours", "-1"]);
    refused(&env, &["tasks", "add", " "]);
    refused(&env, &["tasks", "add", &"x".repeat(201)]);

    assert_eq!(env.json(&["tasks", "close", &first])["status"], "done");
    assert_eq!(env.json(&["tasks", "close", &first])["status"], "done");
    assert_eq!(env.json(&["tasks", "show", &second])["ready"], true);
    assert_eq!(env.json(&["tasks", "reopen", &first])["status"], "open");
    assert_eq!(env.json(&["tasks", "show", &second])["ready"], false);
    let free = env.json(&["tasks", "edit", &second, "--no-dependencies"]);
    assert_eq!(
        (&free["dependsOn"], &free["ready"]),
        (&json!([]), &json!(true))
    );
    assert_eq!(
        env.json(&["tasks", "cancel", &second])["status"],
        "cancelled"
    );
    let listed = env.json(&["tasks", "--ready"]);
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
    let events = env.json(&["events"]).to_string();
    assert!(events.contains("tasks cancel"), "{events}");
}

#[test]
fn a_task_that_an_agent_works_on_stays_until_the_agent_is_stopped() {
    let env = env_with_agent();
    let task = add(&env, &["First"]);
    let agent = env.json(&["code", "--task", &task])["id"].clone();
    let agent = agent.as_str().unwrap();
    for verb in ["close", "cancel"] {
        let refusal = refused(&env, &["tasks", verb, &task]);
        assert_eq!(refusal["code"], "ILLEGAL_STATE");
        let hint = refusal["hint"].as_str().unwrap();
        assert!(
            hint.contains(&format!("claude-codex stop {agent}")),
            "{hint}"
        );
    }
    env.text(&["stop", agent]);
    assert_eq!(env.json(&["tasks", "cancel", &task])["status"], "cancelled");
}

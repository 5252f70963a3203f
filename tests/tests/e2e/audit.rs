//! Each tool call is recorded, and nothing else is.

use serde_json::json;
use shared::model::EventSource;
use tests::{Client, Era, Server, TestEnv};

#[test]
fn every_call_is_recorded_with_its_outcome() {
    let env = TestEnv::new();
    let mut client = Client::start(&env, Server::Planning, Era::Legacy);
    let good = json!({"taskTitle": "One", "taskDescription": "Why", "priority": "low"});
    let id = client.call("create_task", good.clone()).value["taskId"].clone();
    let bad = json!({"taskTitle": "", "taskDescription": "Why", "priority": "low"});
    assert!(client.call("create_task", bad).is_error);

    let events = env.store().read_now(|r| r.latest_events(None, 10)).unwrap();
    assert_eq!(events.len(), 2);
    let [success, failure] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!(success.source, EventSource::Tool);
    assert_eq!(success.server, "mcp-planning");
    assert_eq!(success.name, "create_task");
    assert_eq!(success.parameters, good);
    assert_eq!(success.result.as_ref().unwrap()["taskId"], id);
    assert_eq!(success.error_code, None);
    assert!(success.duration_ms > 0.0);
    // The first call adopted the place, and that is a change of status.
    assert_eq!(success.status_changes.len(), 1);
    assert_eq!(success.instance_id, failure.instance_id);
    assert!(success.instance_id.is_some());
    assert_eq!(failure.error_code.as_deref(), Some("INVALID_ARGUMENTS"));
    assert_eq!(failure.result, None);
    assert!(failure.status_changes.is_empty());
}

#[test]
fn secrets_and_long_texts_stay_out_of_the_record() {
    let env = TestEnv::new();
    let mut client = Client::start(&env, Server::Planning, Era::Modern);
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let answer = client.call(
        "create_task",
        json!({
            "taskTitle": format!("Use {token} for the upload"),
            "taskDescription": format!("https://me:{token}@example.com/ {}", "long ".repeat(2_000)),
            "priority": "low",
        }),
    );
    assert!(!answer.is_error, "{answer:?}");
    let events = env.store().read_now(|r| r.latest_events(None, 10)).unwrap();
    let row = serde_json::to_string(&events).unwrap();
    assert!(!row.contains(&token), "{row}");
    assert!(row.contains("[redacted]"), "{row}");
    assert!(row.len() < 6_000, "{} bytes", row.len());
}

/// A secret is known by the name of its variable, not only by what it looks like.
#[test]
fn secrets_of_the_environment_are_in_no_record_answer_error_or_log() {
    const SECRET: &str = "correct horse, battery";
    let mut env = TestEnv::new();
    env.set("DEPLOY_PASSWORD", SECRET);
    env.set("CODEX_LOG", "trace");
    for era in Era::BOTH {
        let mut client = Client::start(&env, Server::Planning, era);
        let call = |client: &mut Client, priority: &str, padding: usize| {
            let title = format!("Use {SECRET}");
            let description = format!("{}{SECRET}", "x".repeat(padding));
            let task =
                json!({ "taskTitle": title, "taskDescription": description, "priority": priority });
            client.call("create_task", task)
        };
        // The second is cut in the middle of the secret.
        for padding in [0, 1_990] {
            let answer = call(&mut client, "low", padding);
            assert!(!answer.is_error, "{answer:?}");
            assert!(!format!("{answer:?}").contains("horse"), "{answer:?}");
        }
        let refused = call(&mut client, SECRET, 0);
        assert!(refused.is_error, "{refused:?}");
        assert!(!format!("{refused:?}").contains("horse"), "{refused:?}");
        let tasks = client.read("codex://tasks").unwrap();
        assert!(!tasks.to_string().contains("horse"), "{tasks}");
        client.close_input();
        client.wait();
        assert!(!client.stderr().contains("horse"), "{}", client.stderr());
    }
    let events = env.store().read_now(|r| r.latest_events(None, 99)).unwrap();
    let calls = events.iter().filter(|event| event.name == "create_task");
    assert_eq!(calls.count(), 6);
    let rows = serde_json::to_string(&events).unwrap();
    assert!(
        !rows.contains("horse") && !rows.contains("correct h"),
        "{rows}"
    );
    for log in std::fs::read_dir(env.state().join("logs"))
        .into_iter()
        .flatten()
    {
        let text = std::fs::read_to_string(log.unwrap().path()).unwrap();
        assert!(!text.contains("horse"), "{text}");
    }
}

#[test]
fn looking_leaves_nothing_behind() {
    for era in Era::BOTH {
        for server in Server::ALL {
            let env = TestEnv::new();
            let mut client = Client::start(&env, server, era);
            for method in [
                "tools/list",
                "resources/list",
                "resources/templates/list",
                "prompts/list",
            ] {
                client.request(method, json!({})).unwrap();
            }
            client.read("codex://instance").unwrap();
            client.close_input();
            assert!(client.wait().success());
            assert!(
                !env.state().exists(),
                "{era:?} {server:?} made a state folder"
            );
            assert_eq!(std::fs::read_dir(env.home()).unwrap().count(), 0);
            assert_eq!(env.git(&["status", "--porcelain", "--ignored"]), "");
        }
    }
}

#[test]
fn reading_the_tasks_makes_no_instance() {
    let env = TestEnv::new();
    let mut client = Client::start(&env, Server::Planning, Era::Legacy);
    client.read("codex://tasks").unwrap();
    assert!(
        env.store()
            .read_now(|r| r.instances(false))
            .unwrap()
            .is_empty()
    );
}

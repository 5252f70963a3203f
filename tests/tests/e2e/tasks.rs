//! `create_task`, and the resources that show what it stored.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tests::{Client, Era, Server, TestEnv};

fn task(title: &str) -> Value {
    json!({"taskTitle": title, "taskDescription": "Because.", "priority": "medium"})
}

fn planner(env: &TestEnv) -> Client {
    Client::start(env, Server::Planning, Era::Legacy)
}

#[test]
fn a_task_is_stored_and_shown_in_both_eras() {
    for era in Era::BOTH {
        let env = TestEnv::new();
        let mut client = Client::start(&env, Server::Planning, era);
        let answer = client.call(
            "create_task",
            json!({
                "taskTitle": "Räume auf 🧹",
                "taskDescription": "Line one\nline two",
                "priority": "high",
                "estimatedHours": 2.5,
            }),
        );
        assert!(!answer.is_error, "{answer:?}");
        let id = answer.value["taskId"].as_str().unwrap();
        assert_eq!(answer.text, answer.value["message"].as_str().unwrap());
        assert!(answer.text.contains(id));

        let listed = client.read("codex://tasks").unwrap();
        assert_eq!(listed["total"], 1);
        assert_eq!(listed["next"], Value::Null);
        let whole = client.read(&format!("codex://tasks/{id}")).unwrap();
        assert_eq!(whole, listed["tasks"][0]);
        assert_eq!(whole["title"], "Räume auf 🧹");
        assert_eq!(whole["description"], "Line one\nline two");
        assert_eq!(whole["priority"], "high");
        assert_eq!(whole["estimatedHours"], 2.5);
        assert_eq!(whole["status"], "open");
    }
}

#[test]
fn a_task_waits_for_what_it_depends_on() {
    let env = TestEnv::new();
    let mut client = planner(&env);
    let first = client.call("create_task", task("first")).value["taskId"].clone();
    let mut second = task("second");
    second["dependsOn"] = json!([first]);
    let answer = client.call("create_task", second);
    assert!(!answer.is_error, "{answer:?}");
    let listed = client.read("codex://tasks").unwrap();
    assert_eq!(listed["tasks"][0]["ready"], true);
    assert_eq!(listed["tasks"][1]["ready"], false);
    assert_eq!(listed["tasks"][1]["dependsOn"], json!([first]));
}

#[test]
fn an_unknown_dependency_stores_nothing() {
    let env = TestEnv::new();
    let mut client = planner(&env);
    let known = client.call("create_task", task("known")).value["taskId"].clone();
    let unknown = known.as_str().unwrap().replace(char::is_alphanumeric, "9");
    for stranger in [unknown.as_str(), "nonsense", "", "../../etc", "task-99999"] {
        let mut wrong = task("wrong");
        wrong["dependsOn"] = json!([known, stranger]);
        let answer = client.call("create_task", wrong);
        assert!(
            ["TASK_NOT_FOUND", "INVALID_ARGUMENTS"].contains(&answer.code()),
            "{stranger}: {answer:?}"
        );
    }
    assert_eq!(client.read("codex://tasks").unwrap()["total"], 1);
}

#[test]
fn tasks_of_another_repository_are_out_of_reach() {
    let mut env = TestEnv::new();
    let here = planner(&env).call("create_task", task("here")).value["taskId"].clone();
    let elsewhere = env.path("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    env.enter(&elsewhere);
    env.git(&["init", "-q", "-b", "main"]);
    let mut client = planner(&env);
    let mut task = task("there");
    task["dependsOn"] = json!([here]);
    assert_eq!(client.call("create_task", task).code(), "TASK_NOT_FOUND");
    assert_eq!(client.read("codex://tasks").unwrap()["total"], 0);
    let uri = format!("codex://tasks/{}", here.as_str().unwrap());
    assert_eq!(
        client.read(&uri).unwrap_err()["data"]["code"],
        "TASK_NOT_FOUND"
    );
}

#[test]
fn long_lists_page_without_gaps_or_repeats() {
    let env = TestEnv::new();
    let mut client = planner(&env);
    let calls: Vec<u64> = (0..120)
        .map(|number| {
            let params =
                json!({"name": "create_task", "arguments": task(&format!("task {number}"))});
            client.begin("tools/call", params)
        })
        .collect();
    for id in calls {
        // Answers come in any order, so all but the awaited one are set aside.
        let set_aside = client
            .notifications
            .iter()
            .position(|message| message["id"] == json!(id));
        let result = match set_aside {
            Some(index) => client.notifications.remove(index)["result"].clone(),
            None => client.answer_to(id).unwrap(),
        };
        assert_ne!(result["isError"], json!(true), "{result}");
    }
    let mut address = Some("codex://tasks".to_owned());
    let mut titles = BTreeSet::new();
    let mut sizes = Vec::new();
    while let Some(uri) = address {
        let page = client.read(&uri).unwrap();
        assert_eq!(page["total"], 120);
        let tasks = page["tasks"].as_array().unwrap();
        sizes.push(tasks.len());
        titles.extend(tasks.iter().map(|task| task["title"].to_string()));
        address = page["next"].as_str().map(str::to_owned);
    }
    assert_eq!(sizes, [50, 50, 20]);
    assert_eq!(titles.len(), 120);
    let beyond = client.read("codex://tasks?offset=1000").unwrap();
    assert_eq!(beyond["tasks"], json!([]));
    client.read("codex://tasks?offset=-1").unwrap_err();
    client.read("codex://tasks?offset=many").unwrap_err();
}

#[test]
fn a_page_with_the_longest_tasks_stays_within_what_clients_take() {
    let env = TestEnv::new();
    let mut client = planner(&env);
    for _ in 0..50 {
        let answer = client.call(
            "create_task",
            json!({"taskTitle": "t".repeat(200), "taskDescription": "d".repeat(50_000), "priority": "low"}),
        );
        assert!(!answer.is_error, "{answer:?}");
    }
    let page = client.read("codex://tasks").unwrap();
    assert_eq!(page["tasks"].as_array().unwrap().len(), 50);
    // 25,000 tokens, at a cautious three characters each.
    assert!(
        page.to_string().len() < 75_000,
        "{}",
        page.to_string().len()
    );
}

#[test]
fn progress_comes_to_who_asked() {
    let env = TestEnv::new();
    let mut client = planner(&env);
    let params = json!({
        "name": "create_task", "arguments": task("watched"), "_meta": {"progressToken": "p1"},
    });
    let id = client.begin("tools/call", params);
    client.answer_to(id).unwrap();
    let told = |client: &Client| {
        client.notifications.iter().any(|message| {
            message["method"] == "notifications/progress"
                && message["params"]["progressToken"] == "p1"
        })
    };
    if !told(&client) {
        // It may come just after the answer.
        let message = client.receive();
        client.notifications.push(message);
    }
    assert!(told(&client), "{:?}", client.notifications);
}

#[test]
fn without_github_a_task_has_no_issue_and_says_so() {
    let env = TestEnv::new();
    let mut client = planner(&env);
    let mut wanted = task("with issue");
    wanted["createIssue"] = json!(true);
    let answer = client.call("create_task", wanted);
    assert!(!answer.is_error, "{answer:?}");
    assert_eq!(answer.value["issueNumber"], Value::Null);
    assert!(answer.text.contains("the forge is local"), "{answer:?}");
    assert_eq!(client.read("codex://tasks").unwrap()["total"], 1);
}

//! Tasks that are issues too.

use scripted_github::Fault;
use serde_json::{Value, json};

use crate::github_support::Hub;
use crate::support::{Place, text};

fn task(title: &str) -> Value {
    json!({
        "taskTitle": title, "taskDescription": "Do it well", "priority": "high",
        "estimatedHours": 2.5, "createIssue": true,
    })
}

fn create(place: &Place, task: &Value) -> Value {
    let answer = place.stranger("mcp-planning", "create_task", task);
    let answer = answer["result"]["structuredContent"].clone();
    assert!(answer["taskId"].is_string(), "{answer}");
    answer
}

#[test]
fn a_task_has_its_issue_up_to_the_limit() {
    let mut place = Place::new("idle", "idle");
    let hub = Hub::new(&mut place);
    place.set("CODEX_PLANNING_MAX_ISSUES_PER_PLAN", "2");
    let first = create(&place, &task("One"));
    assert_eq!(first["issueNumber"], 1);
    let url = first["issueUrl"].as_str().unwrap();
    assert!(first["message"].as_str().unwrap().contains(url), "{first}");
    {
        let state = hub.server.state();
        let issue = &state.issues[&1];
        assert_eq!(issue.title, "One");
        assert_eq!(issue.labels, ["priority: high"]);
        assert_eq!(
            issue.body.trim(),
            "Do it well\n\nPriority: high. Estimate: 2.5 h."
        );
    }
    assert_eq!(create(&place, &task("Two"))["issueNumber"], 2);
    let third = create(&place, &task("Three"));
    assert_eq!(third["issueNumber"], Value::Null);
    let message = third["message"].as_str().unwrap();
    assert!(message.contains("ISSUE_LIMIT_REACHED"), "{message}");
    assert_eq!(hub.server.state().issues.len(), 2);
    assert_eq!(place.json(&["tasks"]).as_array().unwrap().len(), 3);
}

#[test]
fn a_task_without_its_issue_is_kept_and_gets_it_later() {
    let mut place = Place::new("idle", "idle");
    let hub = Hub::new(&mut place);
    place.set(
        "CODEX_PLANNING_ISSUE_TEMPLATE",
        "{{priority}}: {{description}}",
    );
    hub.server.state().issues_enabled = false;
    let kept = create(&place, &task("One"));
    assert_eq!(kept["issueNumber"], Value::Null);
    let message = kept["message"].as_str().unwrap();
    assert!(message.contains("issue is missing"), "{message}");
    assert!(
        message.contains("call create_task with the same"),
        "{message}"
    );
    hub.server.state().issues_enabled = true;
    hub.server.fail(Fault::status(401).method("POST"));
    let kept = create(&place, &task("One"));
    assert!(
        kept["message"]
            .as_str()
            .unwrap()
            .contains("FORGE_UNAUTHORIZED")
    );
    let whole = create(&place, &task("One"));
    assert_eq!(whole["taskId"], kept["taskId"]);
    assert_eq!(whole["issueNumber"], 1);
    assert_eq!(hub.server.state().issues[&1].body, "high: Do it well");
    let tasks = place.json(&["tasks"]);
    assert_eq!(tasks.as_array().unwrap().len(), 1, "{tasks}");
    assert_eq!(tasks[0]["issueNumber"], 1);
    // What a coder does for it closes the issue.
    let id = whole["taskId"].as_str().unwrap();
    let printed = place.json(&["code", "--task", id]);
    let coder = printed["id"].as_str().unwrap().parse().unwrap();
    place.until("the coder is up", || {
        place.status(&coder) == shared::model::Status::Running
    });
    place.commit(&coder, "work\n");
    assert_eq!(place.create_pr(&coder, "Title")["error"], false);
    let state = hub.server.state();
    let pull = state.pulls.values().next().unwrap();
    assert!(pull.body.contains("Closes #1"), "{}", pull.body);
}

#[test]
fn a_template_that_names_something_else_says_so() {
    let mut place = Place::new("idle", "idle");
    let hub = Hub::new(&mut place);
    place.set("CODEX_PLANNING_ISSUE_TEMPLATE", "{{wishes}}");
    let kept = create(&place, &task("One"));
    let message = kept["message"].as_str().unwrap();
    assert!(
        message.contains("CONFIG_INVALID") && message.contains("wishes"),
        "{message}"
    );
    assert!(hub.server.state().issues.is_empty());
    assert!(text(&place.codex(&["tasks"])).contains("One"));
}

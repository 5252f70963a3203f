//! Tasks that are issues too.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

use scripted_github::{Fault, Trouble};
use serde_json::{Value, json};

use crate::github_support::Hub;
use crate::support::{Place, program, text};

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
        let (said, mark) = issue.body.rsplit_once("\n\n").unwrap();
        assert_eq!(said, "Do it well\n\nPriority: high. Estimate: 2.5 h.");
        let id = first["taskId"].as_str().unwrap();
        assert_eq!(mark, format!("<!-- claude-codex: {id} -->"));
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
    let body = hub.server.state().issues[&1].body.clone();
    assert!(body.starts_with("high: Do it well\n\n<!--"), "{body}");
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

/// A planner's server that is still at work on a call.
struct Working {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Working {
    /// Begins a call whose issue GitHub makes, but whose answer is late.
    fn begin(place: &Place, hub: &Hub, task: &Value) -> Self {
        let late = Trouble::Delay(Duration::from_mins(1));
        hub.server
            .fail(Fault::once(late).method("POST").path("/issues"));
        let mut working = Self::start(place);
        working.call(2, task);
        place.until("GitHub has made the issue", || {
            hub.server.state().issues.len() == 1
        });
        working
    }

    fn start(place: &Place) -> Self {
        let mut child = place
            .command(&program().with_file_name("mcp-planning"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut working = Self {
            input: child.stdin.take().unwrap(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
        };
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        working
            .send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }));
        working.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        working
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    fn call(&mut self, id: u64, task: &Value) {
        let params = json!({ "name": "create_task", "arguments": task });
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
    }

    fn answer(&mut self, id: u64) -> Value {
        let lines = (&mut self.output).lines();
        let mut answers = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
        let answer = answers.find(|answer| answer["id"] == id).unwrap();
        answer["result"]["structuredContent"].clone()
    }

    fn end(mut self) {
        drop(self.input);
        self.child.wait().unwrap();
    }
}

fn assert_one_of_each(place: &Place, hub: &Hub, answer: &Value) {
    assert_eq!(answer["issueNumber"], 1, "{answer}");
    assert_eq!(hub.server.state().issues.len(), 1);
    let tasks = place.json(&["tasks"]);
    assert_eq!(tasks.as_array().unwrap().len(), 1, "{tasks}");
    assert_eq!(tasks[0]["id"], answer["taskId"]);
}

#[test]
fn a_call_cancelled_while_its_issue_is_made_makes_no_second() {
    let mut place = Place::new("idle", "idle");
    let hub = Hub::new(&mut place);
    let task = task("One");
    let mut server = Working::begin(&place, &hub, &task);
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 2 } }));
    server.call(3, &task);
    let again = server.answer(3);
    assert_one_of_each(&place, &hub, &again);
    server.end();
}

#[test]
fn a_server_killed_while_its_issue_is_made_makes_no_second() {
    let mut place = Place::new("idle", "idle");
    let hub = Hub::new(&mut place);
    let task = task("One");
    let mut server = Working::begin(&place, &hub, &task);
    server.child.kill().unwrap();
    server.end();
    assert_one_of_each(&place, &hub, &create(&place, &task));
}

#[test]
fn an_answer_that_was_given_is_not_given_for_another_call() {
    let place = Place::new("idle", "idle");
    let mut task = task("One");
    task["createIssue"] = json!(false);
    let first = create(&place, &task);
    // Heard by its planner, who wants another of the same.
    assert_ne!(create(&place, &task)["taskId"], first["taskId"]);
}

#[test]
fn an_issue_that_quotes_ours_is_not_ours() {
    let mut place = Place::new("idle", "idle");
    let hub = Hub::new(&mut place);
    let task = task("One");
    let mut server = Working::begin(&place, &hub, &task);
    server.child.kill().unwrap();
    server.end();
    {
        let mut state = hub.server.state();
        let said = state.issues[&1].body.clone();
        let quoted = format!("> {}\n\nI disagree.", said.replace('\n', "\n> "));
        state.add_issue("Re: One", &quoted, &[]);
        state.add_issue("Copy of One", &said, &[]);
    }
    assert_eq!(create(&place, &task)["issueNumber"], 1);
    assert_eq!(hub.server.state().issues.len(), 3);
}

#[test]
fn a_task_whose_answer_nobody_took_is_not_made_again() {
    let place = Place::new("idle", "idle");
    let mut server = Working::start(&place);
    for round in 0..20 {
        let id = 10 + 2 * round;
        let mut task = task(&format!("Task {round}"));
        task["createIssue"] = json!(false);
        server.call(id, &task);
        // In half of the rounds the answer is there before the client gives up on it.
        let first = (round % 2 == 0).then(|| server.answer(id));
        let cancelled = json!({ "requestId": id });
        server.send(
            &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled }),
        );
        server.call(id + 1, &task);
        let again = server.answer(id + 1);
        assert!(again["taskId"].is_string(), "{again}");
        if let Some(first) = first {
            assert_eq!(again["taskId"], first["taskId"], "{round}");
        }
        // This answer was taken: the same words are another wish.
        server.call(id + 100, &task);
        assert_ne!(server.answer(id + 100)["taskId"], again["taskId"]);
    }
    server.end();
    let tasks = place.json(&["tasks"]);
    assert_eq!(tasks.as_array().unwrap().len(), 40, "{tasks}");
}

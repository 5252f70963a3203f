//! Tasks that are issues too.

use std::time::Duration;

use scripted_github::{Fault, Trouble};
use serde_json::{Value, json};
use tests::{AgentEnv, Client, Era, GithubRemote, Server};

fn task(title: &str) -> Value {
    json!({
        "taskTitle": title, "taskDescription": "Do it well", "priority": "high",
        "estimatedHours": 2.5, "createIssue": true,
    })
}

fn create(env: &AgentEnv, task: &Value) -> Value {
    let answer = env.call_as_person(Server::Planning, "create_task", task);
    let answer = answer["structuredContent"].clone();
    assert!(answer["taskId"].is_string(), "{answer}");
    answer
}

#[test]
fn a_task_has_its_issue_up_to_the_limit() {
    let mut env = AgentEnv::new("idle", "idle");
    let github = GithubRemote::new(&mut env);
    env.set("CODEX_PLANNING_MAX_ISSUES_PER_PLAN", "2");
    let first = create(&env, &task("One"));
    assert_eq!(first["issueNumber"], 1);
    let url = first["issueUrl"].as_str().unwrap();
    assert!(first["message"].as_str().unwrap().contains(url), "{first}");
    {
        let state = github.state();
        let issue = &state.issues[&1];
        assert_eq!(issue.title, "One");
        assert_eq!(issue.labels, ["priority: high"]);
        let (said, mark) = issue.body.rsplit_once("\n\n").unwrap();
        assert_eq!(said, "Do it well\n\nPriority: high. Estimate: 2.5 h.");
        let id = first["taskId"].as_str().unwrap();
        assert_eq!(mark, format!("<!-- claude-codex: {id} -->"));
    }
    assert_eq!(create(&env, &task("Two"))["issueNumber"], 2);
    let third = create(&env, &task("Three"));
    assert_eq!(third["issueNumber"], Value::Null);
    let message = third["message"].as_str().unwrap();
    assert!(message.contains("ISSUE_LIMIT_REACHED"), "{message}");
    assert_eq!(github.state().issues.len(), 2);
    assert_eq!(env.json(&["tasks"]).as_array().unwrap().len(), 3);
}

#[test]
fn a_task_without_its_issue_is_kept_and_gets_it_later() {
    let mut env = AgentEnv::new("idle", "idle");
    let github = GithubRemote::new(&mut env);
    env.set(
        "CODEX_PLANNING_ISSUE_TEMPLATE",
        "{{priority}}: {{description}}",
    );
    github.state().issues_enabled = false;
    let kept = create(&env, &task("One"));
    assert_eq!(kept["issueNumber"], Value::Null);
    let message = kept["message"].as_str().unwrap();
    assert!(message.contains("issue is missing"), "{message}");
    assert!(
        message.contains("call create_task with the same"),
        "{message}"
    );
    github.state().issues_enabled = true;
    github.fail(Fault::status(401).method("POST"));
    let kept = create(&env, &task("One"));
    assert!(
        kept["message"]
            .as_str()
            .unwrap()
            .contains("FORGE_UNAUTHORIZED")
    );
    let whole = create(&env, &task("One"));
    assert_eq!(whole["taskId"], kept["taskId"]);
    assert_eq!(whole["issueNumber"], 1);
    let body = github.state().issues[&1].body.clone();
    assert!(body.starts_with("high: Do it well\n\n<!--"), "{body}");
    let tasks = env.json(&["tasks"]);
    assert_eq!(tasks.as_array().unwrap().len(), 1, "{tasks}");
    assert_eq!(tasks[0]["issueNumber"], 1);
    // What a coder does for it closes the issue.
    let id = whole["taskId"].as_str().unwrap();
    let printed = env.json(&["code", "--task", id]);
    let coder = printed["id"].as_str().unwrap().parse().unwrap();
    env.until("the coder is up", || {
        env.status(&coder) == shared::model::Status::Running
    });
    env.commit(&coder, "work\n");
    assert_eq!(env.create_pr(&coder, "Title")["error"], false);
    let state = github.state();
    let pull = state.pulls.values().next().unwrap();
    assert!(pull.body.contains("Closes #1"), "{}", pull.body);
}

#[test]
fn a_template_that_names_something_else_says_so() {
    let mut env = AgentEnv::new("idle", "idle");
    let github = GithubRemote::new(&mut env);
    env.set("CODEX_PLANNING_ISSUE_TEMPLATE", "{{wishes}}");
    let kept = create(&env, &task("One"));
    let message = kept["message"].as_str().unwrap();
    assert!(
        message.contains("CONFIG_INVALID") && message.contains("wishes"),
        "{message}"
    );
    assert!(github.state().issues.is_empty());
    assert!(env.text(&["tasks"]).contains("One"));
}

/// Starts a planner's server.
fn planner(env: &AgentEnv) -> Client {
    Client::start(env, Server::Planning, Era::Legacy)
}

fn begin_task(planner: &mut Client, task: &Value) -> u64 {
    planner.begin(
        "tools/call",
        json!({ "name": "create_task", "arguments": task }),
    )
}

fn created(planner: &mut Client, id: u64) -> Value {
    planner.answer_to(id).unwrap()["structuredContent"].clone()
}

fn cancel(planner: &mut Client, id: u64) {
    let params = json!({ "requestId": id });
    planner
        .send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
}

/// Begins a call whose issue GitHub makes, but whose answer is late.
fn late_issue(env: &AgentEnv, github: &GithubRemote, task: &Value) -> (Client, u64) {
    let late = Trouble::Delay(Duration::from_mins(1));
    github.fail(Fault::once(late).method("POST").path("/issues"));
    let mut planner = planner(env);
    let id = begin_task(&mut planner, task);
    env.until("GitHub has made the issue", || {
        github.state().issues.len() == 1
    });
    (planner, id)
}

fn assert_one_of_each(env: &AgentEnv, github: &GithubRemote, answer: &Value) {
    assert_eq!(answer["issueNumber"], 1, "{answer}");
    assert_eq!(github.state().issues.len(), 1);
    let tasks = env.json(&["tasks"]);
    assert_eq!(tasks.as_array().unwrap().len(), 1, "{tasks}");
    assert_eq!(tasks[0]["id"], answer["taskId"]);
}

#[test]
fn a_call_cancelled_while_its_issue_is_made_makes_no_second() {
    let mut env = AgentEnv::new("idle", "idle");
    let github = GithubRemote::new(&mut env);
    let task = task("One");
    let (mut planner, id) = late_issue(&env, &github, &task);
    cancel(&mut planner, id);
    let again = begin_task(&mut planner, &task);
    assert_one_of_each(&env, &github, &created(&mut planner, again));
}

#[test]
fn a_server_killed_while_its_issue_is_made_makes_no_second() {
    let mut env = AgentEnv::new("idle", "idle");
    let github = GithubRemote::new(&mut env);
    let task = task("One");
    // Dropped, its server is killed.
    drop(late_issue(&env, &github, &task));
    assert_one_of_each(&env, &github, &create(&env, &task));
}

#[test]
fn an_answer_that_was_given_is_not_given_for_another_call() {
    let env = AgentEnv::new("idle", "idle");
    let mut task = task("One");
    task["createIssue"] = json!(false);
    let first = create(&env, &task);
    // Heard by its planner, who wants another of the same.
    assert_ne!(create(&env, &task)["taskId"], first["taskId"]);
}

#[test]
fn an_issue_that_quotes_ours_is_not_ours() {
    let mut env = AgentEnv::new("idle", "idle");
    let github = GithubRemote::new(&mut env);
    let task = task("One");
    // Dropped, its server is killed.
    drop(late_issue(&env, &github, &task));
    {
        let mut state = github.state();
        let said = state.issues[&1].body.clone();
        let quoted = format!("> {}\n\nI disagree.", said.replace('\n', "\n> "));
        state.add_issue("Re: One", &quoted, &[]);
        state.add_issue("Copy of One", &said, &[]);
    }
    assert_eq!(create(&env, &task)["issueNumber"], 1);
    assert_eq!(github.state().issues.len(), 3);
}

#[test]
fn a_task_whose_answer_nobody_took_is_not_made_again() {
    let env = AgentEnv::new("idle", "idle");
    let mut planner = planner(&env);
    for round in 0..20 {
        let mut task = task(&format!("Task {round}"));
        task["createIssue"] = json!(false);
        let id = begin_task(&mut planner, &task);
        // In half of the rounds the answer is there before the client gives up on it.
        let first = (round % 2 == 0).then(|| created(&mut planner, id));
        cancel(&mut planner, id);
        let id = begin_task(&mut planner, &task);
        let again = created(&mut planner, id);
        assert!(again["taskId"].is_string(), "{again}");
        if let Some(first) = first {
            assert_eq!(again["taskId"], first["taskId"], "{round}");
        }
        // This answer was taken: the same words are another wish.
        let id = begin_task(&mut planner, &task);
        assert_ne!(created(&mut planner, id)["taskId"], again["taskId"]);
    }
    drop(planner);
    let tasks = env.json(&["tasks"]);
    assert_eq!(tasks.as_array().unwrap().len(), 40, "{tasks}");
}

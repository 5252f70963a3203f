//! Two agents on conflicting work: the first is merged, the second resolves its conflict and is merged too.

use std::process::Output;

use serde_json::{Value, json};
use shared::model::{InstanceId, MessageState, Status};
use tests::dashboard::Dashboard;
use tests::{AgentEnv, shown};

fn refused(env: &AgentEnv, args: &[&str]) -> Value {
    let output: Output = env.codex(&[args, &["--json"]].concat());
    assert!(!output.status.success(), "{args:?}: {}", shown(&output));
    serde_json::from_slice(&output.stderr).unwrap()
}

fn until_put_away(env: &AgentEnv, coder: &InstanceId) {
    env.until("the coder is put away", || {
        !env.has_session(coder) && env.instance(coder).owner.is_none()
    });
}

/// Launches a coder whose commit is approved and published by its reviewer.
fn reviewed(env: &AgentEnv, text: &str) -> InstanceId {
    let coder = env.coder(&["--require-review", "--max-reviews", "3"]);
    env.commit(&coder, text);
    approved(env, &coder);
    coder
}

/// Has the work of a coder reviewed, approved and published.
fn approved(env: &AgentEnv, coder: &InstanceId) {
    let answer = env.call(coder, "request_review", &json!({ "description": "look" }));
    let reviewer = answer["result"]["reviewInstanceId"].as_str();
    let reviewer: InstanceId = reviewer.unwrap().parse().unwrap();
    env.until("the reviewer", || env.status(coder) == Status::UnderReview);
    let answer = env.create_pr(&reviewer, "Title");
    assert_eq!(answer["error"], false, "{answer}");
    until_put_away(env, coder);
    env.until_gone(&reviewer);
}

/// Makes an agent run a command; returns its exit status.
fn run(env: &AgentEnv, id: &InstanceId, command: &[&str]) -> Value {
    let before = env.log(id, "run").len();
    env.tell(id, &json!({ "run": command }));
    env.until("a command", || env.log(id, "run").len() > before);
    env.log(id, "run").pop().unwrap()["status"].clone()
}

#[test]
fn both_are_merged_the_second_after_its_own_agent_resolved_the_conflict() {
    let env = AgentEnv::new("idle", "idle");
    let (first, second) = (reviewed(&env, "first\n"), reviewed(&env, "second\n"));
    let listed = env.json(&["pr", "list"]);
    for pull in listed.as_array().unwrap() {
        assert_eq!(pull["standing"]["mergeable"], "clean", "{pull}");
        assert_eq!(pull["standing"]["approval"]["isHead"], true, "{pull}");
    }
    assert!(env.text(&["pr", "list"]).contains("mergeable, approved"));
    assert_eq!(
        refused(&env, &["pr", "resolve", "2"])["code"],
        "NOT_AVAILABLE"
    );
    assert_eq!(env.json(&["pr", "merge", "1"])["state"], "merged");
    assert_eq!(env.status(&first), Status::PrMerged);

    let shown = env.text(&["pr", "show", "2"]);
    for part in [
        "conflicts with main in work.txt",
        "2 commits behind main",
        "`claude-codex pr resolve 2`",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    // Its session has ended, and still it waits for a person.
    let listed = env.json(&["list"]);
    assert_eq!(listed[0]["id"], second.as_str(), "{listed}");
    assert_eq!(listed[0]["attention"]["kind"], "conflict", "{listed}");
    let error = refused(&env, &["pr", "merge", "2"]);
    assert_eq!(error["code"], "MERGE_CONFLICT", "{error}");
    let hint = error["hint"].as_str().unwrap();
    assert!(hint.contains("`claude-codex pr resolve 2`"), "{hint}");

    let sent = env.json(&["pr", "resolve", "2"]);
    assert_eq!(sent["files"], json!(["work.txt"]), "{sent}");
    assert_eq!(sent["restarted"], true, "{sent}");
    env.until("the message", || {
        env.messages(&second)
            .last()
            .is_some_and(|message| message.state == MessageState::Taken)
    });
    let received = env.received(&second).pop().unwrap();
    for part in [
        "Pull request #2 conflicts with main",
        "- work.txt",
        "git merge main",
    ] {
        assert!(received.contains(part), "{part}: {received}");
    }
    // It is no review: no round of anybody is counted for it.
    assert_eq!(env.reviews(&second).len(), 1);

    assert_eq!(run(&env, &second, &["git", "merge", "main"]), 1);
    let theirs = ["git", "checkout", "--theirs", "work.txt"];
    assert_eq!(run(&env, &second, &theirs), 0);
    env.commit(&second, "and second\n");
    let standing = env.json(&["pr", "show", "2"])["standing"].clone();
    assert_eq!(standing["newCommits"], 3, "{standing}");
    approved(&env, &second);
    let pulls = env.json(&["pr", "list", "--state", "all"]);
    assert_eq!(pulls.as_array().unwrap().len(), 2, "{pulls}");
    let standing = env.json(&["pr", "show", "2"])["standing"].clone();
    assert_eq!(standing["mergeable"], "clean", "{standing}");
    assert_eq!(standing["behind"], 0, "{standing}");
    assert_eq!(standing["approval"]["isHead"], true, "{standing}");
    assert_eq!(env.json(&["pr", "merge", "2"])["state"], "merged");
    assert_eq!(env.status(&second), Status::PrMerged);
    assert_eq!(env.git(&["show", "main:work.txt"]), "first\nand second");
    assert_eq!(env.json(&["doctor", "--deep"])["problems"], Value::Null);
}

#[test]
fn a_person_resolves_it_and_what_nobody_approved_is_not_called_approved() {
    let env = AgentEnv::new("idle", "idle");
    let (_first, second) = (reviewed(&env, "first\n"), reviewed(&env, "second\n"));
    env.json(&["pr", "merge", "1"]);
    let worktree = env.instance(&second).worktree_path;
    let merge = ["merge", "-q", "-s", "ours", "main", "-m", "merge main"];
    env.git_in(&worktree, &merge);
    let error = refused(&env, &["pr", "resolve", "2"]);
    let hint = error["hint"].as_str().unwrap();
    assert!(hint.contains("`claude-codex pr update 2`"), "{hint}");
    env.json(&["pr", "update", "2"]);
    let standing = env.json(&["pr", "show", "2"])["standing"].clone();
    assert_eq!(standing["approval"]["isHead"], false, "{standing}");
    assert_eq!(standing["needsApproval"], true, "{standing}");
    assert!(env.text(&["pr", "list"]).contains("not at its head"));
    env.json(&["pr", "approve", "2"]);
    let standing = env.json(&["pr", "show", "2"])["standing"].clone();
    assert_eq!(standing["approval"]["isHead"], true, "{standing}");
    assert_eq!(env.json(&["pr", "merge", "2"])["state"], "merged");
}

#[test]
fn the_dashboard_says_how_it_stands_and_acts() {
    let env = AgentEnv::new("idle", "idle");
    env.publish("one", &[("a.txt", "one\n")]);
    env.publish("two", &[("a.txt", "two\n")]);
    let dashboard = Dashboard::start(&env, &[]);
    dashboard.post("/api/pulls/1/merge", &json!({})).good();
    let pull = dashboard.get("/api/pulls/2").good();
    assert_eq!(pull["standing"]["conflicts"], json!(["a.txt"]), "{pull}");
    let page = dashboard.get("/pulls/2").body;
    for part in ["conflicts with main in a.txt", "/api/pulls/2/resolve"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    // The merge has computed it: the board only reads.
    let board = dashboard.get("/api/board").good();
    let need = board["columns"][0]["cards"][0]["need"].as_str().unwrap();
    assert!(
        need.contains("conflicts with main") && need.contains("pr resolve 2"),
        "{board}"
    );
    let told = dashboard.post("/api/pulls/2/resolve", &json!({})).good();
    assert_eq!(told["number"], 2, "{told}");
    assert_eq!(env.recorded("pr resolve").len(), 1);

    let folder = env.path("two");
    let merge = ["merge", "-q", "-s", "ours", "main", "-m", "merge main"];
    env.git_in(&folder, &merge);
    let page = dashboard.get("/pulls/2").body;
    assert!(page.contains("/api/pulls/2/update"), "{page}");
    let refused = dashboard.post("/api/pulls/2/merge", &json!({}));
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (409, "PULL_REQUEST_OUTDATED")
    );
    let updated = dashboard.post("/api/pulls/2/update", &json!({})).good();
    assert_eq!(updated["standing"]["mergeable"], "clean", "{updated}");
    dashboard.post("/api/pulls/2/merge", &json!({})).good();
}

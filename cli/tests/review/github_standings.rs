//! Standings of pull requests on GitHub: a conflict there needs a person like any other, and what GitHub has yet to find out is unknown.

use scripted_github::Mergeability;
use serde_json::{Value, json};
use shared::model::{InstanceId, Status};
use tests::{AgentEnv, GithubRemote, until};

/// Has a coder publish on GitHub.
fn published(env: &AgentEnv) -> InstanceId {
    let coder = env.coder_with_commit();
    assert_eq!(env.create_pr(&coder, "Title")["error"], false);
    env.until("the coder is put away", || {
        !env.has_session(&coder) && env.instance(&coder).owner.is_none()
    });
    coder
}

/// Pushes a commit to main on GitHub, as somebody else does.
fn push_to_main(env: &AgentEnv, github: &GithubRemote, text: &str) {
    let elsewhere = env.path("elsewhere");
    if !elsewhere.exists() {
        let bare = github.bare();
        let (from, to) = (bare.path().to_str().unwrap(), elsewhere.to_str().unwrap());
        env.git(&["clone", "-q", "-b", "main", from, to]);
    }
    std::fs::write(elsewhere.join("work.txt"), text).unwrap();
    env.git_in(&elsewhere, &["add", "work.txt"]);
    env.git_in(&elsewhere, &["commit", "-q", "-m", "by somebody else"]);
    env.git_in(&elsewhere, &["push", "-q", "origin", "main"]);
}

fn attention(env: &AgentEnv) -> Value {
    env.json(&["list"])[0]["attention"]["kind"].clone()
}

#[test]
fn a_conflict_on_github_waits_for_a_person() {
    let mut env = AgentEnv::new("idle", "idle");
    let github = GithubRemote::new(&mut env);
    github.state().mergeability = Mergeability::Pending;
    let coder = published(&env);
    let shown = env.json(&["pr", "show", "1"]);
    assert_eq!(shown["standing"]["mergeable"], "unknown", "{shown}");
    env.json(&["sync"]);
    assert_eq!(attention(&env), Value::Null, "unknown is no conflict");

    github.state().mergeability = Mergeability::Known;
    push_to_main(&env, &github, "by somebody else\n");
    env.json(&["sync"]);
    assert_eq!(attention(&env), "conflict");
    assert!(env.text(&["list"]).contains("conflicts with main"));
    // A list on GitHub does not say so: what was heard last does.
    let listed = env.json(&["pr", "list"]);
    assert_eq!(
        listed[0]["standing"]["mergeable"], "conflicting",
        "{listed}"
    );
    assert_eq!(listed[0]["standing"]["behind"], Value::Null, "{listed}");
    let text = env.text(&["pr", "show", "1"]);
    assert!(text.contains("unknown: GitHub does not say"), "{text}");

    // GitHub looks again: until it knows, what it said holds.
    github.state().mergeability = Mergeability::Pending;
    env.json(&["sync"]);
    env.json(&["sync"]);
    assert_eq!(attention(&env), "conflict");
    github.state().mergeability = Mergeability::Known;

    // The hint works, and the next publication starts afresh.
    env.json(&["pr", "resolve", "1"]);
    env.until("the coder is at work", || {
        env.status(&coder) == Status::Running
    });
    let run = |command: &[&str]| {
        let before = env.log(&coder, "run").len();
        env.tell(&coder, &json!({ "run": command }));
        env.until("a command", || env.log(&coder, "run").len() > before);
    };
    run(&[
        "git",
        "fetch",
        "-q",
        github.bare().path().to_str().unwrap(),
        "main",
    ]);
    run(&[
        "git",
        "merge",
        "-q",
        "-s",
        "ours",
        "-m",
        "merge",
        "FETCH_HEAD",
    ]);
    assert_eq!(env.create_pr(&coder, "Title")["error"], false);
    env.until("the coder is put away", || {
        !env.has_session(&coder) && env.instance(&coder).owner.is_none()
    });
    assert_eq!(env.json(&["list"]), json!([]));
    env.json(&["sync"]);
    assert_eq!(env.json(&["list"]), json!([]));
}

#[test]
fn a_closed_pull_request_on_github_waits_for_nobody() {
    let mut env = AgentEnv::new("idle", "idle");
    let github = GithubRemote::new(&mut env);
    let coder = published(&env);
    push_to_main(&env, &github, "by somebody else\n");
    env.json(&["sync"]);
    assert_eq!(attention(&env), "conflict");
    github.state().pulls.get_mut(&1).unwrap().open = false;
    env.json(&["sync"]);
    until("it is closed", || env.status(&coder) == Status::PrClosed);
    let listed = env.json(&["list"]);
    let kinds: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|row| &row["attention"]["kind"])
        .collect();
    assert!(!kinds.contains(&&json!("conflict")), "{listed}");
}

//! Standings of pull requests are fresh wherever one looks, without `pr list`: `list`, `show`, board, notifications.

use serde_json::{Value, json};
use shared::model::Status;
use tests::dashboard::Dashboard;
use tests::{AgentEnv, until};

/// Has a command told of what needs a person, and returns the file with what it was told.
fn recorder(env: &AgentEnv) -> std::path::PathBuf {
    let told = env.path("told");
    let script = format!("#!/bin/sh\ncat >> '{}'; echo >> '{0}'\n", told.display());
    let record = env.program("record", &script);
    let folder = env.home().join(".config/claude-codex");
    std::fs::create_dir_all(&folder).unwrap();
    let settings = format!("[notify]\ncommand = [\"{}\"]\n", record.display());
    std::fs::write(folder.join("config.toml"), settings).unwrap();
    told
}

fn told(path: &std::path::Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let lines = text.lines();
    lines
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

/// Commits to main by hand.
fn commit_to_main(env: &AgentEnv, file: &str, text: &str) {
    env.write(file, text);
    env.commit_all("by hand");
}

#[test]
fn a_commit_to_the_base_by_hand_shows_at_once_and_is_told_once() {
    let env = AgentEnv::new("idle", "idle");
    let told_to = recorder(&env);
    env.publish("one", &[("a.txt", "one\n")]);
    let quiet = env.json(&["list"]);
    assert_eq!(quiet, json!([]), "nobody waits");

    commit_to_main(&env, "a.txt", "by hand\n");
    let listed = env.json(&["list"]);
    assert_eq!(listed[0]["attention"]["kind"], "conflict", "{listed}");
    let text = env.text(&["list"]);
    assert!(text.contains("conflicts with main"), "{text}");
    let id = listed[0]["id"].as_str().unwrap().to_owned();
    until("the person is told", || !told(&told_to).is_empty());
    // Whoever looks again tells nobody again.
    env.json(&["list"]);
    env.text(&["notify"]);
    assert_eq!(told(&told_to).len(), 1, "{:?}", told(&told_to));
    assert_eq!(told(&told_to)[0]["attention"]["kind"], "conflict");

    // The conflict goes as it came.
    env.git(&["reset", "-q", "--hard", "HEAD~1"]);
    let shown = env.json(&["show", &id]);
    assert_eq!(shown["attention"], Value::Null, "{shown}");
    assert_eq!(env.json(&["list"]), json!([]));
    commit_to_main(&env, "a.txt", "by hand again\n");
    let shown = env.json(&["show", &id]);
    assert_eq!(shown["attention"]["kind"], "conflict", "{shown}");
    // It is another conflict, although the work is the same.
    env.json(&["list"]);
    until("the person is told again", || told(&told_to).len() == 2);
}

#[test]
fn the_board_shows_it_and_the_dashboard_tells_of_it_without_an_open_page() {
    let mut env = AgentEnv::new("idle", "idle");
    let told_to = recorder(&env);
    env.publish("one", &[("a.txt", "one\n")]);
    env.set("CODEX_DASHBOARD_SYNC_SECONDS", "1");
    let dashboard = Dashboard::start(&env, &[]);
    commit_to_main(&env, "a.txt", "by hand\n");
    let board = dashboard.get("/api/board").good();
    let need = board["columns"][0]["cards"][0]["need"].as_str().unwrap();
    assert!(need.contains("conflicts with main"), "{board}");
    until("the person is told", || !told(&told_to).is_empty());
    // What was merged by hand is followed, too.
    let coder = env.json(&["list", "--all"])[0]["id"].clone();
    env.git(&["reset", "-q", "--hard", "HEAD~1"]);
    env.git(&["merge", "-q", "one"]);
    let coder = coder.as_str().unwrap().parse().unwrap();
    env.until("the merge is seen", || {
        env.status(&coder) == Status::PrMerged
    });
    assert_eq!(told(&told_to).len(), 1, "{:?}", told(&told_to));
}

#[test]
fn work_that_is_published_in_conflict_is_told_of() {
    let env = AgentEnv::new("idle", "idle");
    let told_to = recorder(&env);
    env.git(&["branch", "before"]);
    let folder = env.path("one");
    let path = folder.to_str().unwrap();
    env.git(&["worktree", "add", "-q", "-b", "one", path, "main"]);
    commit_to_main(&env, "a.txt", "by hand\n");
    env.publish("one", &[("a.txt", "one\n")]);
    until("the person is told", || !told(&told_to).is_empty());
    let listed = env.json(&["list"]);
    assert_eq!(listed[0]["attention"]["kind"], "conflict", "{listed}");
    assert_eq!(told(&told_to).len(), 1, "{:?}", told(&told_to));
}

//! `code --branch` of a branch that exists: it is continued, and never deleted with the agent. Warnings about the base.

use std::path::Path;

use serde_json::{Value, json};
use tests::{TestEnv, error};

use crate::support::{env_with_agent, traces};

fn worktree(instance: &Value) -> &Path {
    Path::new(instance["worktreePath"].as_str().unwrap())
}

fn commit(env: &TestEnv, folder: &Path, name: &str) -> String {
    std::fs::write(folder.join(name), name).unwrap();
    env.git_in(folder, &["add", "."]);
    env.git_in(folder, &["commit", "-q", "-m", name]);
    env.git_in(folder, &["rev-parse", "HEAD"])
}

/// Makes the branch `topic` with one commit that nothing else has.
fn env_with_topic() -> (TestEnv, String) {
    let env = env_with_agent();
    let folder = env.repository().to_owned();
    env.git(&["checkout", "-q", "-b", "topic"]);
    let tip = commit(&env, &folder, "begun");
    env.git(&["checkout", "-q", "main"]);
    commit(&env, &folder, "meanwhile");
    (env, tip)
}

#[test]
fn an_existing_branch_is_continued_and_stays() {
    let (env, tip) = env_with_topic();
    let before = traces(&env);
    let first = env.json(&["code", "Finish it", "--branch", "topic"]);
    assert_eq!(
        (&first["branchName"], &first["baseBranch"]),
        (&json!("topic"), &json!("main"))
    );
    let folder = worktree(&first);
    assert_eq!(env.git_in(folder, &["branch", "--show-current"]), "topic");
    assert_eq!(env.git_in(folder, &["rev-parse", "HEAD"]), tip);
    // It is clean, and its worktree goes; its branch has commits that nothing else has, and was there before.
    let stopped = env.json(&["stop", first["id"].as_str().unwrap()]);
    assert_eq!(stopped["kept"], Value::Null, "{stopped}");
    assert!(!folder.exists());
    assert_eq!(traces(&env), before);
    assert_eq!(env.git(&["rev-parse", "topic"]), tip);

    // What the agent has committed stays on the branch, too.
    let second = env.json(&["code", "More", "--branch", "topic"]);
    let new = commit(&env, worktree(&second), "more");
    env.json(&["stop", second["id"].as_str().unwrap()]);
    assert!(!worktree(&second).exists());
    assert_eq!(env.git(&["rev-parse", "topic"]), new);
    let discarded = env.json(&[
        "clean",
        "--discard",
        "--yes",
        second["id"].as_str().unwrap(),
    ]);
    assert!(
        discarded[0]["lost"]
            .as_str()
            .unwrap()
            .starts_with("nothing"),
        "{discarded}"
    );
    assert_eq!(env.git(&["rev-parse", "topic"]), new);
}

#[test]
fn a_failed_launch_leaves_the_branch_as_it_was() {
    let (mut env, tip) = env_with_topic();
    let before = traces(&env);
    env.set("CODEX_AGENT_START_TIMEOUT_SECONDS", "1000");
    env.set("CODEX_AGENT_COMMAND", "sh -c 'echo FATAL; exit 3'");
    let failed = error(&env.codex(&["code", "x", "--branch", "topic", "--json"]));
    assert_eq!(failed["code"], "AGENT_FAILED", "{failed}");
    assert_eq!(traces(&env), before);
    assert_eq!(env.git(&["rev-parse", "topic"]), tip);
}

#[test]
fn a_branch_is_taken_from_an_ended_agent_but_from_nobody_else() {
    let mut env = env_with_agent();
    env.set("CODEX_RESOURCES_CLEANUP", "manual");
    let first = env.json(&["code", "Begin", "--branch", "topic"]);
    let id = first["id"].as_str().unwrap();
    commit(&env, worktree(&first), "begun");
    let onto = &["code", "Finish it", "--branch", "topic", "--json"];
    let refused = error(&env.codex(onto));
    assert_eq!(refused["code"], "BRANCH_IN_USE", "{refused}");
    assert!(
        refused["message"].as_str().unwrap().contains(id),
        "{refused}"
    );
    let hint = refused["hint"].as_str().unwrap();
    assert!(hint.contains(&format!("claude-codex send {id}")), "{hint}");

    std::fs::write(worktree(&first).join("draft"), "precious").unwrap();
    env.json(&["stop", id]);
    let refused = error(&env.codex(onto));
    assert_eq!(refused["code"], "BRANCH_IN_USE", "{refused}");
    assert!(
        refused["message"]
            .as_str()
            .unwrap()
            .contains("1 uncommitted file"),
        "{refused}"
    );
    let hint = refused["hint"].as_str().unwrap();
    assert!(
        hint.contains(&format!("claude-codex resume {id}")),
        "{hint}"
    );

    std::fs::remove_file(worktree(&first).join("draft")).unwrap();
    let second = env.json(&onto[..4]);
    assert!(!worktree(&first).exists());
    assert!(worktree(&second).join("begun").exists());

    // In a person's own checkout it stays.
    env.json(&["stop", second["id"].as_str().unwrap()]);
    env.text(&["clean"]);
    env.git(&["checkout", "-q", "topic"]);
    let refused = error(&env.codex(onto));
    assert_eq!(refused["code"], "BRANCH_EXISTS", "{refused}");
}

#[test]
fn uncommitted_changes_and_a_detached_head_are_mentioned() {
    let env = env_with_agent();
    let launch = |words: &[&str]| {
        let instance = env.json(&[&["code", "x"], words].concat());
        env.json(&["stop", instance["id"].as_str().unwrap()]);
        instance["warnings"].clone()
    };
    assert_eq!(launch(&[]), json!([]));
    std::fs::write(env.repository().join("draft"), "x").unwrap();
    let warnings = launch(&[]).to_string();
    assert!(
        warnings.contains("1 uncommitted file here is not"),
        "{warnings}"
    );
    env.git(&["branch", "other"]);
    assert_eq!(launch(&["--base", "other"]), json!([]));
    std::fs::remove_file(env.repository().join("draft")).unwrap();
    env.git(&["checkout", "-q", "--detach"]);
    let warnings = launch(&[]).to_string();
    assert!(warnings.contains("HEAD is detached"), "{warnings}");
    assert_eq!(launch(&["--base", "main"]), json!([]));
    let told = env.codex(&["code", "x"]);
    let told = String::from_utf8(told.stderr).unwrap();
    assert!(told.contains("note: HEAD is detached"), "{told}");
}

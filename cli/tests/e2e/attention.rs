//! Who needs a person: what `list` shows of agents that are over, and until when.

use tests::{TestEnv, until};

use crate::support::env_with_agent;

/// Returns the agents that `list` shows without `--all`.
fn listed(env: &TestEnv) -> Vec<String> {
    let rows = env.json(&["list"]);
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| row["id"].as_str().unwrap().to_owned())
        .collect()
}

/// Launches an agent that exits with a status.
fn failed_agent(env: &TestEnv) -> String {
    let mut command = env.codex_command(&["code", "Fail", "--json"]);
    let output = command
        .env("CODEX_AGENT_COMMAND", "sh -c 'sleep 1; exit 3'")
        .output()
        .unwrap();
    let launched: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let id = launched["id"].as_str().unwrap().to_owned();
    until("it has failed", || {
        env.json(&["show", &id])["status"] == "failed"
    });
    id
}

#[test]
fn a_failed_agent_is_listed_as_waiting_until_it_is_cleaned_up_or_resumed() {
    let env = env_with_agent();
    let (one, other) = (failed_agent(&env), failed_agent(&env));
    assert_eq!(listed(&env), [one.clone(), other.clone()]);
    let attention = env.json(&["show", &one])["attention"].clone();
    assert_eq!(attention["kind"], "failed", "{attention}");
    assert_eq!(attention["urgent"], true);
    let sentence = attention["sentence"].as_str().unwrap();
    assert!(sentence.contains("status 3"), "{sentence}");
    assert!(sentence.contains("resume it"), "{sentence}");
    let shown = env.text(&["list"]);
    assert!(shown.contains("waiting for a person: failed"), "{shown}");

    env.text(&["clean", "--dry-run"]);
    assert_eq!(listed(&env).len(), 2, "nothing was cleaned up");
    env.text(&["clean", &one]);
    assert_eq!(listed(&env), [other.as_str()]);
    // Failing again makes it wait again.
    env.text(&["resume", &one]);
    assert_eq!(
        env.json(&["show", &one])["attention"],
        serde_json::json!(null)
    );
    env.tmux(&["kill-session", "-t", &format!("={one}")]);
    until("it waits again", || {
        env.json(&["show", &one])["attention"]["kind"] == "failed"
    });
    env.text(&["clean"]);
    assert_eq!(listed(&env), [""; 0]);
}

#[test]
fn kept_files_are_listed_while_they_are_there() {
    let env = env_with_agent();
    let launched = env.json(&["code", "Write"]);
    let id = launched["id"].as_str().unwrap();
    let worktree = std::path::Path::new(launched["worktreePath"].as_str().unwrap());
    std::fs::write(worktree.join("draft"), "precious").unwrap();
    env.text(&["stop", id]);
    let rows = env.json(&["list"]);
    assert_eq!(rows[0]["attention"]["kind"], "keptWork", "{rows}");
    std::fs::remove_file(worktree.join("draft")).unwrap();
    env.text(&["clean"]);
    assert_eq!(listed(&env), [""; 0]);
}

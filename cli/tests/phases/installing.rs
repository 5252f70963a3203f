//! `init --tdd` and `--remove`.

use serde_json::{Value, json};
use tests::phase_env::PhaseEnv;

use crate::PROGRAM;

#[test]
fn it_is_put_in_beside_what_is_there_and_taken_out_again() {
    let env = PhaseEnv::with(&[("Cargo.toml", "")]);
    let theirs = json!({
        "model": "opus",
        "hooks": {
            "Stop": [{ "hooks": [{ "type": "command", "command": "claude-codex hook Stop" }] }],
            "PreToolUse": [{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "./mine.sh" }] }]
        },
        "permissions": { "deny": ["WebFetch"] }
    });
    let text = serde_json::to_string_pretty(&theirs).unwrap() + "\n";
    env.write(".claude/settings.json", &text);
    env.write(".claude/commands/mine.md", "mine");

    let planned = env.codex(&["init", "--tdd", "--dry-run"]);
    assert!(
        String::from_utf8_lossy(&planned.stdout).contains("would update"),
        "{planned:?}"
    );
    assert_eq!(env.read(".claude/settings.json"), text);

    let done = env.codex(&["init", "--tdd", "--json"]);
    let done: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(
        (&done[0]["action"], &done[1]["action"]),
        (&json!("updated"), &json!("created"))
    );
    let settings: Value = serde_json::from_str(&env.read(".claude/settings.json")).unwrap();
    assert_eq!(
        settings["hooks"]["PreToolUse"][0],
        theirs["hooks"]["PreToolUse"][0]
    );
    assert_eq!(settings["hooks"]["Stop"][0], theirs["hooks"]["Stop"][0]);
    let command = settings["hooks"]["Stop"][1]["hooks"][0]["command"]
        .as_str()
        .unwrap();
    assert!(
        command.contains(PROGRAM) && command.ends_with(" hook Stop --tdd"),
        "{command}"
    );
    assert!(env.read(".claude/commands/tdd.md").contains("$ARGUMENTS"));
    assert!(!env.repository().join(".mcp.json").exists());

    let again = env.codex(&["init", "--tdd", "--json"]);
    let again: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(
        (&again[0]["action"], &again[1]["action"]),
        (&json!("unchanged"), &json!("unchanged"))
    );

    let removed = env.codex(&["init", "--tdd", "--remove"]);
    assert!(removed.status.success(), "{removed:?}");
    assert_eq!(env.read(".claude/settings.json"), text);
    assert!(!env.repository().join(".claude/commands/tdd.md").exists());
    assert_eq!(env.read(".claude/commands/mine.md"), "mine");
}

#[test]
fn where_there_was_nothing_there_is_nothing_afterwards() {
    let env = PhaseEnv::with(&[("Cargo.toml", "")]);
    assert!(env.codex(&["init", "--tdd"]).status.success());
    assert!(env.repository().join(".claude/settings.json").exists());
    assert!(env.codex(&["init", "--tdd", "--remove"]).status.success());
    assert!(!env.repository().join(".claude").exists());
    assert!(env.codex(&["init", "--tdd", "--remove"]).status.success());
}

#[test]
fn what_is_the_persons_own_or_broken_stays() {
    let env = PhaseEnv::with(&[("Cargo.toml", "")]);
    env.write(".claude/commands/tdd.md", "my own way of TDD");
    let refused = env.codex(&["init", "--tdd", "--json"]);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    env.codex(&["init", "--tdd", "--remove"]);
    assert_eq!(env.read(".claude/commands/tdd.md"), "my own way of TDD");
    env.write(".claude/settings.json", "{ broken");
    let refused = env.codex(&["init", "--tdd"]);
    assert_eq!(refused.status.code(), Some(1));
    assert_eq!(env.read(".claude/settings.json"), "{ broken");
}

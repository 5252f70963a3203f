//! `init --tdd` and `--remove`.

use serde_json::{Value, json};

use crate::support::{PROGRAM, Place};

#[test]
fn it_is_put_in_beside_what_is_there_and_taken_out_again() {
    let place = Place::with(&[("Cargo.toml", "")]);
    let theirs = json!({
        "model": "opus",
        "hooks": {
            "Stop": [{ "hooks": [{ "type": "command", "command": "claude-codex hook Stop" }] }],
            "PreToolUse": [{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "./mine.sh" }] }]
        },
        "permissions": { "deny": ["WebFetch"] }
    });
    let text = serde_json::to_string_pretty(&theirs).unwrap() + "\n";
    place.write(".claude/settings.json", &text);
    place.write(".claude/commands/mine.md", "mine");

    let planned = place.codex(&["init", "--tdd", "--dry-run"]);
    assert!(
        String::from_utf8_lossy(&planned.stdout).contains("would update"),
        "{planned:?}"
    );
    assert_eq!(place.read(".claude/settings.json"), text);

    let done = place.codex(&["init", "--tdd", "--json"]);
    let done: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(
        (&done[0]["action"], &done[1]["action"]),
        (&json!("updated"), &json!("created"))
    );
    let settings: Value = serde_json::from_str(&place.read(".claude/settings.json")).unwrap();
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
    assert!(place.read(".claude/commands/tdd.md").contains("$ARGUMENTS"));
    assert!(!place.repo().join(".mcp.json").exists());

    let again = place.codex(&["init", "--tdd", "--json"]);
    let again: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(
        (&again[0]["action"], &again[1]["action"]),
        (&json!("unchanged"), &json!("unchanged"))
    );

    let removed = place.codex(&["init", "--tdd", "--remove"]);
    assert!(removed.status.success(), "{removed:?}");
    assert_eq!(place.read(".claude/settings.json"), text);
    assert!(!place.repo().join(".claude/commands/tdd.md").exists());
    assert_eq!(place.read(".claude/commands/mine.md"), "mine");
}

#[test]
fn where_there_was_nothing_there_is_nothing_afterwards() {
    let place = Place::with(&[("Cargo.toml", "")]);
    assert!(place.codex(&["init", "--tdd"]).status.success());
    assert!(place.repo().join(".claude/settings.json").exists());
    assert!(place.codex(&["init", "--tdd", "--remove"]).status.success());
    assert!(!place.repo().join(".claude").exists());
    assert!(place.codex(&["init", "--tdd", "--remove"]).status.success());
    assert_eq!(place.codex(&["init", "--remove"]).status.code(), Some(2));
}

#[test]
fn what_is_the_persons_own_or_broken_stays() {
    let place = Place::with(&[("Cargo.toml", "")]);
    place.write(".claude/commands/tdd.md", "my own way of TDD");
    let refused = place.codex(&["init", "--tdd", "--json"]);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    place.codex(&["init", "--tdd", "--remove"]);
    assert_eq!(place.read(".claude/commands/tdd.md"), "my own way of TDD");
    place.write(".claude/settings.json", "{ broken");
    let refused = place.codex(&["init", "--tdd"]);
    assert_eq!(refused.status.code(), Some(1));
    assert_eq!(place.read(".claude/settings.json"), "{ broken");
}

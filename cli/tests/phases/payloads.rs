//! Payloads that are malformed, huge or from another release: nobody is held back, and it is told.

use serde_json::{Value, json};
use shared::model::Phase;
use tests::phase_env::{PhaseEnv, SESSION};

const EVENTS: [&str; 8] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "ConfigChange",
    "Stop",
    "SessionEnd",
];

#[test]
fn what_cant_be_read_lets_through_and_says_so() {
    let env = PhaseEnv::scripted();
    env.begin(Phase::Tests);
    let wrong_types =
        json!({ "session_id": 7, "cwd": [], "hook_event_name": "PreToolUse", "tool_name": {} });
    for bytes in [
        b"".to_vec(),
        b"nonsense".to_vec(),
        b"[]".to_vec(),
        b"{}".to_vec(),
        vec![0xff, 0xfe, 0x00],
        wrong_types.to_string().into_bytes(),
        "[".repeat(100_000).into_bytes(),
    ] {
        for event in EVENTS {
            let answer = env.raw_hook(event, &bytes);
            assert!(
                answer["decision"].is_null() && answer["hookSpecificOutput"].is_null(),
                "{answer}"
            );
            let told = answer["systemMessage"].as_str().unwrap();
            assert!(told.contains("let this through"), "{told}");
        }
    }
    let log = std::fs::read_to_string(env.path("state/logs/phases.log")).unwrap();
    assert!(log.contains("not understood"), "{log}");
    assert_eq!(env.phase(), Phase::Tests);
}

#[test]
fn what_another_release_says_is_passed_over() {
    let env = PhaseEnv::scripted();
    env.begin(Phase::Tests);
    assert!(env.hook("BrandNew", &json!({ "x": 1 })).is_null());
    for (tool, input) in [
        ("Write", json!(null)),
        ("Write", json!({ "file_path": 7 })),
        ("Write", json!({ "path": "src/lib.rs" })),
        ("Edit", json!([1, 2])),
        ("Bash", json!({ "command": { "nested": true } })),
        ("Bash", json!("ls")),
        ("TeleportFile", json!({ "file_path": "src/lib.rs" })),
    ] {
        assert_eq!(env.denied(tool, &input), None, "{tool} {input}");
    }
    let more = json!({ "tool_name": "Write", "tool_input": { "file_path": "src/x.rs", "content": "x", "mode": 3 },
        "prompt_id": "p", "effort": { "level": "high" }, "future": [null] });
    assert!(
        !env.hook("PreToolUse", &more).is_null(),
        "more fields made the guard blind"
    );
}

#[test]
fn a_huge_edit_is_judged_like_a_small_one() {
    let env = PhaseEnv::scripted();
    env.begin(Phase::Tests);
    let content = "x".repeat(9 << 20);
    assert!(env.write_denied("src/huge.rs", &content).is_some());
    assert_eq!(env.write_denied("tests/huge.rs", &content), None);
    // Beyond all measure it can't be judged, and is refused.
    let payload = env.payload(SESSION, "PreToolUse", &json!({
        "tool_name": "Write", "tool_input": { "file_path": env.repository().join("src/huge.rs"), "content": "x".repeat(33 << 20) } }));
    let answer = env.raw_hook("PreToolUse", payload.to_string().as_bytes());
    assert_eq!(
        answer["hookSpecificOutput"]["permissionDecision"], "deny",
        "{answer}"
    );
    assert!(
        answer["systemMessage"]
            .as_str()
            .unwrap()
            .contains("refused an edit")
    );
}

#[test]
fn faults_of_our_own_hold_nobody_back() {
    let env = PhaseEnv::scripted();
    env.begin(Phase::Tests);
    // The snapshot is gone.
    std::fs::remove_dir_all(env.path("state/phases")).unwrap();
    let passed = env.stop(false);
    assert!(passed["decision"].is_null(), "{passed}");
    assert!(
        passed["systemMessage"]
            .as_str()
            .unwrap()
            .contains("let this through"),
        "{passed}"
    );
    // A profile that can't be read.
    env.write(".claude-codex/tdd.json", "{");
    let write =
        json!({ "tool_name": "Write", "tool_input": { "file_path": "src/x.rs", "content": "x" } });
    let answer = env.hook("PreToolUse", &write);
    assert!(
        answer["systemMessage"]
            .as_str()
            .unwrap()
            .contains("tdd.json"),
        "{answer}"
    );
    // A database that is none.
    std::fs::write(env.path("state/codex.db"), "nonsense".repeat(1_000)).unwrap();
    let answer = env.hook("PreToolUse", &write);
    assert!(
        answer["systemMessage"]
            .as_str()
            .unwrap()
            .contains("let this through"),
        "{answer}"
    );
    // None at all: there is nothing to guard, and none is made.
    for name in ["codex.db", "codex.db-wal", "codex.db-shm"] {
        let _ = std::fs::remove_file(env.path("state").join(name));
    }
    assert_eq!(env.hook("PreToolUse", &write), Value::Null);
    assert!(!env.path("state/codex.db").exists());
}

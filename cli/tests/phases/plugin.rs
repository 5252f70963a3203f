//! TDD phases through the Claude Code plugin alone, and beside hooks in a settings file.

use scripted_model::{Answer, Rule};
use serde_json::{Value, json};
use shared::model::Phase;
use tests::phase_env::{LIBRARY, PhaseEnv, SESSION};
use tests::{ScriptedClaude, project_root};

/// Calls a hook as the plugin does; null if it prints nothing.
fn plugin_hook(env: &PhaseEnv, event: &str, more: &Value) -> Value {
    let payload = env.payload(SESSION, event, more).to_string();
    let mut command = env.codex_command(&["hook", event, "--tdd", "--plugin"]);
    command.env("CLAUDE_PROJECT_DIR", env.repository());
    let output = tests::feed(&mut command, payload.as_bytes()).wait_with_output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap_or(Value::Null)
}

fn an_edit(env: &PhaseEnv) -> Value {
    let path = env.repository().join("src/lib.rs");
    json!({ "tool_name": "Write", "tool_input": { "file_path": path, "content": "pub fn cheat() {}\n" } })
}

#[test]
fn an_agent_cannot_make_the_plugins_guard_stand_back() {
    let env = PhaseEnv::scripted();
    plugin_hook(
        &env,
        "UserPromptSubmit",
        &json!({ "prompt": "/codex:tdd start" }),
    );
    let denied = |env: &PhaseEnv| plugin_hook(env, "PreToolUse", &an_edit(env)) != Value::Null;
    assert!(denied(&env));
    // A hook in the settings that looks like ours and does nothing.
    let hook = json!({ "type": "command", "command": "true claude-codex hook PreToolUse --tdd" });
    let settings = json!({ "hooks": { "PreToolUse": [{ "matcher": "*", "hooks": [hook] }] } });
    env.write(".claude/settings.local.json", &settings.to_string());
    assert!(denied(&env));
}

#[test]
fn where_the_settings_have_the_hooks_the_plugins_do_nothing() {
    let env = PhaseEnv::scripted();
    env.text(&["init", "--tdd"]);
    env.commit_all("hooks");
    let start = json!({ "prompt": "/tdd start" });
    assert_eq!(plugin_hook(&env, "UserPromptSubmit", &start), Value::Null);
    env.prompt("/tdd start");
    assert_eq!(env.phase(), Phase::Requirements);
    assert_eq!(plugin_hook(&env, "PreToolUse", &an_edit(&env)), Value::Null);
    assert_eq!(plugin_hook(&env, "Stop", &json!({})), Value::Null);
}

#[test]
fn the_real_claude_code_with_nothing_but_the_plugin() {
    let Some(claude) = ScriptedClaude::start(vec![]) else {
        return;
    };
    let mut env = PhaseEnv::scripted();
    claude.install(&mut env);
    let programs = std::path::Path::new(crate::PROGRAM).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    env.set("PATH", format!("{}:{path}", programs.display()));
    let succeeds = |words: &[&str]| {
        let output = env.command(&claude.program).args(words).output().unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
    };
    let clone = project_root();
    succeeds(&["plugin", "marketplace", "add", clone.to_str().unwrap()]);
    succeeds(&["plugin", "install", "codex@codex", "--scope=user"]);
    let file = env.path("home/.claude.json");
    let mut state: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    state["hasCompletedOnboarding"] = true.into();
    std::fs::write(&file, state.to_string()).unwrap();

    let session = uuid::Uuid::new_v4().to_string();
    let says = |how: &str, prompt: &str| {
        succeeds(&[
            "-p",
            "--allowedTools",
            "Write",
            "Bash",
            how,
            &session,
            "--",
            prompt,
        ]);
    };
    let phase = || {
        let store = env.store();
        let mut rows = store.read_now(|r| r.phases_of_session(&session)).unwrap();
        rows.pop().expect("there is a phase").phase
    };
    says("--session-id", "/codex:tdd start");
    assert_eq!(phase(), Phase::Requirements);
    let library = env.repository().join("src/lib.rs");
    claude.model.add(Rule::when(
        "CHEAT",
        vec![
            Answer::tool(
                "Write",
                json!({ "file_path": library, "content": "pub fn cheat() {}\n" }),
            ),
            Answer::text("DONE"),
        ],
    ));
    says("--resume", "CHEAT");
    assert_eq!(env.read("src/lib.rs"), LIBRARY);
    says("--resume", "/codex:tdd confirm requirements");
    assert_eq!(phase(), Phase::Interfaces);
}

//! The agent program: one that is missing is refused before anything is made, and `doctor` says so.

use serde_json::{Value, json};
use tests::{TestEnv, error};

use crate::support::{env_with_agent, traces};

#[test]
fn a_missing_program_is_refused_before_anything_is_made() {
    let mut env = env_with_agent();
    let before = traces(&env);
    for command in ["no-such-agent --flag", "/no/such/agent"] {
        env.set("CODEX_AGENT_COMMAND", command);
        let refused = error(&env.codex(&["code", "Try", "--json"]));
        assert_eq!(refused["code"], "AGENT_FAILED", "{refused}");
        let message = refused["message"].as_str().unwrap();
        assert!(message.contains("was not found"), "{message}");
        assert_eq!(env.json(&["list", "--all"]), json!([]));
        assert_eq!(traces(&env), before);
        let checked = env.codex(&["doctor", "--json"]);
        assert!(!checked.status.success(), "{checked:?}");
        let checks: Value = serde_json::from_slice(&checked.stdout).unwrap();
        let agent = checks.as_array().unwrap().iter();
        let agent = agent
            .clone()
            .find(|check| check["name"] == "agent")
            .unwrap();
        assert_eq!(agent["status"], "error", "{agent}");
    }
}

#[test]
fn a_program_that_is_not_executable_is_not_called_missing() {
    let mut env = env_with_agent();
    let program = env.path("my-agent");
    std::fs::write(&program, "#!/bin/sh\n").unwrap();
    let before = traces(&env);
    env.set("CODEX_AGENT_COMMAND", format!("'{}'", program.display()));
    let refused = error(&env.codex(&["code", "Try", "--json"]));
    assert_eq!(refused["code"], "AGENT_FAILED", "{refused}");
    let message = refused["message"].as_str().unwrap();
    assert!(message.ends_with("is not executable"), "{message}");
    let hint = refused["hint"].as_str().unwrap();
    assert!(hint.contains("`chmod +x`"), "{hint}");
    assert_eq!(traces(&env), before);
    let checks = env.codex(&["doctor", "--json"]);
    let checks = String::from_utf8_lossy(&checks.stdout).into_owned();
    assert!(checks.contains("is not executable"), "{checks}");
}

#[test]
fn doctor_says_whether_claude_code_can_log_in_and_no_more() {
    let mut env = env_with_agent();
    env.unset("CODEX_AGENT_COMMAND");
    env.program("claude", "#!/bin/sh\necho '2.1.999 (Claude Code)'\n");
    let login = |env: &TestEnv| {
        let checks: Value =
            serde_json::from_slice(&env.codex(&["doctor", "--json"]).stdout).unwrap();
        let checks = checks.as_array().unwrap();
        let found = checks.iter().find(|check| check["name"] == "login");
        found.unwrap().clone()
    };
    let unknown = login(&env);
    assert_eq!(unknown["status"], "warning", "{unknown}");
    assert!(
        unknown["message"].as_str().unwrap().contains("unknown"),
        "{unknown}"
    );
    let account = json!({ "oauthAccount": { "emailAddress": "me@example.com" } });
    std::fs::write(env.home().join(".claude.json"), account.to_string()).unwrap();
    let found = login(&env);
    assert_eq!(found["status"], "ok", "{found}");
    assert!(!found.to_string().contains("example.com"), "{found}");
    env.set("ANTHROPIC_API_KEY", "sk-ant-secret-value");
    let found = login(&env);
    assert_eq!(found["message"], "Claude Code uses ANTHROPIC_API_KEY");
}

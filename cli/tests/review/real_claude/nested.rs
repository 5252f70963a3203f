//! An agent that runs `claude -p` itself: the nested session inherits the agent's environment and the user's hooks.

use scripted_model::{Answer, Rule};
use serde_json::json;
use shared::model::TakenBy;
use tests::{binary, text};

use super::ClaudeEnv;

#[test]
fn a_nested_claude_neither_takes_messages_nor_acts_as_the_agent() {
    let Some(claude) = std::env::var_os("CODEX_TEST_CLAUDE") else {
        eprintln!("SKIPPED: CODEX_TEST_CLAUDE does not name a claude binary");
        return;
    };
    let claude = claude.to_str().unwrap().to_owned();
    // Claude Code refuses a plain `sleep`; the loop ends when the test has sent its message.
    let nested = format!(
        "until [ -e go ]; do sleep 0.1; done; rm go; env -u CLAUDECODE {claude} -p NESTED --mcp-config \"$CODEX_MCP_CONFIG\" --allowedTools mcp__codex-coding__create_pr </dev/null"
    );
    let rules = vec![
        Rule::when(
            "BEGIN",
            vec![Answer::bash(&nested), Answer::text("FINISHED")],
        )
        .once(),
        Rule::when(
            "NESTED",
            vec![
                Answer::tool(
                    "mcp__codex-coding__create_pr",
                    json!({ "title": "mine", "description": "not" }),
                ),
                Answer::text("NESTED IS DONE"),
            ],
        )
        .once(),
    ];
    let Some(env) = ClaudeEnv::new(rules) else {
        return;
    };
    env.allow("Bash");
    // Hooks of the user's own, as the documentation recommends: the nested session has them too.
    let hook = |event: &str| {
        let command = format!("'{}' hook {event}", binary("claude-codex").display());
        json!([{ "hooks": [{ "type": "command", "command": command }] }])
    };
    let settings =
        json!({ "hooks": { "SessionStart": hook("SessionStart"), "Stop": hook("Stop") } });
    std::fs::create_dir_all(env.path("home/.claude")).unwrap();
    std::fs::write(env.path("home/.claude/settings.json"), settings.to_string()).unwrap();

    let coder = env.coder("BEGIN");
    env.until_shows(&coder, "until");
    let before = env.instance(&coder);
    text(&env.send(&coder, "for the coder alone"));
    std::fs::write(before.worktree_path.join("go"), "").unwrap();
    env.until_taken(&coder);
    let message = env.messages(&coder).remove(0);
    let nested: Vec<String> = env
        .claude
        .model
        .conversations()
        .iter()
        .map(|request| request["messages"].to_string())
        .filter(|messages| messages.contains("NESTED") && !messages.contains("BEGIN"))
        .collect();
    assert!(nested.len() > 1, "the nested session called no tool");
    assert!(
        !nested
            .iter()
            .any(|messages| messages.contains(message.id.as_str())),
        "the nested session was told what its parent is owed"
    );
    let last = nested.last().unwrap();
    assert!(last.contains("ANOTHER_SESSION"), "{last}");
    assert_eq!(message.taken_by, Some(TakenBy::StopHook));
    let after = env.instance(&coder);
    assert_eq!(after.claude_session_id, before.claude_session_id);
    assert_eq!(after.server, before.server);
}

/// Runs another Claude Code from an agent's shell by these words, and has it call a tool as the agent.
fn is_refused(words: &str) {
    let rules = vec![
        Rule::when("BEGIN", vec![Answer::bash(words), Answer::text("FINISHED")]).once(),
        Rule::when(
            "NESTED",
            vec![
                Answer::tool(
                    "mcp__codex-coding__create_pr",
                    json!({ "title": "mine", "description": "not" }),
                ),
                Answer::text("NESTED IS DONE"),
            ],
        )
        .once(),
    ];
    let Some(env) = ClaudeEnv::new(rules) else {
        return;
    };
    env.allow("Bash");
    let hook = format!("'{}' hook Stop", binary("claude-codex").display());
    let settings =
        json!({ "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": hook }] }] } });
    std::fs::create_dir_all(env.path("home/.claude")).unwrap();
    std::fs::write(env.path("home/.claude/settings.json"), settings.to_string()).unwrap();
    // It waits until whoever started it has ended, and tells when it is done.
    let script = format!(
        "until [ -e go ]; do sleep 0.1; done\nenv -u CLAUDECODE '{}' -p NESTED --mcp-config \"$CODEX_MCP_CONFIG\" --allowedTools mcp__codex-coding__create_pr </dev/null\ntouch done\n",
        env.claude.program.display()
    );
    std::fs::write(env.path("home/nested.sh"), script).unwrap();

    let coder = env.coder("BEGIN");
    let before = env.instance(&coder);
    env.until("it has begun", || {
        !env.claude.model.conversations().is_empty()
    });
    std::fs::write(before.worktree_path.join("go"), "").unwrap();
    env.until("the nested session has ended", || {
        before.worktree_path.join("done").exists()
    });
    let conversations = env.claude.model.conversations();
    let nested = conversations
        .iter()
        .map(|request| request["messages"].to_string())
        .rfind(|messages| messages.contains("NESTED") && !messages.contains("BEGIN"));
    let nested = nested.unwrap();
    assert!(nested.contains("ANOTHER_SESSION"), "{words}: {nested}");
    let after = env.instance(&coder);
    assert_eq!(after.claude_session_id, before.claude_session_id, "{words}");
    assert_eq!(after.server, before.server, "{words}");
}

#[test]
fn a_claude_that_an_agent_left_in_the_background_is_not_the_agent() {
    is_refused("(setsid sh \"$HOME/nested.sh\" >/dev/null 2>&1 &); true");
}

#[test]
fn nor_is_one_that_outlived_the_shell_that_started_it() {
    is_refused("(nohup sh \"$HOME/nested.sh\" >/dev/null 2>&1 &); true");
}

#[test]
fn nor_is_one_with_the_agents_server_but_without_its_environment() {
    is_refused("env -u CODEX_INSTANCE_ID sh \"$HOME/nested.sh\"");
}

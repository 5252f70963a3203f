//! Real agents that wait for a person: what they said is shown, and what they left undone is mentioned to them once.

use scripted_model::{Answer, Rule};
use serde_json::Value;
use shared::model::InstanceId;

use super::ClaudeEnv;

fn attention(env: &ClaudeEnv, id: &InstanceId) -> Value {
    let listed = env.json(&["list"]);
    let rows = listed.as_array().unwrap();
    let row = rows.iter().find(|row| row["id"] == id.as_str());
    row.map_or(Value::Null, |row| row["attention"].clone())
}

fn until_it_asks(env: &ClaudeEnv, id: &InstanceId, said: &str) {
    env.until("it waits with what it said", || {
        let attention = attention(env, id);
        attention["kind"] == "idle" && attention["said"] == said
    });
}

#[test]
fn an_agent_that_ends_its_turn_with_a_question_waits_with_its_words() {
    let rules = vec![
        Rule::when(
            "BEGIN",
            vec![Answer::text("I looked.\n\nPostgres or SQLite?")],
        )
        .once(),
        Rule::when("Take SQLite", vec![Answer::text("And which version?")]).once(),
    ];
    let Some(env) = ClaudeEnv::new(rules) else {
        return;
    };
    let id = env.coder("BEGIN");
    until_it_asks(&env, &id, "Postgres or SQLite?");
    let shown = env.text(&["list"]);
    assert!(
        shown.contains("waiting for a person: idle: Postgres"),
        "{shown}"
    );
    let shown = env.text(&["show", id.as_str()]);
    assert!(
        shown.contains("waits for you: Postgres or SQLite?"),
        "{shown}"
    );
    env.send(&id, "Take SQLite");
    until_it_asks(&env, &id, "And which version?");
}

#[test]
fn an_agent_that_leaves_files_uncommitted_is_reminded_once() {
    let rules = vec![
        Rule::when(
            "BEGIN",
            vec![Answer::bash("echo hello > work.txt"), Answer::text("DONE")],
        )
        .once(),
        Rule::when(
            "Reminder by claude-codex",
            vec![Answer::text("May I commit to this branch?")],
        ),
    ];
    let Some(env) = ClaudeEnv::new(rules) else {
        return;
    };
    env.allow("Bash");
    let id = env.coder("BEGIN");
    until_it_asks(&env, &id, "May I commit to this branch?");
    // Claude Code repeats it for itself, as an error of the hook.
    let reminder = "Stop hook feedback:\\nReminder by claude-codex";
    assert_eq!(env.told(reminder), 1);
}

/// Has events written to a file, and returns a look at those of a kind, without a command of ours that would notice them.
fn told(env: &ClaudeEnv) -> impl Fn(&str) -> Vec<Value> + use<> {
    let file = env.path("told");
    let record = format!("#!/bin/sh\ncat >> '{}'; echo >> '{0}'\n", file.display());
    let record = env.program("record", &record);
    let folder = env.home().join(".config/claude-codex");
    std::fs::create_dir_all(&folder).unwrap();
    let settings = format!("[notify]\ncommand = [\"{}\"]\n", record.display());
    std::fs::write(folder.join("config.toml"), settings).unwrap();
    move |kind| {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let events = text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        events
            .filter(|event: &Value| event["attention"]["kind"] == kind)
            .collect()
    }
}

#[test]
fn a_question_at_the_end_of_a_turn_is_told_outside_the_page() {
    let rules = vec![Rule::when("BEGIN", vec![Answer::text("Postgres or SQLite?")]).once()];
    let Some(env) = ClaudeEnv::new(rules) else {
        return;
    };
    let told = told(&env);
    let id = env.coder("BEGIN");
    env.until("the person is told", || !told("idle").is_empty());
    let event = &told("idle")[0];
    assert_eq!(event["instance"], id.as_str(), "{event}");
    assert_eq!(event["attention"]["said"], "Postgres or SQLite?", "{event}");
}

/// No Stop hook runs then.
#[test]
fn a_claude_that_is_not_logged_in_or_cannot_reach_the_model_is_told() {
    for offline in [false, true] {
        let Some(mut env) = ClaudeEnv::new(Vec::new()) else {
            return;
        };
        if offline {
            env.set("ANTHROPIC_BASE_URL", "http://127.0.0.1:9");
            env.set("CLAUDE_CODE_MAX_RETRIES", "0");
        } else {
            env.unset("ANTHROPIC_API_KEY");
            env.unset("ANTHROPIC_AUTH_TOKEN");
        }
        let told = told(&env);
        let id = env.coder("BEGIN");
        env.until("the person is told", || !told("idle").is_empty());
        let event = &told("idle")[0];
        assert_eq!(event["instance"], id.as_str(), "{event}");
        let said = event["attention"]["said"].as_str().unwrap_or_default();
        let expected = if offline { "API" } else { "Not logged in" };
        assert!(said.contains(expected), "{event}");
    }
}

//! `demo --agent claude`: the demo with the program that people have.

use std::process::Command;

use scripted_model::{Answer, Rule, last_user_text};
use serde_json::{Value, json};
use tests::{binary, text};

use super::ClaudeEnv;

fn tool(server: &str, name: &str, input: Value) -> Answer {
    Answer::tool(&format!("mcp__codex-{server}__{name}"), input)
}

fn rules() -> Vec<Rule> {
    let ask = || tool("coding", "request_review", json!({ "description": "look" }));
    vec![
        Rule::when(
            "plan discount codes",
            vec![
                tool("planning", "analyze_repository", json!({ "scope": "codebase", "depth": "shallow" })),
                tool(
                    "planning",
                    "create_task",
                    json!({ "taskTitle": "Discount codes", "taskDescription": "CODE IT", "priority": "high" }),
                ),
                Answer::text("PLANNED"),
            ],
        )
        .once(),
        Rule::when(
            "The review asked of you",
            vec![
                tool("review", "request_changes", json!({ "feedback": "NOT YET", "findings": [] })),
                Answer::text("SENT BACK"),
            ],
        )
        .once(),
        Rule::when(
            "The review asked of you",
            vec![
                tool("review", "create_pr", json!({ "title": "Discount codes", "description": "Done." })),
                Answer::text("APPROVED"),
            ],
        )
        .once(),
        // Only what a coder may do without asking.
        Rule::when(
            "CODE IT",
            vec![
                Answer::bash("git mv README.md GUIDE.md"),
                Answer::bash("git commit -q -m 'Discount codes'"),
                ask(),
                Answer::text("ASKED"),
            ],
        )
        .once(),
        Rule::when(
            "NOT YET",
            vec![
                Answer::bash("git mv GUIDE.md MANUAL.md"),
                Answer::bash("git commit -q -m 'Better'"),
                ask(),
                Answer::text("ASKED AGAIN"),
            ],
        )
        .once(),
    ]
}

#[test]
fn the_demo_with_claude_code_ends_in_a_merge() {
    let Some(env) = ClaudeEnv::new(rules()) else {
        return;
    };
    let folder = |name: &str| {
        let path = env.path(name);
        std::fs::create_dir_all(&path).unwrap();
        path
    };
    let output = Command::new(binary("claude-codex"))
        .args(["demo", "--agent", "claude", "--json"])
        .env_clear()
        .envs(env.claude.model.claude_variables())
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("CODEX_CLAUDE", &env.claude.program)
        .env("HOME", env.path("home"))
        .env("TMPDIR", folder("tmp"))
        .env("TMUX_TMPDIR", folder("tmux"))
        .env("LANG", "C.UTF-8")
        .output()
        .unwrap();
    let summary: Value = serde_json::from_str(&text(&output)).unwrap();
    assert_eq!(summary["pullRequest"]["state"], "merged", "{summary}");
    assert_eq!(summary["pullRequest"]["title"], "Discount codes");
    let requests = env.claude.model.conversations();
    let told = |request: &Value| last_user_text(request).contains("NOT YET");
    assert!(requests.iter().any(told), "the coder never heard of it");
    let left: Vec<_> = std::fs::read_dir(folder("tmp"))
        .unwrap()
        .flatten()
        .collect();
    assert!(
        !left.iter().any(|entry| entry
            .file_name()
            .to_string_lossy()
            .starts_with("claude-codex-demo")),
        "{left:?}"
    );
}

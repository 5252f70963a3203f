//! The Claude Code plugin: installed into a fresh home, with and without the programs on PATH.

use std::process::{Command, Output};

use scripted_model::{Answer, Rule};
use serde_json::{Value, json};
use shared::model::InstanceId;
use tests::{Server, project_root, until_or};

use super::ClaudeEnv;

impl ClaudeEnv {
    /// Claude Code as a person runs it, with the programs on PATH or without.
    fn claude_with(&self, programs: bool) -> Command {
        let mut command = self.command(&self.claude.program);
        if programs {
            command.env("PATH", with_programs());
        } else {
            command.env("PATH", std::env::var("PATH").unwrap());
        }
        command
    }

    fn install_plugin(&self) {
        let marketplace = project_root();
        let marketplace = marketplace.to_str().unwrap();
        for words in [
            ["marketplace", "add", marketplace],
            ["install", "codex@codex", "--scope=user"],
        ] {
            let output = self.claude_with(false).arg("plugin").args(words).output();
            succeeded(&output.unwrap());
        }
        // That made the file without which a launch answers the questions of a first start.
        let file = self.path("home/.claude.json");
        let mut state: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        state["hasCompletedOnboarding"] = true.into();
        std::fs::write(&file, state.to_string()).unwrap();
    }
}

/// The `PATH` of somebody who has installed the programs.
fn with_programs() -> String {
    let path = std::env::var("PATH").unwrap();
    let folder = Server::Coding.path();
    let folder = folder.parent().unwrap().to_str().unwrap();
    assert!(!path.contains(folder));
    format!("{folder}:{path}")
}

fn succeeded(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn its_files_are_what_claude_code_asks_for() {
    let Some(env) = ClaudeEnv::new(Vec::new()) else {
        return;
    };
    for folder in [project_root(), project_root().join("plugin")] {
        let mut validate = env.claude_with(false);
        validate
            .args(["plugin", "validate", "--strict"])
            .arg(folder);
        succeeded(&validate.output().unwrap());
    }
}

#[test]
fn its_tools_are_called_and_feedback_arrives_through_its_hook() {
    let task = json!({ "taskTitle": "Through the plugin", "taskDescription": "It works.", "priority": "low" });
    let rules = vec![
        Rule::when(
            "PLAN-IT",
            vec![
                Answer::tool("mcp__plugin_codex_codex-planning__create_task", task),
                Answer::text("PLANNED"),
            ],
        ),
        Rule::when(
            "DO-IT",
            vec![
                Answer::bash("echo hello > work.txt && git add work.txt && git commit -q -m work"),
                Answer::tool(
                    "mcp__plugin_codex_codex-coding__request_review",
                    json!({ "description": "look" }),
                ),
                Answer::text("ASKED"),
            ],
        )
        .once(),
        Rule::when(
            "The review asked of you",
            vec![
                Answer::tool(
                    "mcp__codex-review__request_changes",
                    json!({ "feedback": "FEEDBACK by the hook", "findings": [] }),
                ),
                Answer::text("JUDGED"),
            ],
        ),
    ];
    let Some(env) = ClaudeEnv::new(rules) else {
        return;
    };
    env.install_plugin();
    env.git(&["switch", "-q", "-c", "my-work"]);
    let session = uuid::Uuid::new_v4().to_string();
    let says = |how, prompt| {
        let mut command = env.claude_with(true);
        command.args(["-p", how, &session, "--allowedTools", "Bash"]);
        command.args([
            "mcp__plugin_codex_codex-planning",
            "mcp__plugin_codex_codex-coding",
        ]);
        succeeded(&command.args(["--", prompt]).output().unwrap())
    };
    says("--session-id", "PLAN-IT");
    assert_eq!(env.json(&["tasks"])[0]["title"], "Through the plugin");
    // Offered from the beginning, not only after a search for tools.
    let conversations = env.claude.model.conversations();
    let planning = conversations
        .iter()
        .find(|request| request["messages"].to_string().contains("PLAN-IT"));
    let offered = planning.unwrap()["tools"].as_array().unwrap();
    let ours = offered
        .iter()
        .find(|tool| tool["name"] == "mcp__plugin_codex_codex-planning__analyze_repository");
    assert!(
        ours.is_some_and(|tool| tool["defer_loading"] != true),
        "{offered:?}"
    );
    says("--resume", "DO-IT");
    let listed = env.json(&["list", "--all"]);
    let coder = listed
        .as_array()
        .unwrap()
        .iter()
        .find(|agent| agent["type"] == "coding");
    let coder = coder.unwrap()["id"].as_str().unwrap().parse().unwrap();
    let reviewer: InstanceId = "review-my-work-a1-r1".parse().unwrap();
    until_or(
        "it is reviewed",
        || !env.messages(&coder).is_empty(),
        || env.screen(&reviewer),
    );
    says("--resume", "GO ON");
    let message = env.messages(&coder).remove(0);
    // Without a terminal Claude Code also repeats what a hook has answered as a note of its own.
    let handed_over = format!(r"Stop hook feedback:\n[claude-codex {}]", message.id);
    assert_eq!(env.told(&handed_over), 1, "{message:?}");
}

#[test]
fn an_agent_that_is_launched_has_its_own_server_alone() {
    // The first requests may go without the tools of servers that are late.
    let mut answers: Vec<Answer> = (0..40).map(|_| Answer::bash("true")).collect();
    answers.push(Answer::text("DONE"));
    let Some(mut env) = ClaudeEnv::new(vec![Rule::when("WORK-HERE", answers)]) else {
        return;
    };
    env.install_plugin();
    env.set("PATH", with_programs());
    env.text(&["code", "WORK-HERE"]);
    let offered = |name: &str| {
        let conversations = env.claude.model.conversations();
        let mut tools = conversations
            .iter()
            .flat_map(|request| request["tools"].as_array().into_iter().flatten());
        tools.any(|tool| {
            tool["name"]
                .as_str()
                .is_some_and(|own| own.starts_with(name))
        })
    };
    env.until("its own tools are offered", || {
        offered("mcp__codex-coding__")
    });
    env.until("the turn is over", || {
        env.told("DONE") > 0 || {
            let calls = env.claude.model.conversations();
            calls.len() > 40
        }
    });
    assert!(!offered("mcp__plugin_"));
}

#[test]
fn without_the_programs_it_says_what_to_do() {
    let Some(env) = ClaudeEnv::new(vec![Rule::when("HELLO", vec![Answer::text("HI")])]) else {
        return;
    };
    env.install_plugin();
    let mut session = env.claude_with(false);
    session.args([
        "-p",
        "--verbose",
        "--output-format",
        "stream-json",
        "--",
        "HELLO",
    ]);
    let printed = succeeded(&session.output().unwrap());
    assert!(
        printed.contains("run scripts/install in a clone of Claude Codex"),
        "{printed}"
    );
    assert!(printed.contains("HI"), "{printed}");
}

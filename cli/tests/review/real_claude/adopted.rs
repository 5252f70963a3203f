//! A session that nobody launched: a person runs `claude` where `claude-codex init` was run.

use std::time::{Duration, Instant};

use scripted_model::{Answer, Rule};
use serde_json::json;
use shared::model::{InstanceId, Origin, Verdict};
use tests::{Terminal, until_or};

use super::ClaudeEnv;

/// Moves the cursor of a list to the line that has these words.
fn go_to(terminal: &Terminal<'_>, words: &str) {
    // One step at a time: keys that come too soon are lost, and beyond its end a list begins again.
    let mut pressed: Option<(String, Instant)> = None;
    let is_there = || {
        let screen = terminal.screen();
        let line = screen.lines().find(|line| line.contains('❯'));
        let chosen = line.unwrap_or_default().to_owned();
        if chosen.contains(words) {
            return true;
        }
        let moved = pressed
            .as_ref()
            .is_none_or(|(before, at)| *before != chosen || at.elapsed() > Duration::from_secs(2));
        if moved {
            std::thread::sleep(Duration::from_millis(200));
            terminal.press(&["Down"]);
            pressed = Some((chosen, Instant::now()));
        }
        false
    };
    until_or(words, is_there, || terminal.screen());
}

#[test]
fn a_session_of_a_persons_own_is_reviewed_like_any_other() {
    let rules = vec![
        Rule::when(
            "The review asked of you",
            vec![
                Answer::tool(
                    "mcp__codex-review__request_changes",
                    json!({ "feedback": "FEEDBACK for a person's own session", "findings": [] }),
                ),
                Answer::text("JUDGED"),
            ],
        ),
        Rule::when(
            "BEGIN",
            vec![
                Answer::bash("echo hello > work.txt && git add work.txt && git commit -q -m work"),
                Answer::tool(
                    "mcp__codex-coding__request_review",
                    json!({ "description": "look" }),
                ),
                Answer::text("ASKED"),
            ],
        )
        .once(),
    ];
    let Some(env) = ClaudeEnv::new(rules) else {
        return;
    };
    env.text(&["init"]);
    env.commit_all("register the servers");
    env.git(&["switch", "-q", "-c", "my-work"]);
    // Somebody who has used Claude Code here before.
    let known = json!({ "hasCompletedOnboarding": true,
        "projects": { env.path("repo").to_str().unwrap(): { "hasTrustDialogAccepted": true } } });
    std::fs::write(env.path("home/.claude.json"), known.to_string()).unwrap();
    std::fs::create_dir_all(env.path("home/.claude")).unwrap();
    let settings = json!({ "permissions": { "defaultMode": "default", "allow": ["Bash", "mcp__codex-coding__*"] } });
    std::fs::write(env.path("home/.claude/settings.json"), settings.to_string()).unwrap();

    let claude = env.claude.program.to_str().unwrap();
    let terminal = Terminal::sized(&env, 120, 40, &[claude]);
    // All three are ticked already.
    terminal.until_shows("new MCP servers found");
    go_to(&terminal, "Enable selected");
    terminal.press(&["Enter"]);
    terminal.until_shows("Make auto mode your default");
    go_to(&terminal, "No, keep");
    terminal.press(&["Enter"]);
    env.until("its prompt is shown", || {
        let screen = terminal.screen();
        screen.contains("Claude Code v") && !screen.contains("auto mode")
    });
    terminal.press(&["-l", "BEGIN"]);
    terminal.until_shows("BEGIN");
    terminal.press(&["Enter"]);

    let mut found: Option<InstanceId> = None;
    env.until("it is adopted", || {
        let listed = env.json(&["list"]);
        let coder = listed
            .as_array()
            .unwrap()
            .iter()
            .find(|agent| agent["type"] == "coding");
        found = coder.map(|agent| agent["id"].as_str().unwrap().parse().unwrap());
        found.is_some()
    });
    let coder = found.unwrap();
    env.until_taken(&coder);
    let instance = env.instance(&coder);
    assert_eq!(instance.origin, Origin::Adopted);
    assert_eq!(instance.branch_name.as_deref(), Some("my-work"));
    let review = env.reviews(&coder).remove(0);
    assert_eq!(review.verdict, Verdict::ChangesRequested);
    let id = env.messages(&coder)[0].id.clone();
    env.until("the model has it", || env.told(id.as_str()) > 0);
    env.until_gone(review.review_instance_id.as_ref().unwrap());
    let listed = env.json(&["list"]);
    assert_eq!(listed.as_array().unwrap().len(), 1);
}

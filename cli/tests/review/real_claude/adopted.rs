//! A session that nobody launched: a person runs `claude` where `claude-codex init` was run.

use std::time::{Duration, Instant};

use scripted_model::{Answer, Rule};
use serde_json::json;
use shared::model::{InstanceId, Origin, Verdict};
use tests::{Terminal, until_or};

use super::ClaudeEnv;

/// What a person presses at a screen; nothing if there is nothing to do but wait.
fn keys_for(screen: &str) -> Option<Vec<&'static str>> {
    let chosen = screen.lines().find(|line| line.contains('❯'))?;
    let choose = |words| {
        let key = if chosen.contains(words) {
            "Enter"
        } else {
            "Down"
        };
        Some(vec![key])
    };
    if screen.contains("new MCP servers found") {
        // All three are ticked already.
        choose("Enable selected")
    } else if screen.contains("Make auto mode your default") {
        choose("No, keep")
    } else if chosen.contains("BEGIN") {
        Some(vec!["Enter"])
    } else if screen.contains("Claude Code v") {
        Some(vec!["-l", "BEGIN"])
    } else {
        None
    }
}

/// Does as a person does until something holds: looks at the screen, and answers what it shows.
fn answer_until(terminal: &Terminal<'_>, mut holds: impl FnMut() -> bool) {
    // A screen is answered once, and again when nothing came of it for some time: a busy program loses keys.
    let mut answered: Option<(String, Instant)> = None;
    let done = || {
        if holds() {
            return true;
        }
        let screen = terminal.screen();
        let lost = |(before, at): &(String, Instant)| {
            *before != screen || at.elapsed() > Duration::from_secs(2)
        };
        if answered.as_ref().is_none_or(lost)
            && let Some(keys) = keys_for(&screen)
        {
            terminal.press(&keys);
            answered = Some((screen, Instant::now()));
        }
        false
    };
    until_or("the model has the prompt", done, || terminal.screen());
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
    answer_until(&terminal, || env.told("BEGIN") > 0);

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

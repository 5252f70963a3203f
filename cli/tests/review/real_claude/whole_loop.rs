//! Two real agents, from the first line of work to a merged pull request.

use scripted_model::{Answer, Rule, last_user_text};
use serde_json::{Value, json};
use shared::model::{Status, TakenBy, Verdict};

use super::ClaudeEnv;

/// Every kind of character that has a meaning to somebody on the way.
const FEEDBACK: &str = "FEEDBACK: /exit !ls #x @README.md\n- ünï ✓ 漢字 🦀 \\ $HOME `x` \"q\" 's'";

fn ask_for_review() -> Answer {
    Answer::tool(
        "mcp__codex-coding__request_review",
        json!({ "description": "look" }),
    )
}

fn rules() -> Vec<Rule> {
    let work = "echo hello > work.txt && git add work.txt && git commit -q -m work";
    let better = "echo better > work.txt && git commit -q -a -m better";
    vec![
        Rule::when(
            "The review asked of you",
            vec![
                Answer::tool(
                    "mcp__codex-review__request_changes",
                    json!({ "feedback": FEEDBACK, "findings": [
                        { "file": "work.txt", "line": 1, "severity": "major", "message": "say it better" }
                    ] }),
                ),
                Answer::text("SENT BACK"),
            ],
        )
        .once(),
        Rule::when(
            "The review asked of you",
            vec![
                Answer::tool(
                    "mcp__codex-review__create_pr",
                    json!({ "title": "Say it better", "description": "Checked." }),
                ),
                Answer::text("APPROVED"),
            ],
        )
        .once(),
        Rule::when(
            "BEGIN",
            vec![Answer::bash(work), ask_for_review(), Answer::text("ASKED")],
        )
        .once(),
        Rule::when(
            "FEEDBACK:",
            vec![Answer::bash(better), ask_for_review(), Answer::text("ASKED AGAIN")],
        )
        .once(),
    ]
}

#[test]
fn from_the_first_commit_through_two_reviews_to_a_merge() {
    let Some(env) = ClaudeEnv::new(rules()) else {
        return;
    };
    env.allow("Bash");
    let coder = env.coder("BEGIN");
    env.until("it is published", || {
        env.status(&coder) == Status::PrCreated
    });

    // The feedback arrived once, byte for byte.
    let messages = env.messages(&coder);
    let message = &messages[0];
    assert!(message.body.contains(FEEDBACK), "{}", message.body);
    assert!(message.body.contains("work.txt:1"), "{}", message.body);
    let marks = message.id.as_str();
    match message.taken_by {
        Some(TakenBy::Transcript) => {
            assert_eq!(env.told(marks), 1);
            let requests = env.claude.model.conversations();
            assert!(
                requests
                    .iter()
                    .any(|request| last_user_text(request) == message.body),
                "not byte for byte"
            );
        }
        // Claude Code itself tells the model of a block twice: as feedback, and as a note about the hook.
        other => {
            assert_eq!(other, Some(TakenBy::StopHook));
            assert_eq!(
                env.told(&format!("Stop hook feedback:\\n[claude-codex {marks}]")),
                1
            );
        }
    }

    let verdicts: Vec<Verdict> = env
        .reviews(&coder)
        .iter()
        .map(|review| review.verdict)
        .collect();
    assert_eq!(verdicts, [Verdict::ChangesRequested, Verdict::Approved]);
    for review in env.reviews(&coder) {
        env.until_gone(review.review_instance_id.as_ref().unwrap());
    }

    let pulls: Value = serde_json::from_str(&env.text(&["pr", "list", "--json"])).unwrap();
    assert_eq!(pulls.as_array().unwrap().len(), 1);
    assert_eq!(pulls[0]["title"], "Say it better");
    env.text(&["pr", "merge", "1"]);
    assert_eq!(env.git(&["show", "main:work.txt"]), "better");
    assert_eq!(env.status(&coder), Status::PrMerged);
}

//! What is not published, and that nothing changes then.

use serde_json::{Value, json};
use shared::model::{InstanceId, Status, Verdict};
use tests::{AgentEnv, Server};

fn refused(env: &AgentEnv, coder: &InstanceId, code: &str) -> Value {
    let before = env.status(coder);
    let answer = env.create_pr(coder, "Title");
    assert_eq!(answer["error"], true, "{answer}");
    let text = answer["text"].as_str().unwrap();
    assert!(text.contains(code), "{code}: {answer}");
    assert_eq!(env.status(coder), before);
    assert_eq!(env.json(&["pr", "list", "--state", "all"]), json!([]));
    answer
}

#[test]
fn what_is_not_committed_or_not_there() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&[]);
    refused(&env, &coder, "NOTHING_TO_PUBLISH");
    env.tell(&coder, &json!({ "write": "loose" }));
    env.until("a file", || !env.log(&coder, "written").is_empty());
    let answer = refused(&env, &coder, "WORKTREE_DIRTY");
    assert!(answer["text"].as_str().unwrap().contains("work.txt"));
    env.commit(&coder, "done");

    env.git(&["merge", "-q", &format!("codex/{coder}")]);
    refused(&env, &coder, "BRANCH_MERGED");
    env.commit(&coder, "more");
    env.git(&["branch", "-q", "-m", "main", "trunk"]);
    refused(&env, &coder, "BASE_NOT_FOUND");
    env.git(&["branch", "-q", "-m", "trunk", "main"]);

    let worktree = env.instance(&coder).worktree_path;
    let worktree = worktree.to_str().unwrap();
    env.git(&["-C", worktree, "switch", "-q", "-c", "elsewhere"]);
    refused(&env, &coder, "NO_BRANCH");
    env.git(&["-C", worktree, "switch", "-q", "--detach"]);
    refused(&env, &coder, "NO_BRANCH");
    env.git(&["-C", worktree, "switch", "-q", &format!("codex/{coder}")]);
    assert_eq!(env.create_pr(&coder, "Title")["error"], false);
}

#[test]
fn work_on_the_base_branch_itself() {
    let env = AgentEnv::new("idle", "idle");
    let arguments = json!({ "title": "t", "description": "d" });
    let answer = env.call_as_person(Server::Coding, "create_pr", &arguments);
    let error = &answer["structuredContent"];
    assert_eq!(error["code"], "NO_BRANCH", "{answer}");
    assert!(error["hint"].as_str().unwrap().contains("git switch -c"));
}

#[test]
fn with_require_review_only_what_a_reviewer_has_judged() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&["--require-review", "--max-reviews", "2"]);
    env.commit(&coder, "work");
    let answer = refused(&env, &coder, "REVIEW_REQUIRED");
    assert!(answer["text"].as_str().unwrap().contains("request_review"));
    for round in 1..=2 {
        let review = env.call(&coder, "request_review", &json!({ "description": "d" }));
        let reviewer = review["result"]["reviewInstanceId"].as_str().unwrap();
        let reviewer: InstanceId = reviewer.parse().unwrap();
        env.until("the reviewer is up", || {
            env.status(&coder) == Status::UnderReview
        });
        refused(&env, &coder, "ILLEGAL_STATE");
        let finding = json!({ "file": "work.txt", "severity": "blocking", "message": "no" });
        let changes = json!({ "feedback": "change it", "findings": [finding] });
        env.call(&reviewer, "request_changes", &changes);
        env.until("the feedback", || env.status(&coder) == Status::Running);
        env.commit(&coder, "fix");
        if round == 1 {
            refused(&env, &coder, "REVIEW_REQUIRED");
        }
    }
    // All rounds are used: now a person decides, and is told so.
    let answer = env.create_pr(&coder, "Title");
    assert_eq!(answer["error"], false, "{answer}");
    let body = env.json(&["pr", "show", "1"])["body"].clone();
    let body = body.as_str().unwrap();
    assert!(body.contains("not approved"), "{body}");
    assert!(
        body.contains("Round 2 of 2") && body.contains("1 blocking"),
        "{body}"
    );
}

#[test]
fn with_require_review_the_reviewer_publishes() {
    let env = AgentEnv::new("loop", "approve");
    let coder = env.coder(&["--require-review"]);
    env.until("the pull request", || {
        env.status(&coder) == Status::PrCreated
    });
    assert_eq!(env.reviews(&coder)[0].verdict, Verdict::Approved);
}

#[test]
fn a_second_approval_answers_with_the_first() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&[]);
    env.commit(&coder, "work");
    let review = env.call(&coder, "request_review", &json!({ "description": "d" }));
    let reviewer = review["result"]["reviewInstanceId"].as_str().unwrap();
    let reviewer: InstanceId = reviewer.parse().unwrap();
    env.until("the reviewer is up", || {
        env.status(&coder) == Status::UnderReview
    });
    for _ in 0..2 {
        let arguments = json!({ "title": "t", "description": "d" });
        env.tell(
            &reviewer,
            &json!({ "call": "create_pr", "arguments": arguments }),
        );
    }
    env.until("both answers", || env.log(&reviewer, "tool").len() == 2);
    for answer in env.log(&reviewer, "tool") {
        assert_eq!(answer["result"]["prNumber"], 1, "{answer}");
    }
    env.until_gone(&reviewer);
}

#[test]
fn hostile_texts_are_refused_or_made_harmless() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&[]);
    env.commit(&coder, "work");
    for (title, description) in [
        ("", "d"),
        ("two\nlines", "d"),
        ("\u{1b}[31mred", "d"),
        ("t", "a\0b"),
    ] {
        let arguments = json!({ "title": title, "description": description });
        let answer = env.call(&coder, "create_pr", &arguments);
        assert!(
            answer["text"]
                .as_str()
                .unwrap()
                .contains("INVALID_ARGUMENTS"),
            "{answer}"
        );
    }
    let arguments = json!({ "title": "a\u{202e}b", "description": "$(touch x) `touch x`\u{202e}" });
    assert_eq!(env.call(&coder, "create_pr", &arguments)["error"], false);
    let shown = env.json(&["pr", "show", "1"]);
    assert_eq!(shown["title"], "ab");
    assert!(!shown.to_string().contains('\u{202e}'));
}

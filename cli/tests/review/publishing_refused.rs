//! What is not published, and that nothing changes then.

use serde_json::{Value, json};
use shared::model::{InstanceId, Status, Verdict};

use crate::support::Place;

fn refused(place: &Place, coder: &InstanceId, code: &str) -> Value {
    let before = place.status(coder);
    let answer = place.create_pr(coder, "Title");
    assert_eq!(answer["error"], true, "{answer}");
    let text = answer["text"].as_str().unwrap();
    assert!(text.contains(code), "{code}: {answer}");
    assert_eq!(place.status(coder), before);
    assert_eq!(place.json(&["pr", "list", "--state", "all"]), json!([]));
    answer
}

#[test]
fn what_is_not_committed_or_not_there() {
    let place = Place::new("idle", "idle");
    let coder = place.coder(&[]);
    refused(&place, &coder, "NOTHING_TO_PUBLISH");
    place.tell(&coder, &json!({ "write": "loose" }));
    place.until("a file", || !place.log(&coder, "written").is_empty());
    let answer = refused(&place, &coder, "WORKTREE_DIRTY");
    assert!(answer["text"].as_str().unwrap().contains("work.txt"));
    place.commit(&coder, "done");

    place.git(&["merge", "-q", &format!("codex/{coder}")]);
    refused(&place, &coder, "BRANCH_MERGED");
    place.commit(&coder, "more");
    place.git(&["branch", "-q", "-m", "main", "trunk"]);
    refused(&place, &coder, "BASE_NOT_FOUND");
    place.git(&["branch", "-q", "-m", "trunk", "main"]);

    let worktree = place.instance(&coder).worktree_path;
    let worktree = worktree.to_str().unwrap();
    place.git(&["-C", worktree, "switch", "-q", "-c", "elsewhere"]);
    refused(&place, &coder, "NO_BRANCH");
    place.git(&["-C", worktree, "switch", "-q", "--detach"]);
    refused(&place, &coder, "NO_BRANCH");
    place.git(&["-C", worktree, "switch", "-q", &format!("codex/{coder}")]);
    assert_eq!(place.create_pr(&coder, "Title")["error"], false);
}

#[test]
fn work_on_the_base_branch_itself() {
    let place = Place::new("idle", "idle");
    let arguments = json!({ "title": "t", "description": "d" });
    let answer = place.stranger("mcp-coding", "create_pr", &arguments);
    let error = &answer["result"]["structuredContent"];
    assert_eq!(error["code"], "NO_BRANCH", "{answer}");
    assert!(error["hint"].as_str().unwrap().contains("git switch -c"));
}

#[test]
fn with_require_review_only_what_a_reviewer_has_judged() {
    let place = Place::new("idle", "idle");
    let coder = place.coder(&["--require-review", "--max-reviews", "2"]);
    place.commit(&coder, "work");
    let answer = refused(&place, &coder, "REVIEW_REQUIRED");
    assert!(answer["text"].as_str().unwrap().contains("request_review"));
    for round in 1..=2 {
        let review = place.call(&coder, "request_review", &json!({ "description": "d" }));
        let reviewer = review["result"]["reviewInstanceId"].as_str().unwrap();
        let reviewer: InstanceId = reviewer.parse().unwrap();
        place.until("the reviewer is up", || {
            place.status(&coder) == Status::UnderReview
        });
        refused(&place, &coder, "ILLEGAL_STATE");
        let finding = json!({ "file": "work.txt", "severity": "blocking", "message": "no" });
        let changes = json!({ "feedback": "change it", "findings": [finding] });
        place.call(&reviewer, "request_changes", &changes);
        place.until("the feedback", || place.status(&coder) == Status::Running);
        place.commit(&coder, "fix");
        if round == 1 {
            refused(&place, &coder, "REVIEW_REQUIRED");
        }
    }
    // All rounds are used: now a person decides, and is told so.
    let answer = place.create_pr(&coder, "Title");
    assert_eq!(answer["error"], false, "{answer}");
    let body = place.json(&["pr", "show", "1"])["body"].clone();
    let body = body.as_str().unwrap();
    assert!(body.contains("not approved"), "{body}");
    assert!(
        body.contains("Round 2 of 2") && body.contains("1 blocking"),
        "{body}"
    );
}

#[test]
fn with_require_review_the_reviewer_publishes() {
    let place = Place::new("loop", "approve");
    let coder = place.coder(&["--require-review"]);
    place.until("the pull request", || {
        place.status(&coder) == Status::PrCreated
    });
    assert_eq!(place.reviews(&coder)[0].verdict, Verdict::Approved);
}

#[test]
fn a_second_approval_answers_with_the_first() {
    let place = Place::new("idle", "idle");
    let coder = place.coder(&[]);
    place.commit(&coder, "work");
    let review = place.call(&coder, "request_review", &json!({ "description": "d" }));
    let reviewer = review["result"]["reviewInstanceId"].as_str().unwrap();
    let reviewer: InstanceId = reviewer.parse().unwrap();
    place.until("the reviewer is up", || {
        place.status(&coder) == Status::UnderReview
    });
    for _ in 0..2 {
        let arguments = json!({ "title": "t", "description": "d" });
        place.tell(
            &reviewer,
            &json!({ "call": "create_pr", "arguments": arguments }),
        );
    }
    place.until("both answers", || place.log(&reviewer, "tool").len() == 2);
    for answer in place.log(&reviewer, "tool") {
        assert_eq!(answer["result"]["prNumber"], 1, "{answer}");
    }
    place.is_gone(&reviewer);
}

#[test]
fn hostile_texts_are_refused_or_made_harmless() {
    let place = Place::new("idle", "idle");
    let coder = place.coder(&[]);
    place.commit(&coder, "work");
    for (title, description) in [
        ("", "d"),
        ("two\nlines", "d"),
        ("\u{1b}[31mred", "d"),
        ("t", "a\0b"),
    ] {
        let arguments = json!({ "title": title, "description": description });
        let answer = place.call(&coder, "create_pr", &arguments);
        assert!(
            answer["text"]
                .as_str()
                .unwrap()
                .contains("INVALID_ARGUMENTS"),
            "{answer}"
        );
    }
    let arguments = json!({ "title": "a\u{202e}b", "description": "$(touch x) `touch x`\u{202e}" });
    assert_eq!(place.call(&coder, "create_pr", &arguments)["error"], false);
    let shown = place.json(&["pr", "show", "1"]);
    assert_eq!(shown["title"], "ab");
    assert!(!shown.to_string().contains('\u{202e}'));
}

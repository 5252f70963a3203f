//! Calls that must be refused, with a code that says why and nothing changed.

use serde_json::json;
use shared::model::{InstanceId, Status, Verdict};

use crate::support::Place;

fn reviewed(place: &Place) -> (InstanceId, InstanceId) {
    let coder = place.coder(&[]);
    place.commit(&coder, "work");
    let answer = place.call(&coder, "request_review", &json!({ "description": "look" }));
    assert_eq!(answer["error"], false, "{answer}");
    let reviewer: InstanceId = answer["result"]["reviewInstanceId"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    place.until("the reviewer is up", || {
        place.status(&reviewer) == Status::Running
    });
    (coder, reviewer)
}

fn refused(answer: &serde_json::Value, code: &str) {
    assert_eq!(answer["error"], true, "{answer}");
    assert!(answer["text"].as_str().unwrap().contains(code), "{answer}");
}

#[test]
fn work_that_is_not_committed_or_not_there() {
    let place = Place::new("idle", "idle");
    let coder = place.coder(&[]);
    let ask = || place.call(&coder, "request_review", &json!({ "description": "look" }));
    refused(&ask(), "NOTHING_TO_REVIEW");
    place.tell(&coder, &json!({ "write": "half done" }));
    place.until("a dirty file", || !place.log(&coder, "written").is_empty());
    let answer = ask();
    refused(&answer, "WORKTREE_DIRTY");
    assert!(
        answer["text"].as_str().unwrap().contains("work.txt"),
        "{answer}"
    );
    assert_eq!(place.status(&coder), Status::Running);
    assert!(place.reviews(&coder).is_empty());
}

#[test]
fn a_second_request_is_answered_with_the_same_reviewer() {
    let place = Place::new("idle", "idle");
    let (coder, reviewer) = reviewed(&place);
    assert_eq!(place.status(&coder), Status::UnderReview);
    let again = place.call(
        &coder,
        "request_review",
        &json!({ "description": "look again" }),
    );
    assert_eq!(
        again["result"]["reviewInstanceId"],
        reviewer.as_str(),
        "{again}"
    );
    assert_eq!(place.reviews(&coder).len(), 1);
}

#[test]
fn two_requests_at_the_same_moment_get_one_reviewer() {
    let place = Place::new("idle", "idle");
    let coder = place.coder(&[]);
    place.commit(&coder, "work");
    for _ in 0..2 {
        place.tell(
            &coder,
            &json!({ "call": "request_review", "arguments": { "description": "look" } }),
        );
    }
    place.until("both answers", || place.log(&coder, "tool").len() == 2);
    let answers = place.log(&coder, "tool");
    assert_eq!(answers[0]["error"], false, "{answers:?}");
    assert_eq!(
        answers[0]["result"]["reviewInstanceId"],
        answers[1]["result"]["reviewInstanceId"]
    );
    assert_eq!(place.reviews(&coder).len(), 1);
}

#[test]
fn changes_are_requested_once() {
    let place = Place::new("idle", "idle");
    let (coder, reviewer) = reviewed(&place);
    for _ in 0..2 {
        place.tell(
            &reviewer,
            &json!({ "call": "request_changes", "arguments": { "feedback": "no" } }),
        );
    }
    place.until("both answers", || place.log(&reviewer, "tool").len() == 2);
    let answers = place.log(&reviewer, "tool");
    assert_eq!(
        answers
            .iter()
            .filter(|answer| answer["error"] == true)
            .count(),
        1,
        "{answers:?}"
    );
    let error = answers
        .iter()
        .find(|answer| answer["error"] == true)
        .unwrap();
    refused(error, "REVIEW_DECIDED");
    assert_eq!(place.messages(&coder).len(), 1);
    place.is_gone(&reviewer);
    assert_eq!(place.received(&coder).len(), 1);
}

#[test]
fn a_coder_that_was_stopped_takes_its_reviewer_along() {
    let place = Place::new("idle", "idle");
    let (coder, reviewer) = reviewed(&place);
    assert!(place.codex(&["stop", coder.as_str()]).status.success());
    assert_eq!(place.status(&coder), Status::Terminated);
    place.is_gone(&reviewer);
    assert_eq!(place.status(&reviewer), Status::Terminated);
    assert_eq!(place.reviews(&coder)[0].verdict, Verdict::Lost);
    assert!(place.messages(&coder).is_empty());
}

#[test]
fn a_session_that_reviews_nothing_changes_nothing() {
    let place = Place::new("idle", "idle");
    let answer = place.stranger(
        "mcp-review",
        "request_changes",
        &json!({ "feedback": "no" }),
    );
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(answer.to_string().contains("REVIEW_DECIDED"), "{answer}");
}

#[test]
fn findings_and_commits_of_a_reviewer_reach_the_coder() {
    let place = Place::new("idle", "idle");
    let (coder, reviewer) = reviewed(&place);
    place.commit(&reviewer, "a failing test");
    let answer = place.call(
        &reviewer,
        "request_changes",
        &json!({ "feedback": "see the test" }),
    );
    assert_eq!(answer["result"]["feedbackDelivered"], true, "{answer}");
    place.is_gone(&reviewer);
    assert!(place.received(&coder)[0].contains("they are on your branch now"));
    let branch = place.instance(&coder).branch_name.unwrap();
    assert!(
        place
            .git(&["log", "-1", "--format=%s", &branch])
            .contains("a failing test")
    );
    let work = std::fs::read_to_string(place.instance(&coder).worktree_path.join("work.txt"));
    assert!(work.unwrap().contains("a failing test"));
}

#[test]
fn commits_that_do_not_fit_are_named() {
    let place = Place::new("idle", "idle");
    let (coder, reviewer) = reviewed(&place);
    place.commit(&coder, "meanwhile");
    place.commit(&reviewer, "a failing test");
    place.call(
        &reviewer,
        "request_changes",
        &json!({ "feedback": "see the test" }),
    );
    place.is_gone(&reviewer);
    let kept = format!("refs/codex/reviews/{reviewer}");
    assert!(
        place.received(&coder)[0].contains(&kept),
        "{:?}",
        place.received(&coder)
    );
    assert!(
        place
            .git(&["log", "-1", "--format=%s", &kept])
            .contains("a failing test")
    );
    let branch = place.instance(&coder).branch_name.unwrap();
    assert!(
        place
            .git(&["log", "-1", "--format=%s", &branch])
            .contains("meanwhile")
    );
}

#[test]
fn commits_kept_for_a_reviewer_outlive_the_database() {
    let place = Place::new("idle", "idle");
    // Left by a reviewer of the same name, of a database that is gone.
    let tree = place.git(&["rev-parse", "main^{tree}"]);
    let left = place.git(&["commit-tree", "-p", "main", "-m", "left", tree.trim()]);
    let (coder, reviewer) = reviewed(&place);
    let kept = format!("refs/codex/reviews/{reviewer}");
    place.git(&["update-ref", &kept, left.trim()]);
    place.commit(&coder, "meanwhile");
    place.commit(&reviewer, "a failing test");
    let verdict = json!({ "feedback": "see the test" });
    place.call(&reviewer, "request_changes", &verdict);
    place.is_gone(&reviewer);
    assert_eq!(place.git(&["rev-parse", &kept]), left);
    let further = format!("{kept}.2");
    let subject = place.git(&["log", "-1", "--format=%s", &further]);
    assert!(subject.contains("a failing test"), "{subject}");
    let received = place.received(&coder);
    assert!(received[0].contains(&further), "{received:?}");
}

#[test]
fn a_tag_called_like_the_base_hides_nothing_from_a_reviewer() {
    let place = Place::new("idle", "idle");
    let base = place.git(&["rev-parse", "main"]);
    let coder = place.coder(&[]);
    place.commit(&coder, "hidden");
    let branch = place.instance(&coder).branch_name.unwrap();
    place.git(&["tag", "main", &branch]);
    place.commit(&coder, "shown");
    let answer = place.call(&coder, "request_review", &json!({ "description": "look" }));
    assert_eq!(answer["error"], false, "{answer}");
    let reviewer = answer["result"]["reviewInstanceId"].as_str().unwrap();
    let reviewer = place.instance(&reviewer.parse().unwrap());
    for part in [
        "hidden",
        "shown",
        &format!("git diff {}...HEAD", base.trim()),
    ] {
        assert!(
            reviewer.prompt.contains(part),
            "{part}: {}",
            reviewer.prompt
        );
    }
    let told = place.path(&format!("state/agents/{}/prompt.md", reviewer.id));
    let told = std::fs::read_to_string(told).unwrap();
    assert!(!told.contains("git diff main"), "{told}");
    // A new agent begins where the branch is, too.
    let next = place.instance(&place.coder(&[]));
    assert_eq!(next.base_commit.as_deref(), Some(base.trim()));
}

//! Calls that must be refused, with a code that says why and nothing changed.

use serde_json::json;
use shared::model::{InstanceId, Status, Verdict};
use tests::{AgentEnv, Server};

fn reviewed(env: &AgentEnv) -> (InstanceId, InstanceId) {
    let coder = env.coder(&[]);
    env.commit(&coder, "work");
    let answer = env.call(&coder, "request_review", &json!({ "description": "look" }));
    assert_eq!(answer["error"], false, "{answer}");
    let reviewer: InstanceId = answer["result"]["reviewInstanceId"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    env.until("the reviewer is up", || {
        env.status(&reviewer) == Status::Running
    });
    (coder, reviewer)
}

fn refused(answer: &serde_json::Value, code: &str) {
    assert_eq!(answer["error"], true, "{answer}");
    assert!(answer["text"].as_str().unwrap().contains(code), "{answer}");
}

#[test]
fn work_that_is_not_committed_or_not_there() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&[]);
    let ask = || env.call(&coder, "request_review", &json!({ "description": "look" }));
    refused(&ask(), "NOTHING_TO_REVIEW");
    env.tell(&coder, &json!({ "write": "half done" }));
    env.until("a dirty file", || !env.log(&coder, "written").is_empty());
    let answer = ask();
    refused(&answer, "WORKTREE_DIRTY");
    assert!(
        answer["text"].as_str().unwrap().contains("work.txt"),
        "{answer}"
    );
    assert_eq!(env.status(&coder), Status::Running);
    assert!(env.reviews(&coder).is_empty());
}

#[test]
fn a_second_request_is_answered_with_the_same_reviewer() {
    let env = AgentEnv::new("idle", "idle");
    let (coder, reviewer) = reviewed(&env);
    assert_eq!(env.status(&coder), Status::UnderReview);
    let again = env.call(
        &coder,
        "request_review",
        &json!({ "description": "look again" }),
    );
    assert_eq!(
        again["result"]["reviewInstanceId"],
        reviewer.as_str(),
        "{again}"
    );
    assert_eq!(env.reviews(&coder).len(), 1);
}

#[test]
fn two_requests_at_the_same_moment_get_one_reviewer() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&[]);
    env.commit(&coder, "work");
    for _ in 0..2 {
        env.tell(
            &coder,
            &json!({ "call": "request_review", "arguments": { "description": "look" } }),
        );
    }
    env.until("both answers", || env.log(&coder, "tool").len() == 2);
    let answers = env.log(&coder, "tool");
    assert_eq!(answers[0]["error"], false, "{answers:?}");
    assert_eq!(
        answers[0]["result"]["reviewInstanceId"],
        answers[1]["result"]["reviewInstanceId"]
    );
    assert_eq!(env.reviews(&coder).len(), 1);
}

#[test]
fn changes_are_requested_once() {
    let env = AgentEnv::new("idle", "idle");
    let (coder, reviewer) = reviewed(&env);
    for _ in 0..2 {
        env.tell(
            &reviewer,
            &json!({ "call": "request_changes", "arguments": { "feedback": "no" } }),
        );
    }
    env.until("both answers", || env.log(&reviewer, "tool").len() == 2);
    let answers = env.log(&reviewer, "tool");
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
    assert_eq!(env.messages(&coder).len(), 1);
    env.until_gone(&reviewer);
    assert_eq!(env.received(&coder).len(), 1);
}

#[test]
fn a_coder_that_was_stopped_takes_its_reviewer_along() {
    let env = AgentEnv::new("idle", "idle");
    let (coder, reviewer) = reviewed(&env);
    assert!(env.codex(&["stop", coder.as_str()]).status.success());
    assert_eq!(env.status(&coder), Status::Terminated);
    env.until_gone(&reviewer);
    assert_eq!(env.status(&reviewer), Status::Terminated);
    assert_eq!(env.reviews(&coder)[0].verdict, Verdict::Lost);
    assert!(env.messages(&coder).is_empty());
}

#[test]
fn a_session_that_reviews_nothing_changes_nothing() {
    let env = AgentEnv::new("idle", "idle");
    let answer = env.call_as_person(
        Server::Review,
        "request_changes",
        &json!({ "feedback": "no" }),
    );
    assert_eq!(answer["isError"], true, "{answer}");
    assert!(answer.to_string().contains("REVIEW_DECIDED"), "{answer}");
}

#[test]
fn findings_and_commits_of_a_reviewer_reach_the_coder() {
    let env = AgentEnv::new("idle", "idle");
    let (coder, reviewer) = reviewed(&env);
    env.commit(&reviewer, "a failing test");
    let answer = env.call(
        &reviewer,
        "request_changes",
        &json!({ "feedback": "see the test" }),
    );
    assert_eq!(answer["result"]["feedbackDelivered"], true, "{answer}");
    env.until_gone(&reviewer);
    assert!(env.received(&coder)[0].contains("they are on your branch now"));
    let branch = env.instance(&coder).branch_name.unwrap();
    assert!(
        env.git(&["log", "-1", "--format=%s", &branch])
            .contains("a failing test")
    );
    let work = std::fs::read_to_string(env.instance(&coder).worktree_path.join("work.txt"));
    assert!(work.unwrap().contains("a failing test"));
}

#[test]
fn commits_that_do_not_fit_are_named() {
    let env = AgentEnv::new("idle", "idle");
    let (coder, reviewer) = reviewed(&env);
    env.commit(&coder, "meanwhile");
    env.commit(&reviewer, "a failing test");
    env.call(
        &reviewer,
        "request_changes",
        &json!({ "feedback": "see the test" }),
    );
    env.until_gone(&reviewer);
    let kept = format!("refs/codex/reviews/{reviewer}");
    assert!(
        env.received(&coder)[0].contains(&kept),
        "{:?}",
        env.received(&coder)
    );
    assert!(
        env.git(&["log", "-1", "--format=%s", &kept])
            .contains("a failing test")
    );
    let branch = env.instance(&coder).branch_name.unwrap();
    assert!(
        env.git(&["log", "-1", "--format=%s", &branch])
            .contains("meanwhile")
    );
}

#[test]
fn commits_kept_for_a_reviewer_outlive_the_database() {
    let env = AgentEnv::new("idle", "idle");
    // Left by a reviewer of the same name, of a database that is gone.
    let tree = env.git(&["rev-parse", "main^{tree}"]);
    let left = env.git(&["commit-tree", "-p", "main", "-m", "left", tree.trim()]);
    let (coder, reviewer) = reviewed(&env);
    let kept = format!("refs/codex/reviews/{reviewer}");
    env.git(&["update-ref", &kept, left.trim()]);
    env.commit(&coder, "meanwhile");
    env.commit(&reviewer, "a failing test");
    let verdict = json!({ "feedback": "see the test" });
    env.call(&reviewer, "request_changes", &verdict);
    env.until_gone(&reviewer);
    assert_eq!(env.git(&["rev-parse", &kept]), left);
    let further = format!("{kept}.2");
    let subject = env.git(&["log", "-1", "--format=%s", &further]);
    assert!(subject.contains("a failing test"), "{subject}");
    let received = env.received(&coder);
    assert!(received[0].contains(&further), "{received:?}");
}

#[test]
fn a_tag_called_like_the_base_hides_nothing_from_a_reviewer() {
    let env = AgentEnv::new("idle", "idle");
    let base = env.git(&["rev-parse", "main"]);
    let coder = env.coder(&[]);
    env.commit(&coder, "hidden");
    let branch = env.instance(&coder).branch_name.unwrap();
    env.git(&["tag", "main", &branch]);
    env.commit(&coder, "shown");
    let answer = env.call(&coder, "request_review", &json!({ "description": "look" }));
    assert_eq!(answer["error"], false, "{answer}");
    let reviewer = answer["result"]["reviewInstanceId"].as_str().unwrap();
    let reviewer = env.instance(&reviewer.parse().unwrap());
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
    let told = env.path(&format!("state/agents/{}/prompt.md", reviewer.id));
    let told = std::fs::read_to_string(told).unwrap();
    assert!(!told.contains("git diff main"), "{told}");
    // A new agent begins where the branch is, too.
    let next = env.instance(&env.coder(&[]));
    assert_eq!(next.base_commit.as_deref(), Some(base.trim()));
}

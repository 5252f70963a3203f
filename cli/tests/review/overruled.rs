//! A person's word against what agents are doing: a review that is under way, and work that is being published.

use serde_json::json;
use shared::model::{InstanceId, MessageState, Status, Verdict};
use tests::{AgentEnv, shown};

use crate::delivery;

/// Launches a coder whose one commit is being reviewed.
fn under_review(env: &AgentEnv, more: &[&str]) -> (InstanceId, InstanceId) {
    let coder = env.coder(more);
    env.commit(&coder, "first\n");
    let answer = env.call(&coder, "request_review", &json!({ "description": "look" }));
    let reviewer = answer["result"]["reviewInstanceId"].as_str().unwrap();
    let reviewer: InstanceId = reviewer.parse().unwrap();
    env.until("the reviewer is up", || {
        env.status(&coder) == Status::UnderReview && !env.log(&reviewer, "ready").is_empty()
    });
    (coder, reviewer)
}

#[test]
fn a_person_who_sends_work_back_ends_the_review_of_it() {
    let env = AgentEnv::new("idle", "idle");
    let (coder, reviewer) = under_review(&env, &[]);
    env.json(&["pr", "request-changes", coder.as_str(), "Not like this."]);
    let review = env.reviews(&coder).remove(0);
    assert_eq!(review.verdict, Verdict::Lost);
    env.until_gone(&reviewer);
    assert_eq!(env.status(&reviewer), Status::Terminated);
    env.until("the feedback", || env.received(&coder).len() == 1);
    env.until("it is at work", || env.status(&coder) == Status::Running);
    // What the message names as the next step can be done.
    env.commit(&coder, "second\n");
    let answer = env.create_pr(&coder, "Title");
    assert_eq!(answer["error"], false, "{answer}");
    assert!(env.text(&["pr", "diff", "1"]).contains("+second"));
    assert_eq!(env.json(&["doctor", "--deep"])["problems"], json!(null));
}

/// The review does not count: the coder can be reviewed as often as before.
#[test]
fn the_overruled_review_is_not_counted() {
    let env = AgentEnv::new("idle", "idle");
    let (coder, _) = under_review(&env, &["--require-review", "--max-reviews", "1"]);
    env.json(&["pr", "request-changes", coder.as_str(), "Not like this."]);
    env.until("the feedback", || env.received(&coder).len() == 1);
    assert!(env.received(&coder)[0].contains("call request_review"));
    let answer = env.call(&coder, "request_review", &json!({ "description": "look" }));
    assert_eq!(answer["error"], false, "{answer}");
}

/// Launches a coder with one commit whose input box is not empty, so that what it is told has to wait.
fn busy() -> (AgentEnv, InstanceId) {
    let (env, coder) = delivery::claude();
    delivery::command(&env, &coder, &json!({ "draft": "wait" }));
    let worktree = env.instance(&coder).worktree_path;
    std::fs::write(worktree.join("work.txt"), "work\n").unwrap();
    env.git_in(&worktree, &["add", "work.txt"]);
    env.git_in(&worktree, &["commit", "-q", "-m", "work"]);
    (env, coder)
}

/// Told while it works, the agent that publishes a moment later has yet to read it.
#[test]
fn what_a_person_said_before_it_was_published_is_read() {
    let (env, coder) = busy();
    let sent = delivery::sent(&env, &coder, "And the tests?");
    assert_eq!(sent["delivered"], false, "{sent}");
    let published = env.json(&["pr", "create", coder.as_str(), "--title", "Title"]);
    assert_eq!(published["prNumber"], 1, "{published}");
    assert_eq!(env.status(&coder), Status::Running);
    assert_eq!(env.instance(&coder).owner, None);
    delivery::command(&env, &coder, &json!({ "draft": "" }));
    env.until("the message", || {
        env.messages(&coder)[0].state == MessageState::Taken
    });
    assert!(env.has_session(&coder));
}

#[test]
fn an_approval_of_what_is_published_is_no_more_work() {
    let (env, coder) = busy();
    env.json(&["pr", "approve", coder.as_str()]);
    assert_eq!(env.messages(&coder)[0].state, MessageState::Owed);
    env.json(&["pr", "create", coder.as_str(), "--title", "Title"]);
    env.until("it is put away", || {
        env.status(&coder) == Status::PrCreated && !env.has_session(&coder)
    });
}

#[test]
fn comments_arrive_at_the_lines_that_they_are_about() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&[]);
    env.commit(&coder, "one\ntwo\nthree\n");
    let id = coder.as_str();
    for line in ["2", "3"] {
        let comment = ["pr", "comment", id, "--file", "work.txt", "--line", line];
        env.text(&[&comment[..], &[&format!("about {line}")]].concat());
    }
    // It goes on meanwhile: a line above, and another third line.
    let worktree = env.instance(&coder).worktree_path;
    std::fs::write(worktree.join("work.txt"), "zero\none\ntwo\n3\n").unwrap();
    env.git_in(&worktree, &["commit", "-q", "-a", "-m", "more"]);
    env.json(&["pr", "request-changes", id]);
    let review = env.reviews(&coder).remove(0);
    let lines: Vec<_> = review.findings.iter().map(|one| one.line).collect();
    assert_eq!(lines, [Some(3), None], "{review:?}");
    let told = &env.messages(&coder)[0].body;
    assert!(told.contains("1. work.txt:3: about 2"), "{told}");
    assert!(told.contains("About line 3 as it was"), "{told}");
    assert!(told.contains("it has changed since"), "{told}");
}

#[test]
fn comments_are_sent_once() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder_with_commit();
    let id = coder.as_str();
    let comment = [
        "pr", "comment", id, "--file", "work.txt", "--line", "1", "x",
    ];
    env.text(&comment);
    // A click on the button, twice.
    let both = [(); 2].map(|()| env.start(&["pr", "request-changes", id], ""));
    let succeeded = both
        .into_iter()
        .map(|one| one.wait_with_output().unwrap())
        .filter(|output| output.status.success())
        .count();
    assert_eq!(succeeded, 1);
    assert_eq!(env.reviews(&coder).len(), 1);
    assert_eq!(env.messages(&coder).len(), 1);
}

#[test]
fn a_merge_and_an_approval_are_of_the_commit_that_was_seen() {
    let mut env = AgentEnv::new("idle", "idle");
    env.set("CODEX_RESOURCES_CLEANUP", "manual");
    let coder = env.coder_with_commit();
    env.create_pr(&coder, "Title");
    let seen = env.json(&["pr", "show", "1"])["headCommit"].clone();
    let seen = &seen.as_str().unwrap()[..10];
    env.commit(&coder, "more\n");
    env.create_pr(&coder, "Title");
    for verb in ["merge", "approve"] {
        let output = env.codex(&["pr", verb, "1", "--commit", seen]);
        let told = shown(&output);
        assert!(!output.status.success(), "{told}");
        assert!(told.contains("since you looked"), "{told}");
    }
    let now = env.json(&["pr", "show", "1"])["headCommit"].clone();
    let now = now.as_str().unwrap();
    env.json(&["pr", "approve", "1", "--commit", now]);
    let merged = env.json(&["pr", "merge", "1", "--commit", &now[..7]]);
    assert_eq!(merged["state"], "merged");
}

/// With no rounds to be had from agents, a person's approval is the way, and a person may also publish it.
#[test]
fn a_person_reviews_and_publishes_what_no_agent_has_published() {
    let mut env = AgentEnv::new("idle", "idle");
    env.set("CODEX_REVIEW_MAX_REVIEW_CYCLES", "0");
    let coder = env.coder(&["--require-review"]);
    env.commit(&coder, "first\n");
    let id = coder.as_str();
    let create = ["pr", "create", id, "--title", "Add the work"];
    let output = env.codex(&create);
    assert!(shown(&output).contains("has to approve this commit"));
    let told = env.text(&["pr", "approve", id]);
    assert!(told.starts_with(&format!("{id} is approved at ")), "{told}");
    let published = env.json(&create);
    assert_eq!(published["prNumber"], 1, "{published}");
    assert_eq!(env.json(&["pr", "list"])[0]["title"], "Add the work");
}

#[test]
fn a_restart_that_cannot_be_leaves_a_published_agent_alone() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder_with_commit();
    env.create_pr(&coder, "Title");
    env.until("it is put away", || {
        !env.has_session(&coder) && env.instance(&coder).owner.is_none()
    });
    let instance = env.instance(&coder);
    let worktree = instance.worktree_path.to_str().unwrap();
    env.git(&["worktree", "remove", worktree]);
    let branch = instance.branch_name.unwrap();
    let elsewhere = env.path("elsewhere");
    let elsewhere = elsewhere.to_str().unwrap();
    env.git(&["worktree", "add", "-q", elsewhere, &branch]);
    let output = env.codex(&["pr", "request-changes", "1", "More.", "--json"]);
    let error: serde_json::Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(error["code"], "BRANCH_EXISTS", "{error}");
    assert_eq!(env.status(&coder), Status::PrCreated);
    assert!(env.reviews(&coder).is_empty());
    // The hint works.
    env.git(&["-C", elsewhere, "switch", "-q", "--detach"]);
    env.json(&["pr", "request-changes", "1", "More."]);
    env.until("the feedback", || env.received(&coder).len() == 1);
}

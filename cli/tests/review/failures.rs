//! Reviewers that come to nothing: the coder is told, is back at work, and has lost no round.

use serde_json::json;
use shared::model::{InstanceId, MessageKind, Status, Verdict};
use tests::{AgentEnv, kill};

fn under_review(env: &AgentEnv) -> (InstanceId, InstanceId) {
    let coder = env.coder(&["--max-reviews", "1"]);
    env.commit(&coder, "work");
    let answer = env.call(&coder, "request_review", &json!({ "description": "look" }));
    let reviewer = answer["result"]["reviewInstanceId"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    env.until("the reviewer is up", || {
        env.status(&coder) == Status::UnderReview
    });
    (coder, reviewer)
}

fn lost(env: &AgentEnv, coder: &InstanceId, reviewer: &InstanceId) {
    env.until_gone(reviewer);
    assert_eq!(env.status(coder), Status::Running);
    assert_eq!(env.status(reviewer), Status::Failed);
    assert_eq!(env.reviews(coder)[0].verdict, Verdict::Lost);
    env.until("the news", || env.received(coder).len() == 1);
    let told = &env.received(coder)[0];
    assert!(
        told.contains("was lost") && told.contains("does not count"),
        "{told}"
    );
    assert_eq!(env.messages(coder)[0].kind, MessageKind::ReviewLost);
    let again = env.call(coder, "request_review", &json!({ "description": "look" }));
    assert_eq!(again["error"], false, "a lost round counts: {again}");
    assert_ne!(again["result"]["reviewInstanceId"], reviewer.as_str());
}

#[test]
fn a_reviewer_that_is_killed_loses_its_round() {
    let env = AgentEnv::new("idle", "idle");
    let (coder, reviewer) = under_review(&env);
    kill(env.log(&reviewer, "ready")[0]["pid"].as_u64().unwrap());
    env.until("somebody notices", || {
        env.codex(&["list"]);
        env.reviews(&coder)[0].verdict == Verdict::Lost
    });
    lost(&env, &coder, &reviewer);
}

#[test]
fn a_reviewer_that_is_dead_does_not_answer_a_second_request() {
    let env = AgentEnv::new("idle", "idle");
    let (coder, reviewer) = under_review(&env);
    kill(env.log(&reviewer, "ready")[0]["pid"].as_u64().unwrap());
    env.until("the pane is dead", || {
        let panes = env.tmux(&[
            "list-panes",
            "-t",
            &format!("={reviewer}"),
            "-F",
            "#{pane_dead}",
        ]);
        // Its session may have been put away already by whoever noticed first.
        panes.stdout.starts_with(b"1") || !panes.status.success()
    });
    let again = env.call(&coder, "request_review", &json!({ "description": "look" }));
    assert_eq!(again["error"], false, "{again}");
    assert_ne!(again["result"]["reviewInstanceId"], reviewer.as_str());
}

#[test]
fn a_reviewer_whose_time_is_up_loses_its_round() {
    let mut env = AgentEnv::new("idle", "idle");
    let (coder, reviewer) = under_review(&env);
    env.set("CODEX_REVIEW_TIMEOUT_MINUTES", "0");
    env.until("the time is up", || {
        env.codex(&["list"]);
        env.reviews(&coder)[0].verdict == Verdict::Lost
    });
    env.set("CODEX_REVIEW_TIMEOUT_MINUTES", "60");
    lost(&env, &coder, &reviewer);
}

fn nothing_happened(env: &AgentEnv, coder: &InstanceId) {
    assert_eq!(env.status(coder), Status::Running);
    assert!(env.reviews(coder).is_empty());
    assert!(env.messages(coder).is_empty(), "{:?}", env.messages(coder));
    let worktrees = env.git(&["worktree", "list"]);
    assert_eq!(worktrees.lines().count(), 2, "{worktrees}");
    let files = std::fs::read_dir(env.path("state/agents")).unwrap().count();
    assert_eq!(files, 1);
    let sessions = env.tmux(&["list-sessions", "-F", "#{session_name}"]);
    assert_eq!(
        String::from_utf8_lossy(&sessions.stdout).trim(),
        coder.as_str()
    );
}

#[test]
fn a_reviewer_that_can_not_be_started_leaves_nothing() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&[]);
    env.commit(&coder, "work");
    // Taken by another: the session can't be made after the worktree and the files stand.
    let name = format!("review-{}-r1", coder.as_str().trim_start_matches("work-"));
    assert!(
        env.tmux(&["new-session", "-d", "-s", &name, "sleep", "600"])
            .status
            .success()
    );
    let answer = env.call(&coder, "request_review", &json!({ "description": "look" }));
    assert_eq!(answer["error"], true, "{answer}");
    env.tmux(&["kill-session", "-t", &format!("={name}")]);
    nothing_happened(&env, &coder);
    let answer = env.call(&coder, "request_review", &json!({ "description": "look" }));
    assert_eq!(answer["error"], false, "{answer}");
}

#[test]
fn a_cancelled_request_is_undone_wherever_it_was() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&[]);
    env.commit(&coder, "work");
    let mut undone = 0;
    for milliseconds in [0, 5, 15, 25, 40, 60, 80] {
        let seconds = f64::from(milliseconds) / 1000.0;
        let before = env.recorded("request_review").len();
        env.tell(&coder, &json!({ "call": "request_review", "arguments": { "description": "look" }, "cancelAfter": seconds }));
        // Recorded once it has come to its end, whether anybody still wants the answer or not.
        env.until("an end", || env.recorded("request_review").len() > before);
        let calls = env.recorded("request_review");
        match calls.last().unwrap().error_code.as_deref() {
            Some("CANCELLED") => nothing_happened(&env, &coder),
            // Done before the word came.
            None => {
                let reviews = env.reviews(&coder);
                assert_eq!(reviews[0].verdict, Verdict::Pending);
                assert!(env.has_session(reviews[0].review_instance_id.as_ref().unwrap()));
                break;
            }
            Some(other) => panic!("{other}"),
        }
        undone += 1;
    }
    assert!(undone > 0, "no call was cancelled in time");
}

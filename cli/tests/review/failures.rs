//! Reviewers that come to nothing: the coder is told, is back at work, and has lost no round.

use serde_json::json;
use shared::model::{InstanceId, MessageKind, Status, Verdict};

use crate::support::{Place, kill};

fn under_review(place: &Place) -> (InstanceId, InstanceId) {
    let coder = place.coder(&["--max-reviews", "1"]);
    place.commit(&coder, "work");
    let answer = place.call(&coder, "request_review", &json!({ "description": "look" }));
    let reviewer = answer["result"]["reviewInstanceId"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    place.until("the reviewer is up", || {
        place.status(&coder) == Status::UnderReview
    });
    (coder, reviewer)
}

fn lost(place: &Place, coder: &InstanceId, reviewer: &InstanceId) {
    place.is_gone(reviewer);
    assert_eq!(place.status(coder), Status::Running);
    assert_eq!(place.status(reviewer), Status::Failed);
    assert_eq!(place.reviews(coder)[0].verdict, Verdict::Lost);
    place.until("the news", || place.received(coder).len() == 1);
    let told = &place.received(coder)[0];
    assert!(
        told.contains("was lost") && told.contains("does not count"),
        "{told}"
    );
    assert_eq!(place.messages(coder)[0].kind, MessageKind::ReviewLost);
    let again = place.call(coder, "request_review", &json!({ "description": "look" }));
    assert_eq!(again["error"], false, "a lost round counts: {again}");
    assert_ne!(again["result"]["reviewInstanceId"], reviewer.as_str());
}

#[test]
fn a_reviewer_that_is_killed_loses_its_round() {
    let place = Place::new("idle", "idle");
    let (coder, reviewer) = under_review(&place);
    kill(place.log(&reviewer, "ready")[0]["pid"].as_u64().unwrap());
    place.until("somebody notices", || {
        place.codex(&["list"]);
        place.reviews(&coder)[0].verdict == Verdict::Lost
    });
    lost(&place, &coder, &reviewer);
}

#[test]
fn a_reviewer_that_is_dead_does_not_answer_a_second_request() {
    let place = Place::new("idle", "idle");
    let (coder, reviewer) = under_review(&place);
    kill(place.log(&reviewer, "ready")[0]["pid"].as_u64().unwrap());
    place.until("the pane is dead", || {
        let panes = place.tmux(&[
            "list-panes",
            "-t",
            &format!("={reviewer}"),
            "-F",
            "#{pane_dead}",
        ]);
        // Its session may have been put away already by whoever noticed first.
        panes.stdout.starts_with(b"1") || !panes.status.success()
    });
    let again = place.call(&coder, "request_review", &json!({ "description": "look" }));
    assert_eq!(again["error"], false, "{again}");
    assert_ne!(again["result"]["reviewInstanceId"], reviewer.as_str());
}

#[test]
fn a_reviewer_whose_time_is_up_loses_its_round() {
    let mut place = Place::new("idle", "idle");
    let (coder, reviewer) = under_review(&place);
    place.set("CODEX_REVIEW_TIMEOUT_MINUTES", "0");
    place.until("the time is up", || {
        place.codex(&["list"]);
        place.reviews(&coder)[0].verdict == Verdict::Lost
    });
    place.set("CODEX_REVIEW_TIMEOUT_MINUTES", "60");
    lost(&place, &coder, &reviewer);
}

fn nothing_happened(place: &Place, coder: &InstanceId) {
    assert_eq!(place.status(coder), Status::Running);
    assert!(place.reviews(coder).is_empty());
    assert!(
        place.messages(coder).is_empty(),
        "{:?}",
        place.messages(coder)
    );
    let worktrees = place.git(&["worktree", "list"]);
    assert_eq!(worktrees.lines().count(), 2, "{worktrees}");
    let files = std::fs::read_dir(place.path("state/agents"))
        .unwrap()
        .count();
    assert_eq!(files, 1);
    let sessions = place.tmux(&["list-sessions", "-F", "#{session_name}"]);
    assert_eq!(
        String::from_utf8_lossy(&sessions.stdout).trim(),
        coder.as_str()
    );
}

#[test]
fn a_reviewer_that_can_not_be_started_leaves_nothing() {
    let place = Place::new("idle", "idle");
    let coder = place.coder(&[]);
    place.commit(&coder, "work");
    // Taken by another: the session can't be made after the worktree and the files stand.
    let name = format!("review-{}-r1", coder.as_str().trim_start_matches("work-"));
    assert!(
        place
            .tmux(&["new-session", "-d", "-s", &name, "sleep", "600"])
            .status
            .success()
    );
    let answer = place.call(&coder, "request_review", &json!({ "description": "look" }));
    assert_eq!(answer["error"], true, "{answer}");
    place.tmux(&["kill-session", "-t", &format!("={name}")]);
    nothing_happened(&place, &coder);
    let answer = place.call(&coder, "request_review", &json!({ "description": "look" }));
    assert_eq!(answer["error"], false, "{answer}");
}

#[test]
fn a_cancelled_request_is_undone_wherever_it_was() {
    let place = Place::new("idle", "idle");
    let coder = place.coder(&[]);
    place.commit(&coder, "work");
    let mut undone = 0;
    for milliseconds in [0, 5, 15, 25, 40, 60, 80] {
        let seconds = f64::from(milliseconds) / 1000.0;
        let before = place.recorded("request_review").len();
        place.tell(&coder, &json!({ "call": "request_review", "arguments": { "description": "look" }, "cancelAfter": seconds }));
        // Recorded once it has come to its end, whether anybody still wants the answer or not.
        place.until("an end", || place.recorded("request_review").len() > before);
        let calls = place.recorded("request_review");
        match calls.last().unwrap().error_code.as_deref() {
            Some("CANCELLED") => nothing_happened(&place, &coder),
            // Done before the word came.
            None => {
                let reviews = place.reviews(&coder);
                assert_eq!(reviews[0].verdict, Verdict::Pending);
                assert!(place.has_session(&reviews[0].review_instance_id));
                break;
            }
            Some(other) => panic!("{other}"),
        }
        undone += 1;
    }
    assert!(undone > 0, "no call was cancelled in time");
}

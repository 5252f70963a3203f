//! The loop as it should be: requested, judged, fixed, until the rounds are used up.

use serde_json::json;
use shared::model::{MessageState, Status, Verdict};
use tests::AgentEnv;

fn rounds(most: usize) {
    let env = AgentEnv::new("loop", "changes");
    let coder = env.coder(&["--max-reviews", &most.to_string()]);
    env.until("the limit", || {
        let last = env.log(&coder, "tool").pop();
        last.is_some_and(|call| {
            call["text"]
                .as_str()
                .unwrap()
                .contains("REVIEW_LIMIT_REACHED")
        })
    });
    let reviews = env.reviews(&coder);
    assert_eq!(reviews.len(), most);
    assert_eq!(
        env.log(&coder, "tool").len(),
        most + 1,
        "one call a round, and the refused one"
    );
    let received = env.received(&coder);
    assert_eq!(received.len(), most, "{received:?}");
    for (index, review) in reviews.iter().enumerate() {
        assert_eq!(review.verdict, Verdict::ChangesRequested);
        assert_eq!(review.round as usize, index + 1);
        let told = &received[index];
        assert!(
            told.contains(&format!("round {} of {most}: changes requested", index + 1)),
            "{told}"
        );
        assert!(told.contains("Please change it."), "{told}");
        assert!(
            told.contains("1. [blocking] work.txt:1: wrong word"),
            "{told}"
        );
        assert_eq!(
            told.contains("This was the last review round"),
            index + 1 == most,
            "{told}"
        );
        env.until("the answer", || {
            !env.log(review.review_instance_id.as_ref().unwrap(), "tool")
                .is_empty()
        });
        let answer = &env.log(review.review_instance_id.as_ref().unwrap(), "tool")[0];
        assert_eq!(answer["error"], false, "{answer}");
        assert_eq!(answer["result"]["feedbackDelivered"], true, "{answer}");
        env.until_gone(review.review_instance_id.as_ref().unwrap());
        assert_eq!(
            env.status(review.review_instance_id.as_ref().unwrap()),
            Status::Completed
        );
    }
    env.until("it goes on", || env.status(&coder) == Status::Running);
    a_person_sees_it(&env, coder.as_str(), most);
    let messages = env.messages(&coder);
    assert!(
        messages
            .iter()
            .all(|message| message.state == MessageState::Taken),
        "{messages:?}"
    );
    let round = [
        "running → waiting_review",
        "waiting_review → under_review",
        "under_review → feedback_received",
        "feedback_received → running",
    ];
    let mut expected = vec!["null → started", "started → running"];
    expected.extend(round.into_iter().cycle().take(4 * most));
    expected.sort_unstable();
    assert_eq!(moves(&env, coder.as_str()), expected);
}

fn a_person_sees_it(env: &AgentEnv, coder: &str, most: usize) {
    let limit = format!("{most} of {most}: limit");
    for wanted in [limit.as_str(), "waiting for a person: review limit"] {
        env.until("list shows that a person must decide", || {
            env.text(&["list"]).contains(wanted)
        });
    }
    let shown = env.text(&["show", coder]);
    for line in [
        &format!("round {most} of {most} by"),
        "changes_requested",
        "Please change it.",
        "[blocking] work.txt:1: wrong word",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
}

/// All moves of an instance, sorted: an event is written when its call ends, so their order tells little.
fn moves(env: &AgentEnv, id: &str) -> Vec<String> {
    let events = env
        .store()
        .read_now(|r| r.latest_events(None, 500))
        .unwrap();
    let mut moves: Vec<String> = events
        .into_iter()
        .flat_map(|event| event.status_changes)
        .filter(|change| change.instance.as_str() == id)
        .flat_map(|change| {
            // A coder that asks again before anybody has seen that it took its feedback goes on without that move.
            let steps = match (change.from, change.to) {
                (Some(Status::FeedbackReceived), Status::WaitingReview) => {
                    vec![Status::FeedbackReceived, Status::Running]
                }
                (from, _) => from.into_iter().collect(),
            };
            let mut words: Vec<String> = steps.iter().map(ToString::to_string).collect();
            if words.is_empty() {
                words.push("null".to_owned());
            }
            words.push(change.to.to_string());
            let pairs = words.windows(2).map(|pair| pair.join(" → "));
            pairs.collect::<Vec<_>>()
        })
        .collect();
    moves.sort();
    moves
}

#[test]
fn one_round() {
    rounds(1);
}

#[test]
fn two_rounds() {
    rounds(2);
}

#[test]
fn three_rounds() {
    rounds(3);
}

#[test]
fn ten_loops_in_a_row() {
    for _ in 0..10 {
        rounds(1);
    }
}

#[test]
fn five_coders_and_their_reviewers_at_once() {
    let env = AgentEnv::new("loop", "changes");
    let coders: Vec<_> = (0..5).map(|_| env.coder(&["--max-reviews", "2"])).collect();
    for coder in &coders {
        env.until("the limit", || {
            let last = env.log(coder, "tool").pop();
            last.is_some_and(|call| {
                call["text"]
                    .as_str()
                    .unwrap()
                    .contains("REVIEW_LIMIT_REACHED")
            })
        });
        assert_eq!(env.received(coder).len(), 2);
        for review in env.reviews(coder) {
            env.until_gone(review.review_instance_id.as_ref().unwrap());
        }
    }
}

#[test]
fn a_later_reviewer_is_given_the_earlier_findings() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&[]);
    for round in 1..=2 {
        env.commit(&coder, "work");
        let answer = env.call(&coder, "request_review", &json!({ "description": "look" }));
        assert_eq!(answer["error"], false, "{answer}");
        let reviewer = env
            .reviews(&coder)
            .pop()
            .unwrap()
            .review_instance_id
            .unwrap();
        env.until("the reviewer is up", || {
            !env.log(&reviewer, "ready").is_empty()
        });
        let prompt = env
            .path("state/agents")
            .join(reviewer.as_str())
            .join("prompt.md");
        let prompt = std::fs::read_to_string(prompt).unwrap();
        assert_eq!(prompt.contains("the odd finding"), round == 2, "{prompt}");
        let feedback = json!({ "feedback": "the odd finding" });
        env.call(&reviewer, "request_changes", &feedback);
        env.until_gone(&reviewer);
    }
}

//! The loop as it should be: requested, judged, fixed, until the rounds are used up.

use serde_json::json;
use shared::model::{MessageState, Status, Verdict};

use crate::support::{Place, text};

fn rounds(most: usize) {
    let place = Place::new("loop", "changes");
    let coder = place.coder(&["--max-reviews", &most.to_string()]);
    place.until("the limit", || {
        let last = place.log(&coder, "tool").pop();
        last.is_some_and(|call| {
            call["text"]
                .as_str()
                .unwrap()
                .contains("REVIEW_LIMIT_REACHED")
        })
    });
    let reviews = place.reviews(&coder);
    assert_eq!(reviews.len(), most);
    assert_eq!(
        place.log(&coder, "tool").len(),
        most + 1,
        "one call a round, and the refused one"
    );
    let received = place.received(&coder);
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
        place.until("the answer", || {
            !place.log(&review.review_instance_id, "tool").is_empty()
        });
        let answer = &place.log(&review.review_instance_id, "tool")[0];
        assert_eq!(answer["error"], false, "{answer}");
        assert_eq!(answer["result"]["feedbackDelivered"], true, "{answer}");
        place.is_gone(&review.review_instance_id);
        assert_eq!(place.status(&review.review_instance_id), Status::Completed);
    }
    place.until("it goes on", || place.status(&coder) == Status::Running);
    a_person_sees_it(&place, coder.as_str(), most);
    let messages = place.messages(&coder);
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
    assert_eq!(moves(&place, coder.as_str()), expected);
}

fn a_person_sees_it(place: &Place, coder: &str, most: usize) {
    let listed = text(&place.codex(&["list"]));
    assert!(
        listed.contains(&format!("{most} of {most}: limit")),
        "{listed}"
    );
    let shown = text(&place.codex(&["show", coder]));
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
fn moves(place: &Place, id: &str) -> Vec<String> {
    let events = place
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
    let place = Place::new("loop", "changes");
    let coders: Vec<_> = (0..5)
        .map(|_| place.coder(&["--max-reviews", "2"]))
        .collect();
    for coder in &coders {
        place.until("the limit", || {
            let last = place.log(coder, "tool").pop();
            last.is_some_and(|call| {
                call["text"]
                    .as_str()
                    .unwrap()
                    .contains("REVIEW_LIMIT_REACHED")
            })
        });
        assert_eq!(place.received(coder).len(), 2);
        for review in place.reviews(coder) {
            place.is_gone(&review.review_instance_id);
        }
    }
}

#[test]
fn a_later_reviewer_is_given_the_earlier_findings() {
    let place = Place::new("idle", "idle");
    let coder = place.coder(&[]);
    for round in 1..=2 {
        place.commit(&coder, "work");
        let answer = place.call(&coder, "request_review", &json!({ "description": "look" }));
        assert_eq!(answer["error"], false, "{answer}");
        let reviewer = place.reviews(&coder).pop().unwrap().review_instance_id;
        place.until("the reviewer is up", || {
            !place.log(&reviewer, "ready").is_empty()
        });
        let prompt = place
            .path("state/agents")
            .join(reviewer.as_str())
            .join("prompt.md");
        let prompt = std::fs::read_to_string(prompt).unwrap();
        assert_eq!(prompt.contains("the odd finding"), round == 2, "{prompt}");
        let feedback = json!({ "feedback": "the odd finding" });
        place.call(&reviewer, "request_changes", &feedback);
        place.is_gone(&reviewer);
    }
}

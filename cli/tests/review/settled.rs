//! What must be true once everything is at rest, whatever has died before.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde_json::Value;
use shared::model::{InstanceId, MessageState};

use crate::support::{PATIENCE, Place};

/// Which of `doctor`'s checks are about invariants.
const INVARIANTS: [&str; 6] = [
    "delivered",
    "statuses",
    "left behind",
    "doubled",
    "work",
    "settled",
];

/// Waits for helpers that outlive a fault, then asks for everything that is not as it must be.
pub(crate) fn invariants_hold(place: &Place, after: &str) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let printed = place.codex(&["doctor", "--deep", "--json"]);
        let checks: Vec<Value> = serde_json::from_slice(&printed.stdout).unwrap_or_default();
        let seen = checks
            .iter()
            .filter(|check| INVARIANTS.contains(&check["name"].as_str().unwrap_or_default()));
        let broken: Vec<&Value> = seen
            .clone()
            .filter(|check| check["status"] != "ok")
            .collect();
        let complete = seen.count() == INVARIANTS.len();
        if complete && broken.is_empty() {
            break;
        }
        assert!(
            Instant::now() < deadline,
            "after {after}: {broken:?}\n{}",
            place.describe()
        );
        std::thread::sleep(Duration::from_millis(100));
    }
    for instance in place.store().read_now(|r| r.instances(false)).unwrap() {
        messages_arrived_once(place, &instance.id, after);
    }
}

/// How often each process of an agent got each message, also when two came glued together.
pub(crate) fn arrivals(place: &Place, id: &InstanceId) -> HashMap<(u64, String), usize> {
    let mut counts = HashMap::new();
    for entry in place.log(id, "message") {
        let received = entry["text"].as_str().unwrap();
        for part in received.split("[claude-codex ").skip(1) {
            let name = part.split(']').next().unwrap_or_default().to_owned();
            *counts
                .entry((entry["pid"].as_u64().unwrap(), name))
                .or_default() += 1;
        }
    }
    counts
}

/// A scripted agent writes down what it was told: nothing twice, and what counts as taken really.
///
/// What was typed and not proven dies with a process, and its successor is told again.
fn messages_arrived_once(place: &Place, id: &InstanceId, after: &str) {
    let arrivals = arrivals(place, id);
    for message in place.messages(id) {
        let name = message.id.to_string();
        let times: Vec<usize> = arrivals
            .iter()
            .filter(|((_, known), _)| *known == name)
            .map(|(_, count)| *count)
            .collect();
        let doubled = times.iter().any(|count| *count > 1);
        let lost = message.state == MessageState::Taken && times.is_empty();
        assert!(
            !doubled && !lost,
            "after {after}: {name} to {id} is {} and arrived {times:?} times\n{}",
            message.state,
            place.describe()
        );
    }
}

/// Waits until living agents have been told all that they are owed, as far as anybody can know.
pub(crate) fn all_is_told(place: &Place) {
    place.until("every living agent is told what it is owed", || {
        place.codex(&["list"]);
        let all = place.store().read_now(|r| r.instances(false)).unwrap();
        all.iter()
            .filter(|instance| instance.status.is_live())
            .all(|instance| {
                place.messages(&instance.id).iter().all(|message| {
                    !matches!(message.state, MessageState::Owed | MessageState::Typed)
                })
            })
    });
}

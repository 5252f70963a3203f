//! What must be true once everything is at rest, whatever has died before.

use std::collections::HashMap;

use serde_json::Value;
use shared::model::{InstanceId, MessageState};
use tests::{AgentEnv, until_or};

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
pub(crate) fn invariants_hold(env: &AgentEnv, after: &str) {
    let broken = || {
        let printed = env.codex(&["doctor", "--deep", "--json"]);
        let checks: Vec<Value> = serde_json::from_slice(&printed.stdout).unwrap_or_default();
        INVARIANTS.map(|name| {
            let check = checks.iter().find(|check| check["name"] == name);
            match check {
                Some(check) if check["status"] == "ok" => None,
                Some(check) => Some(check.to_string()),
                None => Some(format!("{name} was not checked")),
            }
        })
    };
    let hold = || broken().iter().all(Option::is_none);
    let state = || format!("{:?}\n{}", broken(), env.describe());
    until_or(&format!("the invariants hold after {after}"), hold, state);
    for instance in env.store().read_now(|r| r.instances(false)).unwrap() {
        messages_arrived_once(env, &instance.id, after);
    }
}

/// How often each process of an agent got each message, also when two came glued together.
pub(crate) fn arrivals(env: &AgentEnv, id: &InstanceId) -> HashMap<(u64, String), usize> {
    let mut counts = HashMap::new();
    for entry in env.log(id, "message") {
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
fn messages_arrived_once(env: &AgentEnv, id: &InstanceId, after: &str) {
    let arrivals = arrivals(env, id);
    for message in env.messages(id) {
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
            env.describe()
        );
    }
}

/// Waits until living agents have been told all that they are owed, as far as anybody can know.
pub(crate) fn all_is_told(env: &AgentEnv) {
    env.until("every living agent is told what it is owed", || {
        env.codex(&["list"]);
        let all = env.store().read_now(|r| r.instances(false)).unwrap();
        all.iter()
            .filter(|instance| instance.status.is_live())
            .all(|instance| {
                env.messages(&instance.id).iter().all(|message| {
                    !matches!(message.state, MessageState::Owed | MessageState::Typed)
                })
            })
    });
}

//! Every step of every verb, with its program killed, stopped or failing there: afterwards the invariants hold.
//!
//! A step is a commit, a child process or a rename (`shared::fault`). `FAULT_STEPS=all` tries each of them; by default
//! every ninth is tried, beginning with one that depends on `FAULT_SEED`, which is printed.

use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use shared::fault;
use shared::model::{InstanceId, MessageState, Status};

use crate::support::{PATIENCE, Place, text};

/// Which of `doctor`'s checks are about invariants.
const INVARIANTS: [&str; 6] = [
    "delivered",
    "statuses",
    "left behind",
    "doubled",
    "work",
    "settled",
];
/// Between two steps that are tried by default.
const STRIDE: u64 = 9;
/// More steps than any verb has.
const MOST_STEPS: u64 = 1_000;
/// Longer than a lease on a message lasts.
const STALL: Duration = Duration::from_secs(17);

/// One verb: how things stand before it, what is done, and what a person does after the fault.
struct Scenario {
    /// The program that the fault is in.
    program: &'static str,
    before: fn(&Place) -> Option<InstanceId>,
    act: fn(&Place, Option<&InstanceId>),
    after: fn(&Place, Option<&InstanceId>),
}

/// A fault that waits for its step.
struct Armed {
    token: PathBuf,
}

impl Armed {
    fn at(place: &mut Place, program: &str, step: u64, action: &str) -> Self {
        let token = place.path("fault");
        let variable = format!("{program}:{step}:{action}:{}", token.display());
        place.set(fault::VARIABLE, &variable);
        Self { token }
    }

    /// From here on the next start of the program takes it.
    fn release(&self) {
        std::fs::write(&self.token, "").unwrap();
    }

    fn fired(&self) -> Option<String> {
        std::fs::read_to_string(self.token.with_extension("fired")).ok()
    }
}

fn steps() -> Box<dyn Iterator<Item = u64>> {
    if std::env::var("FAULT_STEPS").is_ok_and(|which| which == "all") {
        return Box::new(1..MOST_STEPS);
    }
    let seed = std::env::var("FAULT_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        now.unwrap().as_secs() % STRIDE
    });
    eprintln!("FAULT_SEED={seed}");
    Box::new((1 + seed % STRIDE..MOST_STEPS).step_by(usize::try_from(STRIDE).unwrap()))
}

/// Tries a scenario with the fault at one step after the other, until it has no more steps.
fn try_steps(action: &str, scenario: &Scenario) {
    let mut tried = 0;
    for step in steps() {
        let mut place = Place::new("idle", "idle");
        let armed = Armed::at(&mut place, scenario.program, step, action);
        let id = (scenario.before)(&place);
        armed.release();
        let stopped = (action == "stop").then(|| go_on_later(&armed, scenario.program));
        (scenario.act)(&place, id.as_ref());
        if let Some(stopped) = stopped {
            stopped.join().unwrap();
        }
        let Some(fired) = armed.fired() else {
            break;
        };
        eprintln!("{action} at step {fired}");
        // What was armed and never started must not go off later.
        let _ = std::fs::remove_file(&armed.token);
        invariants_hold(&place, &fired);
        (scenario.after)(&place, id.as_ref());
        invariants_hold(&place, &fired);
        tried += 1;
    }
    assert!(
        tried > 0 || steps().next() != Some(1),
        "no step was reached"
    );
}

/// Lets a program that has stopped itself go on after its leases have run out.
fn go_on_later(armed: &Armed, program: &'static str) -> std::thread::JoinHandle<()> {
    let token = armed.token.clone();
    std::thread::spawn(move || {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !token.with_extension("fired").exists() {
            if Instant::now() > deadline {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(STALL);
        for pid in stopped(program, &token) {
            let _ = kill_process(pid, Signal::CONT);
        }
    })
}

/// Finds the processes of a program that were started with this fault and stand still.
fn stopped(program: &str, token: &std::path::Path) -> Vec<Pid> {
    let marked = shared::process::started_with(fault::VARIABLE);
    let token = token.display().to_string();
    marked
        .into_iter()
        .filter(|(pid, value)| {
            let comm = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            value.ends_with(&token) && comm.trim() == program && stat.contains(") T ")
        })
        .filter_map(|(pid, _)| Pid::from_raw(i32::try_from(pid).ok()?))
        .collect()
}

/// Waits for helpers that outlive the fault, then asks for everything that is not as it must be.
fn invariants_hold(place: &Place, fired: &str) {
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
            "after step {fired}: {broken:?}\n{}",
            place.describe()
        );
        std::thread::sleep(Duration::from_millis(100));
    }
    for instance in place.store().read_now(|r| r.instances(false)).unwrap() {
        messages_arrived_once(place, &instance.id, fired);
    }
}

/// A scripted agent writes down what it was told: nothing twice, and what counts as taken once.
fn messages_arrived_once(place: &Place, id: &InstanceId, fired: &str) {
    let received = place.received(id).join("\n");
    for message in place.messages(id) {
        let times = received
            .matches(&format!("[claude-codex {}]", message.id))
            .count();
        let right = match message.state {
            MessageState::Taken => times == 1,
            MessageState::Owed | MessageState::Dropped => times == 0,
            MessageState::Typed | MessageState::Unconfirmed => times <= 1,
        };
        assert!(
            right,
            "after step {fired}: {} is {} and arrived {times} times",
            message.id, message.state
        );
    }
}

fn nothing(_: &Place) -> Option<InstanceId> {
    None
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "a scenario may begin without an agent"
)]
fn a_coder(place: &Place) -> Option<InstanceId> {
    Some(place.coder(&[]))
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "a scenario may begin without an agent"
)]
fn a_coder_with_work(place: &Place) -> Option<InstanceId> {
    let id = place.coder(&[]);
    place.commit(&id, "work");
    Some(id)
}

fn a_published_coder(place: &Place) -> Option<InstanceId> {
    let id = a_coder_with_work(place)?;
    let answer = place.create_pr(&id, "Add the work");
    assert_eq!(answer["error"], false, "{answer}");
    place.until("the coder has ended", || {
        place.instance(&id).owner.is_none() && !place.has_session(&id)
    });
    Some(id)
}

/// The commit that a coder made is still in the repository, whatever else happened.
fn work_is_there(place: &Place) {
    let found = place.git(&["log", "--all", "--format=%s"]);
    assert!(found.lines().any(|subject| subject == "work"), "{found}");
}

fn launch(place: &Place, _: Option<&InstanceId>) {
    place.codex(&["code", "Do the work"]);
}

fn launch_again(place: &Place, _: Option<&InstanceId>) {
    let id = place.coder(&[]);
    text(&place.codex(&["stop", id.as_str()]));
}

fn stop(place: &Place, id: Option<&InstanceId>) {
    place.codex(&["stop", id.unwrap().as_str()]);
}

fn stop_again(place: &Place, id: Option<&InstanceId>) {
    text(&place.codex(&["stop", id.unwrap().as_str()]));
    work_is_there(place);
}

fn send(place: &Place, id: Option<&InstanceId>) {
    place.send(id.unwrap(), "a word");
}

/// One more message, so that none stays behind the first.
fn send_again(place: &Place, id: Option<&InstanceId>) {
    let id = id.unwrap();
    text(&place.send(id, "another word"));
    place.until("both are settled", || {
        place.codex(&["list"]);
        let messages = place.messages(id);
        messages.iter().all(|message| {
            matches!(
                message.state,
                MessageState::Taken | MessageState::Unconfirmed
            )
        })
    });
}

fn merge(place: &Place, _: Option<&InstanceId>) {
    place.codex(&["pr", "merge", "1"]);
}

fn merged_once(place: &Place, _: Option<&InstanceId>) {
    place.codex(&["pr", "merge", "1"]);
    let shown = place.json(&["pr", "show", "1"]);
    assert_eq!(shown["state"], "merged", "{shown}");
    work_is_there(place);
    let subjects = place.git(&["log", "--format=%s", "main"]);
    let merged = subjects
        .lines()
        .filter(|subject| *subject == "work")
        .count();
    assert_eq!(merged, 1, "{subjects}");
    assert_eq!(place.git(&["status", "--porcelain"]), "");
}

/// Has the coder's server, which is the one with the fault, do something; it may die over it.
fn call_by_new_server(place: &Place, id: &InstanceId, tool: &str, arguments: &Value) {
    place.tell(id, &json!({ "restart": true }));
    place.tell(id, &json!({ "call": tool, "arguments": arguments }));
    let deadline = Instant::now() + PATIENCE;
    let before = place.log(id, "tool").len();
    while place.log(id, "tool").len() == before && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn publish(place: &Place, id: Option<&InstanceId>) {
    let arguments = json!({ "title": "Add the work", "description": "What and why." });
    call_by_new_server(place, id.unwrap(), "create_pr", &arguments);
}

/// Called again, it finds the pull request that stands, or makes the only one.
fn published_once(place: &Place, id: Option<&InstanceId>) {
    let id = id.unwrap();
    if place.status(id).is_live() {
        place.restart_server(id);
        let answer = place.create_pr(id, "Add the work");
        assert_eq!(answer["error"], false, "{answer}");
    }
    place.until("it is published", || place.status(id) == Status::PrCreated);
    let pulls = place.json(&["pr", "list", "--state", "all"]);
    assert_eq!(pulls.as_array().unwrap().len(), 1, "{pulls}");
    work_is_there(place);
}

fn ask_for_review(place: &Place, id: Option<&InstanceId>) {
    let arguments = json!({ "description": "Please look." });
    call_by_new_server(place, id.unwrap(), "request_review", &arguments);
}

/// Whether the review stands or was taken back, the coder can be ended and nothing of a reviewer stays.
fn stop_whoever_is_there(place: &Place, id: Option<&InstanceId>) {
    stop_again(place, id);
    place.until("no reviewer is left", || {
        let all = place.store().read_now(|r| r.instances(false)).unwrap();
        all.iter().all(|instance| !instance.status.is_live())
    });
}

macro_rules! scenarios {
    ($($name:ident: $action:literal in $program:literal, $before:ident, $act:ident, $after:ident;)*) => {
        $(#[test]
        fn $name() {
            try_steps($action, &Scenario { program: $program, before: $before, act: $act, after: $after });
        })*
    };
}

scenarios! {
    a_launch_that_is_killed: "kill" in "claude-codex", nothing, launch, launch_again;
    a_launch_whose_steps_fail: "fail" in "claude-codex", nothing, launch, launch_again;
    a_stop_that_is_killed: "kill" in "claude-codex", a_coder_with_work, stop, stop_again;
    a_stop_whose_steps_fail: "fail" in "claude-codex", a_coder_with_work, stop, stop_again;
    a_message_whose_sender_is_killed: "kill" in "claude-codex", a_coder, send, send_again;
    a_message_whose_sender_stalls: "stop" in "claude-codex", a_coder, send, send_again;
    a_merge_that_is_killed: "kill" in "claude-codex", a_published_coder, merge, merged_once;
    a_merge_whose_steps_fail: "fail" in "claude-codex", a_published_coder, merge, merged_once;
    a_publication_whose_server_is_killed: "kill" in "mcp-coding", a_coder_with_work, publish, published_once;
    a_publication_whose_steps_fail: "fail" in "mcp-coding", a_coder_with_work, publish, published_once;
    a_review_request_whose_server_is_killed: "kill" in "mcp-coding", a_coder_with_work, ask_for_review, stop_whoever_is_there;
    a_review_request_whose_steps_fail: "fail" in "mcp-coding", a_coder_with_work, ask_for_review, stop_whoever_is_there;
}

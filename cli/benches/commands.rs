//! How quick the commands are that are run all the time, and how quickly feedback arrives.
//!
//! `cargo bench -p claude-codex --bench commands` prints medians beside what they can't be quicker
//! than, measured in turn in the same run: starting a process that does nothing, or asking tmux once.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "prints a table; a measurement that fails has nothing to say"
)]

#[path = "../tests/review/support.rs"]
#[expect(dead_code, reason = "the tests use the rest of it")]
mod support;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use shared::model::{InstanceId, InstanceKind, LaunchStep, Origin, StatusEvent};
use shared::store::NewInstance;
use support::Place;

const AGENTS: usize = 200;
const ROUNDS: usize = 31;
const REVIEWS: usize = 20;

fn main() {
    println!(
        "{:<52} {:>9} {:>9} {:>6}  goal",
        "median of", "floor", "ours", "ratio"
    );
    list();
    hook();
    feedback();
}

fn row(name: &str, floor: Duration, ours: Duration, goal: &str) {
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    println!(
        "{name:<52} {:>6.1} ms {:>6.1} ms {:>6.2}  {goal}",
        milliseconds(floor),
        milliseconds(ours),
        ours.as_secs_f64() / floor.as_secs_f64()
    );
}

/// Takes both in turn, so that whatever else the machine does falls on both.
fn in_turn(floor: impl Fn(), ours: impl Fn()) -> (Duration, Duration) {
    let time_of = |work: &dyn Fn()| {
        let began = Instant::now();
        work();
        began.elapsed()
    };
    let times: (Vec<_>, Vec<_>) = (0..ROUNDS)
        .map(|_| (time_of(&floor), time_of(&ours)))
        .unzip();
    (median(times.0), median(times.1))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn agent(place: &Place, number: usize) -> NewInstance {
    let id: InstanceId = format!("work-bench-a{number}").parse().unwrap();
    NewInstance {
        kind: InstanceKind::Coding,
        origin: Origin::Launched,
        repository: place.path("repo").display().to_string(),
        worktree_path: place.path("repo"),
        branch_name: Some(format!("codex/{id}")),
        base_branch: "main".to_owned(),
        base_commit: None,
        tmux_session: Some(id.to_string()),
        tmux_pane: None,
        claude_session_id: None,
        issue_number: None,
        task_id: None,
        parent_instance_id: None,
        prompt: "Measure".to_owned(),
        require_review: false,
        max_reviews: 3,
        launch_step: LaunchStep::Ready,
        owner: None,
        id,
    }
}

/// `list` with many agents, each with a living session.
fn list() {
    let place = Place::new("idle", "idle");
    // The first agent starts the tmux server as ours; the others only need to be there.
    place.coder(&[]);
    for number in 1..AGENTS {
        let new = agent(&place, number);
        let id = new.id.clone();
        let made = place.store().write_now(|w| {
            w.insert_instance(&new, None)?;
            w.transition(&id, StatusEvent::Connected)
        });
        made.unwrap();
        let session = place.tmux(&[
            "new-session",
            "-d",
            "-s",
            id.as_str(),
            "--",
            "sleep",
            "1000",
        ]);
        assert!(session.status.success());
        place.tmux(&[
            "set-option",
            "-F",
            "-p",
            "-t",
            &format!("={id}:"),
            "@claude_codex_agent",
            "#{pane_pid}",
        ]);
    }
    let (floor, ours) = in_turn(
        || {
            place.tmux(&["list-panes", "-a", "-F", "#{session_name}"]);
        },
        || {
            let printed = place.codex(&["list", "--json"]);
            assert!(printed.status.success());
        },
    );
    let printed: serde_json::Value =
        serde_json::from_slice(&place.codex(&["list", "--json"]).stdout).unwrap();
    assert_eq!(printed.as_array().unwrap().len(), AGENTS);
    row(
        &format!("list with {AGENTS} agents (floor: tmux list-panes)"),
        floor,
        ours,
        "< 50 ms",
    );
}

/// The hook that runs at the end of every turn.
fn hook() {
    let mut place = Place::new("idle", "idle");
    let coder = place.coder(&[]);
    place.set("CODEX_INSTANCE_ID", coder.as_str());
    let payload = json!({ "hook_event_name": "Stop", "session_id": "0b2f6a52-6a3c-4c6e-9d3e-0a1b2c3d4e5f",
        "transcript_path": "/nowhere", "cwd": "/", "stop_hook_active": false });
    let (floor, ours) = in_turn(
        || {
            Command::new("true").stdin(Stdio::null()).status().unwrap();
        },
        || {
            let done = place.start(&["hook", "Stop"], &payload.to_string());
            assert!(done.wait_with_output().unwrap().status.success());
        },
    );
    row("hook Stop (floor: starting `true`)", floor, ours, "< 10 ms");
}

/// From `request_changes` being called to an idle agent's acknowledgement.
fn feedback() {
    let place = Place::new("idle", "idle");
    let coder = place.coder(&["--max-reviews", &REVIEWS.to_string()]);
    let mut times = Vec::new();
    let mut floors = Vec::new();
    for _ in 0..REVIEWS {
        place.commit(&coder, "work");
        place.call(&coder, "request_review", &json!({ "description": "look" }));
        let reviewer = place.reviews(&coder).pop().unwrap().review_instance_id;
        place.until("the reviewer is up", || {
            !place.log(&reviewer, "ready").is_empty()
        });
        let answer = place.call(&reviewer, "request_changes", &json!({ "feedback": "no" }));
        assert_eq!(answer["result"]["feedbackDelivered"], true, "{answer}");
        let (began, ended) = (answer["began"].as_f64(), answer["at"].as_f64());
        times.push(Duration::from_secs_f64(ended.unwrap() - began.unwrap()));
        place.is_gone(&reviewer);
        let began = Instant::now();
        place.tmux(&["list-panes", "-a"]);
        floors.push(began.elapsed());
    }
    row(
        "request_changes to acknowledgement (floor: one tmux)",
        median(floors),
        median(times.clone()),
        "< 300 ms",
    );
    times.sort();
    println!(
        "{:<52} {:>19.1} ms",
        "  the same, 95 of 100",
        times[times.len() * 95 / 100].as_secs_f64() * 1e3
    );
}

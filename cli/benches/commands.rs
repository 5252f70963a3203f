//! How quick the commands are that are run all the time, and how quickly feedback arrives.
//!
//! `cargo bench -p claude-codex --bench commands` prints medians beside what they can't be quicker
//! than, measured in turn in the same run: starting a process that does nothing, or asking tmux once.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "prints a table; a measurement that fails has nothing to say"
)]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use shared::model::{Origin, StatusEvent};
use shared::store::NewInstance;
use tests::bench::{Times, milliseconds};
use tests::dashboard::Dashboard;
use tests::{AgentEnv, sample_instance};

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
    person_feedback();
}

fn row(name: &str, floor: Duration, ours: Duration, goal: &str) {
    println!(
        "{name:<52} {:>6.1} ms {:>6.1} ms {:>6.2}  {goal}",
        milliseconds(floor),
        milliseconds(ours),
        ours.as_secs_f64() / floor.as_secs_f64()
    );
}

fn agent(env: &AgentEnv, number: usize) -> NewInstance {
    let id = format!("work-bench-a{number}");
    NewInstance {
        origin: Origin::Launched,
        repository: env.repository().display().to_string(),
        worktree_path: env.repository().to_owned(),
        branch_name: Some(format!("codex/{id}")),
        tmux_session: Some(id.clone()),
        ..sample_instance(&id)
    }
}

/// `list` with many agents, each with a living session.
fn list() {
    let env = AgentEnv::new("idle", "idle");
    // The first agent starts the tmux server as ours; the others only need to be there.
    env.coder(&[]);
    for number in 1..AGENTS {
        let new = agent(&env, number);
        let id = new.id.clone();
        let made = env.store().write_now(|w| {
            w.insert_instance(&new, None)?;
            w.transition(&id, StatusEvent::Connected)
        });
        made.unwrap();
        let session = env.tmux(&[
            "new-session",
            "-d",
            "-s",
            id.as_str(),
            "--",
            "sleep",
            "1000",
        ]);
        assert!(session.status.success());
        env.tmux(&[
            "set-option",
            "-F",
            "-p",
            "-t",
            &format!("={id}:"),
            "@claude_codex_agent",
            "#{pane_pid}",
        ]);
    }
    let [floor, ours] = Times::in_turn(
        ROUNDS,
        || {
            env.tmux(&["list-panes", "-a", "-F", "#{session_name}"]);
        },
        || {
            let printed = env.codex(&["list", "--json"]);
            assert!(printed.status.success());
        },
    );
    let printed = env.json(&["list"]);
    assert_eq!(printed.as_array().unwrap().len(), AGENTS);
    row(
        &format!("list with {AGENTS} agents (floor: tmux list-panes)"),
        floor.median(),
        ours.median(),
        "< 50 ms",
    );
}

/// The hook that runs at the end of every turn.
fn hook() {
    let mut env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&[]);
    env.set("CODEX_INSTANCE_ID", coder.as_str());
    let payload = json!({ "hook_event_name": "Stop", "session_id": "0b2f6a52-6a3c-4c6e-9d3e-0a1b2c3d4e5f",
        "transcript_path": "/nowhere", "cwd": "/", "stop_hook_active": false });
    let [floor, ours] = Times::in_turn(
        ROUNDS,
        || {
            Command::new("true").stdin(Stdio::null()).status().unwrap();
        },
        || {
            let done = env.start(&["hook", "Stop"], &payload.to_string());
            assert!(done.wait_with_output().unwrap().status.success());
        },
    );
    row(
        "hook Stop (floor: starting `true`)",
        floor.median(),
        ours.median(),
        "< 10 ms",
    );
}

/// From `request_changes` being called to an idle agent's acknowledgement.
fn feedback() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&["--max-reviews", &REVIEWS.to_string()]);
    let mut times = Vec::new();
    let mut floors = Vec::new();
    for _ in 0..REVIEWS {
        env.commit(&coder, "work");
        env.call(&coder, "request_review", &json!({ "description": "look" }));
        let reviewer = env
            .reviews(&coder)
            .pop()
            .unwrap()
            .review_instance_id
            .unwrap();
        env.until("the reviewer is up", || {
            !env.log(&reviewer, "ready").is_empty()
        });
        let answer = env.call(&reviewer, "request_changes", &json!({ "feedback": "no" }));
        assert_eq!(answer["result"]["feedbackDelivered"], true, "{answer}");
        let (began, ended) = (answer["began"].as_f64(), answer["at"].as_f64());
        times.push(Duration::from_secs_f64(ended.unwrap() - began.unwrap()));
        env.until_gone(&reviewer);
        let began = Instant::now();
        env.tmux(&["list-panes", "-a"]);
        floors.push(began.elapsed());
    }
    let times = Times::new(times);
    row(
        "request_changes to acknowledgement (floor: one tmux)",
        Times::new(floors).median(),
        times.median(),
        "< 300 ms",
    );
    println!(
        "{:<52} {:>19.1} ms",
        "  the same, 95 of 100",
        milliseconds(times.percentile(95))
    );
}

/// From a person's click on "Request changes" to an idle agent's acknowledgement.
fn person_feedback() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&[]);
    env.commit(&coder, "work");
    let dashboard = Dashboard::start(&env, &[]);
    let path = format!("/api/instances/{coder}/request-changes");
    let (mut times, mut floors) = (Vec::new(), Vec::new());
    for _ in 0..REVIEWS {
        let began = Instant::now();
        let answer = dashboard.post(&path, &json!({ "text": "no" })).good();
        times.push(began.elapsed());
        assert_eq!(answer["delivered"], true, "{answer}");
        let began = Instant::now();
        dashboard.get("/healthz").good();
        floors.push(began.elapsed());
    }
    let times = Times::new(times);
    row(
        "a person's request changes (floor: one request)",
        Times::new(floors).median(),
        times.median(),
        "< 300 ms",
    );
    println!(
        "{:<52} {:>19.1} ms",
        "  the same, 95 of 100",
        milliseconds(times.percentile(95))
    );
}

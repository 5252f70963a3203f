//! How quick the dashboard is with much to show, and what a live terminal costs.
//!
//! `cargo bench -p claude-codex --bench dashboard` prints each beside its goal. Processor time is that of the
//! dashboard and of the tmux clients that it runs.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "prints a table; a measurement that fails has nothing to say"
)]

use std::fmt::Display;
use std::time::{Duration, Instant};

use serde_json::json;
use shared::model::{EventSource, InstanceId, Note, StatusEvent};
use shared::store::{NewEvent, NewInstance};
use tests::bench::{Times, milliseconds};
use tests::dashboard::Dashboard;
use tests::{AgentEnv, sample_instance};

const AGENTS: usize = 200;
const EVENTS: usize = 100_000;
const ROUNDS: usize = 31;
const WATCHED: Duration = Duration::from_secs(10);

/// Prints without a pause while a file lies in its folder, and is quiet without.
const AGENT: &str =
    "sh -c 'while :; do if [ -e busy ]; then date +%N; sleep 0.02; else sleep 0.3; fi; done'";

fn main() {
    println!("{:<58} {:>12}  goal", "", "measured");
    many();
    terminal();
}

fn row(name: &str, measured: impl Display, goal: &str) {
    println!("{name:<58} {measured:>12}  {goal}");
}

fn in_milliseconds(time: Duration) -> String {
    format!("{:.1} ms", milliseconds(time))
}

fn agent(env: &AgentEnv, number: usize) -> NewInstance {
    let id = format!("work-bench-a{number}");
    NewInstance {
        repository: env.repository().display().to_string(),
        worktree_path: env.repository().to_owned(),
        branch_name: Some(format!("codex/{id}")),
        prompt: "Fix the login page, which fails when the name has an apostrophe.\n".repeat(20),
        ..sample_instance(&id)
    }
}

fn fill(env: &AgentEnv) -> InstanceId {
    let store = env.store();
    let agents: Vec<NewInstance> = (0..AGENTS).map(|number| agent(env, number)).collect();
    store
        .write_now(|w| {
            for agent in &agents {
                w.insert_instance(agent, None)?;
                w.transition(&agent.id, StatusEvent::Connected)?;
            }
            for number in 0..EVENTS {
                w.insert_event(&NewEvent {
                    instance: Some(agents[number % AGENTS].id.clone()),
                    source: EventSource::Tool,
                    server: "mcp-coding".to_owned(),
                    name: "request_review".to_owned(),
                    parameters: json!({ "description": "What changed and why, in a sentence or two." }),
                    result: Some(json!({ "reviewInstanceId": "review-bench-a1-r1", "message": "It is at work." })),
                    error_code: (number % 50 == 0).then(|| "WORKTREE_DIRTY".to_owned()),
                    status_changes: Vec::new(),
                    duration_ms: 12.5,
                })?;
            }
            Ok(())
        })
        .unwrap();
    agents[0].id.clone()
}

/// Two hundred agents with sessions in tmux, and a long past.
fn many() {
    let env = AgentEnv::new("idle", "idle");
    for number in 0..AGENTS {
        env.tmux(&[
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-s",
            &format!("s{number}"),
            "sleep 1000",
        ]);
    }
    let first = fill(&env);
    let dashboard = Dashboard::start(&env, &[]);
    for (name, path, goal) in [
        ("the board as JSON", "/api/board".to_owned(), "under 100 ms"),
        ("the board as a page", "/".to_owned(), "under 100 ms"),
        ("one agent as JSON", format!("/api/instances/{first}"), ""),
        ("the newest events", "/api/events".to_owned(), ""),
        ("failures only", "/api/events?errors=true".to_owned(), ""),
        (
            "numbers for Prometheus, not the first time",
            "/metrics".to_owned(),
            "",
        ),
    ] {
        let bytes = dashboard.get(&path).body.len();
        let times = Times::of(ROUNDS, || assert_eq!(dashboard.get(&path).status, 200));
        let name = format!(
            "{name}, {AGENTS} agents, {EVENTS} events ({} KB)",
            bytes / 1024
        );
        row(&name, in_milliseconds(times.median()), goal);
    }
    let mut changes = dashboard.stream("/api/changes");
    assert!(changes.next().is_some());
    let store = env.store();
    let times = (0..ROUNDS).map(|number| {
        // What agents do is looked at once a second, and may be a change, too.
        std::thread::sleep(Duration::from_millis(150));
        let note = format!("note {number}");
        let began = Instant::now();
        store
            .write_now(|w| w.set_note(&first, &Note::because(note.as_str())))
            .unwrap();
        changes.until("a change", |name, _| name == "change");
        let _ = dashboard.get("/?fragment=1");
        began.elapsed()
    });
    row(
        "from a change to the new board",
        in_milliseconds(Times::new(times).median()),
        "under 500 ms",
    );
    row(
        "memory after that",
        format!("{:.1} MB", memory(&dashboard)),
        "under 40 MB",
    );
    let before = processor(&dashboard);
    std::thread::sleep(WATCHED);
    row(
        "one page open, nothing happens",
        share(before, processor(&dashboard)),
        "",
    );
    drop(changes);
    let before = processor(&dashboard);
    std::thread::sleep(WATCHED);
    row("nobody connected", share(before, processor(&dashboard)), "");
}

/// One terminal, looked at while it prints and while it does not.
fn terminal() {
    let mut env = AgentEnv::new("idle", "idle");
    env.set("CODEX_AGENT_COMMAND", AGENT);
    let dashboard = Dashboard::start(&env, &[]);
    let launched = dashboard
        .post("/api/instances", &json!({ "prompt": "Print" }))
        .good();
    let id: InstanceId = launched["id"].as_str().unwrap().parse().unwrap();
    let busy = env.instance(&id).worktree_path.join("busy");
    let path = format!("/api/instances/{id}/terminal");
    let reader = |path: String, stop: std::sync::Arc<std::sync::atomic::AtomicBool>| {
        let mut stream = dashboard.stream(&path);
        std::thread::spawn(move || {
            let mut events = 0;
            while !stop.load(std::sync::atomic::Ordering::Relaxed) && stream.next().is_some() {
                events += 1;
            }
            events
        })
    };
    for viewers in [1, 8] {
        let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let readers: Vec<_> = (0..viewers)
            .map(|_| reader(path.clone(), std::sync::Arc::clone(&stop)))
            .collect();
        std::thread::sleep(Duration::from_secs(2));
        let before = processor(&dashboard);
        std::thread::sleep(WATCHED);
        let goal = if viewers == 1 { "none" } else { "" };
        row(
            &format!("a quiet terminal, {viewers} looking"),
            share(before, processor(&dashboard)),
            goal,
        );
        std::fs::write(&busy, "").unwrap();
        std::thread::sleep(Duration::from_secs(1));
        let before = processor(&dashboard);
        std::thread::sleep(WATCHED);
        let goal = if viewers == 1 { "under 3 %" } else { "" };
        row(
            &format!("a busy terminal, {viewers} looking"),
            share(before, processor(&dashboard)),
            goal,
        );
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        let events: usize = readers
            .into_iter()
            .map(|reader| reader.join().unwrap())
            .sum();
        std::fs::remove_file(&busy).unwrap();
        row("  screens sent to each", events / viewers, "");
    }
}

/// Returns the processor time of the dashboard and of its children that have ended.
fn processor(dashboard: &Dashboard) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", dashboard.child.id())).unwrap();
    let (_, rest) = stat.rsplit_once(") ").unwrap();
    let fields: Vec<u64> = rest
        .split(' ')
        .skip(11)
        .take(4)
        .map(|field| field.parse().unwrap())
        .collect();
    // A tick is 10 ms on every Linux that there is.
    Duration::from_millis(fields.iter().sum::<u64>() * 10)
}

fn share(before: Duration, after: Duration) -> String {
    let used = after.saturating_sub(before);
    format!(
        "{:.2} %",
        used.as_secs_f64() / WATCHED.as_secs_f64() * 100.0
    )
}

fn memory(dashboard: &Dashboard) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", dashboard.child.id())).unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    let kilobytes: f64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kilobytes / 1024.0
}

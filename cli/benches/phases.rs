//! How quick the TDD phases' hooks are in a repository of 20,000 files.
//!
//! `cargo bench -p claude-codex --bench phases` prints p50 and p99 of whole processes, as Claude Code calls them,
//! beside what they can't be quicker than, measured in turn in the same run: a process that does nothing, or `git status`.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "prints a table; a measurement that fails has nothing to say"
)]

#[path = "../tests/phases/support.rs"]
#[expect(dead_code, reason = "the tests use the rest of it")]
mod support;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use shared::model::Phase;
use support::{LIBRARY, Place, SESSION};

const FILES: usize = 20_000;
const ROUNDS: usize = 300;
const LONG_ROUNDS: usize = 30;

fn main() {
    let place = Place::scripted();
    for number in 0..FILES {
        let name = format!("src/part{}/file{number}.rs", number % 200);
        place.write(&name, &format!("pub fn f{number}() {{}}\n"));
    }
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "many files"]);
    let began = Instant::now();
    place.begin(Phase::Tests);
    println!(
        "/tdd start, with a snapshot of {FILES} files: {:.0} ms\n",
        began.elapsed().as_secs_f64() * 1e3
    );
    println!(
        "{:<46} {:>9} {:>9} {:>9} {:>9}  goal",
        "milliseconds", "floor p50", "floor p99", "ours p50", "ours p99"
    );
    let at = |name: &str| place.repo().join(name);
    let write = json!({ "tool_name": "Write", "tool_input": { "file_path": at("src/part7/file7.rs"), "content": "pub fn x() {}" } });
    let edit = json!({ "tool_name": "Edit", "tool_input": { "file_path": at("src/lib.rs"), "old_string": "add(1, 1), 2", "new_string": "add(2, 2), 4" } });
    assert!(LIBRARY.contains("add(1, 1), 2"));
    let command = json!({ "tool_name": "Bash", "tool_input": { "command": "cargo test" } });
    let nothing = || {
        Command::new("true").stdin(Stdio::null()).status().unwrap();
    };
    let status = || {
        place.git(&["status", "--porcelain"]);
    };
    let hook = |event: &'static str, rest: &Value| {
        let payload = place.payload(SESSION, event, rest).to_string();
        let place = &place;
        move || {
            place.raw_hook(event, payload.as_bytes());
        }
    };
    row(
        "guard: Write that is denied",
        ROUNDS,
        nothing,
        hook("PreToolUse", &write),
        "p99 < 10",
    );
    row(
        "guard: Edit of tests inside a Rust file",
        ROUNDS,
        nothing,
        hook("PreToolUse", &edit),
        "p99 < 10",
    );
    row(
        "guard: Bash",
        ROUNDS,
        nothing,
        hook("PreToolUse", &command),
        "p99 < 10",
    );
    row(
        "after a Bash command (floor: git status)",
        LONG_ROUNDS,
        status,
        hook("PostToolUse", &command),
        "–",
    );
}

/// Takes both in turn, so that whatever else the machine does falls on both.
fn row(name: &str, rounds: usize, floor: impl Fn(), ours: impl Fn(), goal: &str) {
    let time_of = |work: &dyn Fn()| {
        let began = Instant::now();
        work();
        began.elapsed()
    };
    let (mut floors, mut times): (Vec<_>, Vec<_>) = (0..rounds)
        .map(|_| (time_of(&floor), time_of(&ours)))
        .unzip();
    floors.sort();
    times.sort();
    let part = |times: &[Duration], percent: usize| {
        let at = (times.len() * percent / 100).min(times.len() - 1);
        times[at].as_secs_f64() * 1e3
    };
    println!(
        "{name:<46} {:>9.1} {:>9.1} {:>9.1} {:>9.1}  {goal}",
        part(&floors, 50),
        part(&floors, 99),
        part(&times, 50),
        part(&times, 99)
    );
}

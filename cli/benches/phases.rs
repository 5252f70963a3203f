//! How quick the TDD phases' hooks are in a repository of 20,000 files.
//!
//! `cargo bench -p claude-codex --bench phases` prints p50 and p99 of whole processes, as Claude Code calls them,
//! beside what they can't be quicker than, measured in turn in the same run: a process that does nothing, or `git status`.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "prints a table; a measurement that fails has nothing to say"
)]

use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};
use shared::model::Phase;
use tests::bench::{Times, milliseconds};
use tests::phase_env::{LIBRARY, PhaseEnv, SESSION};

const FILES: usize = 20_000;
const ROUNDS: usize = 300;
const LONG_ROUNDS: usize = 30;

fn main() {
    let env = PhaseEnv::scripted();
    for number in 0..FILES {
        let name = format!("src/part{}/file{number}.rs", number % 200);
        env.write(&name, &format!("pub fn f{number}() {{}}\n"));
    }
    env.commit_all("many files");
    let began = Instant::now();
    env.begin(Phase::Tests);
    println!(
        "/tdd start, with a snapshot of {FILES} files: {:.0} ms\n",
        milliseconds(began.elapsed())
    );
    println!(
        "{:<46} {:>9} {:>9} {:>9} {:>9}  goal",
        "milliseconds", "floor p50", "floor p99", "ours p50", "ours p99"
    );
    let at = |name: &str| env.repository().join(name);
    let write = json!({ "tool_name": "Write", "tool_input": { "file_path": at("src/part7/file7.rs"), "content": "pub fn x() {}" } });
    let edit = json!({ "tool_name": "Edit", "tool_input": { "file_path": at("src/lib.rs"), "old_string": "add(1, 1), 2", "new_string": "add(2, 2), 4" } });
    assert!(LIBRARY.contains("add(1, 1), 2"));
    let command = json!({ "tool_name": "Bash", "tool_input": { "command": "cargo test" } });
    let nothing = || {
        Command::new("true").stdin(Stdio::null()).status().unwrap();
    };
    let status = || {
        env.git(&["status", "--porcelain"]);
    };
    let hook = |event: &'static str, rest: &Value| {
        let payload = env.payload(SESSION, event, rest).to_string();
        let env = &env;
        move || {
            env.raw_hook(event, payload.as_bytes());
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

/// Prints percentiles of both, measured in turn.
fn row(name: &str, rounds: usize, floor: impl Fn(), ours: impl Fn(), goal: &str) {
    let [floor, ours] = Times::in_turn(rounds, floor, ours);
    let part = |times: &Times, percent| milliseconds(times.percentile(percent));
    println!(
        "{name:<46} {:>9.1} {:>9.1} {:>9.1} {:>9.1}  {goal}",
        part(&floor, 50),
        part(&floor, 99),
        part(&ours, 50),
        part(&ours, 99)
    );
}

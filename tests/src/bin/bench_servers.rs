//! How fast and how small the servers are, beside a bare rmcp server measured in the same run.
//!
//! `cargo build --release --workspace --bins && target/release/bench_servers`

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "prints a table; a measurement that fails has nothing to say"
)]

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tests::{Client, Era, Server, TestEnv, binary};

const STARTS: usize = 41;
const SEQUENTIAL: usize = 2_000;
const PIPELINED: usize = 10_000;

fn main() {
    let echo = binary("rmcp_echo");
    let planning = Server::Planning.path();

    println!("| measure | bare rmcp echo | ours | ratio | goal |");
    println!("|---|---|---|---|---|");
    for server in Server::ALL {
        let (bare, ours) = starts(&echo, &server.path());
        row(
            &format!("{}: start to first answer, ms", server.name()),
            bare,
            ours,
            "≤ 2 times",
        );
    }
    let echoed = json!({"name": "echo", "arguments": {"text": "One"}});
    let task = json!({"name": "create_task", "arguments": {
        "taskTitle": "One", "taskDescription": "Why it is to be done", "priority": "low",
    }});
    let (bare, ours) = (sequential(&echo, &echoed), sequential(&planning, &task));
    row("create_task: one at a time, p50 ms", bare, ours, "–");
    let (bare, ours) = (pipelined(&echo, &echoed), pipelined(&planning, &task));
    row("create_task: pipelined, calls/s", bare, ours, "≥ 3,000");
    let bare = memory(&echo, None);
    for server in Server::ALL {
        let ours = memory(&server.path(), None);
        row(
            &format!("{}: RSS idle, MB", server.name()),
            bare,
            ours,
            "≤ 12",
        );
    }
    let ours = memory(&planning, Some(&task));
    row("mcp-planning: RSS after a create_task, MB", bare, ours, "–");
}

fn row(measure: &str, bare: f64, ours: f64, goal: &str) {
    let digits = if ours > 100.0 { 0 } else { 2 };
    let ratio = ours / bare;
    println!("| {measure} | {bare:.digits$} | {ours:.digits$} | {ratio:.2} | {goal} |");
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1000.0
}

fn started(env: &TestEnv, program: &Path) -> Client {
    let mut client = Client::spawn(env.command(program), Era::Legacy);
    client.greet();
    client
}

/// Takes both in turns, so that what else the machine does falls on both.
fn starts(bare: &Path, ours: &Path) -> (f64, f64) {
    let env = TestEnv::new();
    let once = |program: &Path| {
        let began = Instant::now();
        let client = started(&env, program);
        let took = began.elapsed();
        drop(client);
        took
    };
    let times: (Vec<Duration>, Vec<Duration>) =
        (0..STARTS).map(|_| (once(bare), once(ours))).unzip();
    (median(times.0), median(times.1))
}

fn checked(result: &Value) {
    assert_ne!(result["isError"], json!(true), "{result}");
}

fn sequential(program: &Path, call: &Value) -> f64 {
    let env = TestEnv::new();
    let mut client = started(&env, program);
    checked(&client.request("tools/call", call.clone()).unwrap());
    let times = (0..SEQUENTIAL)
        .map(|_| {
            let began = Instant::now();
            checked(&client.request("tools/call", call.clone()).unwrap());
            began.elapsed()
        })
        .collect();
    median(times)
}

/// Sends without waiting for answers, with a bounded number on the way.
fn pipelined(program: &Path, call: &Value) -> f64 {
    const ON_THE_WAY: usize = 64;
    let env = TestEnv::new();
    let mut client = started(&env, program);
    checked(&client.request("tools/call", call.clone()).unwrap());
    let began = Instant::now();
    for number in 0..PIPELINED + ON_THE_WAY {
        if number < PIPELINED {
            client.begin("tools/call", call.clone());
        }
        if number >= ON_THE_WAY {
            checked(&client.receive()["result"]);
        }
    }
    let count = u32::try_from(PIPELINED).unwrap();
    f64::from(count) / began.elapsed().as_secs_f64()
}

/// Returns the resident memory of a server that has listed its tools, in MB.
fn memory(program: &Path, call: Option<&Value>) -> f64 {
    let env = TestEnv::new();
    let mut client = started(&env, program);
    client.request("tools/list", json!({})).unwrap();
    if let Some(call) = call {
        checked(&client.request("tools/call", call.clone()).unwrap());
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", client.id())).unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS"))
        .unwrap();
    let kilobytes: u32 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    f64::from(kilobytes) / 1024.0
}

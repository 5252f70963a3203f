//! How long commands, pages and calls take on a database of a million events, 100,000 tasks and 5,000 ended agents.
//!
//! `cargo build --release --workspace --bins && target/release/bench_scale [STATE_FOLDER REPOSITORY]`
//!
//! With arguments it measures on what `make_large_database` has made before; it adds a few rows to it.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "prints a table; a measurement that fails has nothing to say"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tests::large_database::{Size, fill};
use tests::{Client, Era, Server, TestEnv, binary};

/// Each is measured so often; the median counts, so that a hiccup of the machine does not.
const TIMES: usize = 7;

const COMMANDS: &[&[&str]] = &[
    &["--version"],
    &["list"],
    &["list", "--json"],
    &["list", "--all", "--json"],
    &["show", "work-1000-a1"],
    &["events"],
    &["events", "work-1000-a1"],
    &["tasks"],
    &["tasks", "--ready"],
    &["tasks", "--json", "--limit", "50"],
    &["tasks", "--json"],
    &["doctor"],
    &["clean", "--dry-run"],
];

const PAGES: &[&str] = &[
    "/",
    "/tasks",
    "/tasks?offset=90000",
    "/events",
    "/events?name=create_pr",
    "/events?name=unknown",
    "/events?errors=true",
    "/events?errors=true&name=unknown",
    "/events?instance=work-1000-a1",
    "/agents/work-1000-a1",
    "/pulls",
    "/launch",
    "/metrics",
    "/api/board",
    "/api/tasks",
    "/api/events",
];

fn main() {
    let mut env = TestEnv::new();
    let mut arguments = std::env::args().skip(1);
    if let (Some(state), Some(repository)) = (arguments.next(), arguments.next()) {
        env.set("CODEX_STATE_DIR", state);
        env.enter(repository);
    } else {
        let repository = env.repository();
        fill(&env.database(), &repository.to_string_lossy(), Size::LARGE).unwrap();
    }
    println!("| what | ms | lines | bytes |");
    println!("|---|---|---|---|");
    for arguments in COMMANDS {
        measure(&format!("`claude-codex {}`", arguments.join(" ")), || {
            let mut command = env.command(binary("claude-codex"));
            command.args(*arguments).output().unwrap().stdout
        });
    }
    let dashboard = Dashboard::start(&env);
    for page in PAGES {
        measure(&format!("`GET {page}`"), || dashboard.get(page));
    }
    drop(dashboard);
    measure("`mcp-planning` from its start to its first answer", || {
        let mut client = Client::start(&env, Server::Planning, Era::Legacy);
        client.greet().to_string().into_bytes()
    });
    env.set(
        "CLAUDE_CODE_SESSION_ID",
        "00000000-0000-4000-8000-000000000001",
    );
    let mut client = Client::start(&env, Server::Planning, Era::Legacy);
    client.greet();
    measure("`create_task`", || {
        let made = client.request("tools/call", task()).unwrap();
        assert_ne!(made["isError"], json!(true), "{made}");
        made.to_string().into_bytes()
    });
    measure("`codex://tasks`", || {
        client
            .read("codex://tasks")
            .unwrap()
            .to_string()
            .into_bytes()
    });
    measure("`codex://tasks?offset=90000`", || {
        let page = client.read("codex://tasks?offset=90000").unwrap();
        page.to_string().into_bytes()
    });
}

fn task() -> Value {
    json!({"name": "create_task", "arguments": {
        "taskTitle": "One", "taskDescription": "Why it is to be done", "priority": "low",
    }})
}

fn measure(name: &str, mut work: impl FnMut() -> Vec<u8>) {
    let mut times = Vec::new();
    let mut printed = Vec::new();
    for _ in 0..TIMES {
        let began = Instant::now();
        printed = work();
        times.push(began.elapsed());
        // What takes that long needs no second look.
        if began.elapsed() > Duration::from_secs(1) {
            break;
        }
    }
    times.sort_unstable();
    let milliseconds = times[times.len() / 2].as_secs_f64() * 1000.0;
    let lines = printed.split(|byte| *byte == b'\n').count() - 1;
    println!(
        "| {name} | {milliseconds:.1} | {lines} | {} |",
        printed.len()
    );
}

struct Dashboard {
    process: Child,
    address: String,
    token: String,
}

impl Dashboard {
    fn start(env: &TestEnv) -> Self {
        let mut process = env
            .command(binary("claude-codex"))
            .args(["dashboard", "--port", "0", "--json"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut printed = BufReader::new(process.stdout.take().unwrap());
        printed.read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap();
        Self {
            process,
            address: said["address"].as_str().unwrap().to_owned(),
            token: said["token"].as_str().unwrap().to_owned(),
        }
    }

    fn get(&self, page: &str) -> Vec<u8> {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let request = format!(
            "GET {page} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\nconnection: close\r\n\r\n",
            self.address, self.token
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let first = String::from_utf8_lossy(&answer[..answer.len().min(15)]).into_owned();
        assert!(
            first.starts_with("HTTP/1.1 200") || first.starts_with("HTTP/1.1 400"),
            "{page}: {first}"
        );
        answer
    }
}

impl Drop for Dashboard {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

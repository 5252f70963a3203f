//! Many servers on one database: what they cost while nothing happens, and how they write at once.
//!
//! `cargo build --release --workspace --bins && target/release/bench_load [FOLDER WITH OTHER SERVERS]`

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "prints a table; a measurement that fails has nothing to say"
)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::{Value, json};
use tests::{Client, Era, Server, TestEnv};

const IDLE_SERVERS: usize = 128;
const IDLE: Duration = Duration::from_secs(20);
/// Commits a second of somebody else, in the second part of the idle time.
const COMMITS: u32 = 20;
const WRITING: Duration = Duration::from_secs(8);
const PROCESSES: usize = 8;
/// Of `/proc/PID/stat`, on every Linux.
const TICKS_PER_SECOND: f64 = 100.0;

fn main() {
    let mut arguments = std::env::args_os().skip(1);
    let first = arguments.next();
    if first.as_deref().is_some_and(|first| first == "plain") {
        return write_plainly(Path::new(&arguments.next().unwrap()));
    }
    let server = match first {
        Some(folder) => PathBuf::from(folder).join(Server::Planning.name()),
        None => Server::Planning.path(),
    };
    println!("| measure | measured |");
    println!("|---|---|");
    idle(&server);
    for servers in [64, 128] {
        let (calls, mut times, failed) = write_at_once(&server, servers);
        times.sort_unstable();
        let at = |percent: usize| times[(times.len() - 1) * percent / 100].as_secs_f64() * 1000.0;
        println!(
            "| create_task by {servers} servers at once: p50, p99, slowest | {:.1}, {:.0}, {:.0} ms ({calls:.0} calls/s, {failed} failed) |",
            at(50),
            at(99),
            at(100)
        );
    }
    // In turns, so that what else the machine does falls on both.
    let (mut ours, mut bare) = (0.0, 0.0);
    for _ in 0..2 {
        bare += plain() / 2.0;
        ours += write_at_once(&server, PROCESSES).0 / 2.0;
    }
    println!(
        "| create_task by {PROCESSES} servers, calls/s; plain SQLite by as many processes, commits/s | {ours:.0}; {bare:.0} ({:.2}) |",
        ours / bare
    );
}

fn task() -> Value {
    json!({"name": "create_task", "arguments": {
        "taskTitle": "One", "taskDescription": "Why it is to be done", "priority": "low",
    }})
}

/// Starts servers that have each an agent to deliver to.
fn started(env: &mut TestEnv, server: &Path, count: usize) -> Vec<Client> {
    (0..count)
        .map(|number| {
            let session = format!("00000000-0000-4000-8000-{number:012}");
            env.set("CLAUDE_CODE_SESSION_ID", session);
            let mut client = Client::spawn(env.command(server), Era::Legacy);
            client.greet();
            let made = client.request("tools/call", task()).unwrap();
            assert_ne!(made["isError"], json!(true), "{made}");
            client
        })
        .collect()
}

fn idle(server: &Path) {
    let mut env = TestEnv::new();
    let clients = started(&mut env, server, IDLE_SERVERS);
    // What the start left to do is done.
    thread::sleep(Duration::from_secs(5));
    let measure = |name: &str, meanwhile: &dyn Fn()| {
        let before: Vec<_> = clients.iter().map(used).collect();
        let began = Instant::now();
        meanwhile();
        let seconds = began.elapsed().as_secs_f64();
        let (mut cpu, mut switches) = (0.0, 0.0);
        for (client, before) in clients.iter().zip(before) {
            let after = used(client);
            cpu += after.0 - before.0;
            switches += after.1 - before.1;
        }
        println!(
            "| {IDLE_SERVERS} idle servers{name}: share of a core, wake-ups a second | {:.1} %, {:.0} |",
            cpu / seconds * 100.0,
            switches / seconds
        );
    };
    measure("", &|| thread::sleep(IDLE));
    let database = env.database();
    measure(" while somebody commits 20 times a second", &|| {
        let connection = Connection::open(&database).unwrap();
        connection
            .execute_batch("CREATE TABLE IF NOT EXISTS bench (n INTEGER)")
            .unwrap();
        let began = Instant::now();
        while began.elapsed() < IDLE {
            connection
                .execute("INSERT INTO bench VALUES (1)", [])
                .unwrap();
            thread::sleep(Duration::from_secs(1) / COMMITS);
        }
    });
}

/// Returns processor seconds, and how often a thread was woken.
fn used(client: &Client) -> (f64, f64) {
    let process = PathBuf::from(format!("/proc/{}", client.id()));
    let stat = std::fs::read_to_string(process.join("stat")).unwrap();
    let (_, after_name) = stat.rsplit_once(')').unwrap();
    let ticks: f64 = after_name
        .split_whitespace()
        .skip(11)
        .take(2)
        .map(|ticks| ticks.parse::<f64>().unwrap())
        .sum();
    let mut switches = 0.0;
    for task in std::fs::read_dir(process.join("task")).unwrap() {
        // A thread may end meanwhile.
        let status = std::fs::read_to_string(task.unwrap().path().join("status"));
        let status = status.unwrap_or_default();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        switches += line.map_or(0.0, |n| n.trim().parse::<f64>().unwrap());
    }
    (ticks / TICKS_PER_SECOND, switches)
}

/// Returns calls a second, how long each took, and how many failed.
fn write_at_once(server: &Path, count: usize) -> (f64, Vec<Duration>, usize) {
    let mut env = TestEnv::new();
    let clients = started(&mut env, server, count);
    let together = Barrier::new(count);
    let each: Vec<_> = thread::scope(|scope| {
        let writers: Vec<_> = clients
            .into_iter()
            .map(|mut client| {
                let together = &together;
                scope.spawn(move || {
                    together.wait();
                    let (began, mut times, mut failed) = (Instant::now(), Vec::new(), 0);
                    while began.elapsed() < WRITING {
                        let asked = Instant::now();
                        let result = client.request("tools/call", task()).unwrap();
                        times.push(asked.elapsed());
                        failed += usize::from(result["isError"] == json!(true));
                    }
                    (times, failed)
                })
            })
            .collect();
        writers
            .into_iter()
            .map(|writer| writer.join().unwrap())
            .collect()
    });
    let failed = each.iter().map(|(_, failed)| failed).sum();
    let times: Vec<_> = each.into_iter().flat_map(|(times, _)| times).collect();
    let calls = u32::try_from(times.len()).unwrap();
    (f64::from(calls) / WRITING.as_secs_f64(), times, failed)
}

/// Returns how many commits a second processes make that do nothing else.
fn plain() -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plain.db");
    let connection = Connection::open(&path).unwrap();
    connection
        .pragma_update(None, "journal_mode", "WAL")
        .unwrap();
    connection
        .execute_batch("CREATE TABLE plain (id INTEGER PRIMARY KEY, title TEXT, body TEXT)")
        .unwrap();
    let program = std::env::current_exe().unwrap();
    let mut writers: Vec<_> = (0..PROCESSES)
        .map(|_| {
            let mut command = Command::new(&program);
            command.arg("plain").arg(&path).spawn().unwrap()
        })
        .collect();
    for writer in &mut writers {
        assert!(writer.wait().unwrap().success());
    }
    let rows: u32 = connection
        .query_row("SELECT count(*) FROM plain", [], |row| row.get(0))
        .unwrap();
    f64::from(rows) / WRITING.as_secs_f64()
}

fn write_plainly(path: &Path) {
    let connection = Connection::open(path).unwrap();
    connection.busy_timeout(Duration::from_secs(30)).unwrap();
    connection
        .pragma_update(None, "synchronous", "NORMAL")
        .unwrap();
    let mut insert = connection
        .prepare("INSERT INTO plain (title, body) VALUES ('One', 'Why it is to be done')")
        .unwrap();
    let began = Instant::now();
    while began.elapsed() < WRITING {
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        insert.execute([]).unwrap();
        connection.execute_batch("COMMIT").unwrap();
    }
}

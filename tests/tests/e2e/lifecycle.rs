//! How a server begins and ends.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use shared::model::EventSource;
use tests::{Client, Era, Server, TestEnv, comes_true};

/// Far more than an idle server needs to go, far less than the time it gives to calls under way.
const PROMPTLY: Duration = Duration::from_secs(5);

fn good() -> serde_json::Value {
    json!({"taskTitle": "One", "taskDescription": "Why", "priority": "low"})
}

#[test]
fn the_end_of_input_is_a_good_end() {
    for server in Server::ALL {
        for era in Era::BOTH {
            let env = TestEnv::new();
            let mut client = Client::start(&env, server, era);
            client.request("tools/list", json!({})).unwrap();
            client.close_input();
            assert_eq!(client.wait().code(), Some(0), "{}", client.stderr());
        }
    }
}

#[test]
fn the_end_of_input_before_any_word_is_too() {
    for server in Server::ALL {
        let env = TestEnv::new();
        let mut client = Client::spawn(env.command(server.path()), Era::Legacy);
        client.close_input();
        assert_eq!(client.wait().code(), Some(0), "{}", client.stderr());
        assert_eq!(client.stderr(), "");
    }
}

#[test]
fn the_end_of_input_after_calls_lets_them_finish() {
    let env = TestEnv::new();
    let mut client = Client::start(&env, Server::Planning, Era::Legacy);
    let params = json!({"name": "create_task", "arguments": good()});
    let ids: Vec<u64> = (0..20)
        .map(|_| client.begin("tools/call", params.clone()))
        .collect();
    client.close_input();
    let mut answered = Vec::new();
    while answered.len() < ids.len() {
        answered.push(client.receive()["id"].as_u64().unwrap());
    }
    answered.sort_unstable();
    assert_eq!(answered, ids);
    assert_eq!(client.wait().code(), Some(0));
    let mut events = env
        .store()
        .read_now(|r| r.latest_events(None, 100))
        .unwrap();
    events.retain(|event| event.source == EventSource::Tool);
    assert_eq!(events.len(), 20);
}

#[test]
fn signals_end_it_at_once() {
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        for used in [false, true] {
            let env = TestEnv::new();
            let mut client = Client::start(&env, Server::Planning, Era::Legacy);
            if used {
                assert!(!client.call("create_task", good()).is_error);
            } else {
                client.request("tools/list", json!({})).unwrap();
            }
            let pid = Pid::from_raw(i32::try_from(client.id()).unwrap()).unwrap();
            let began = Instant::now();
            kill_process(pid, signal).unwrap();
            let status = client.wait();
            assert!(
                began.elapsed() < PROMPTLY,
                "{signal:?}: {:?}",
                began.elapsed()
            );
            assert_eq!(status.code(), Some(0), "{signal:?}: {status:?}");
        }
    }
}

#[test]
fn killed_in_the_middle_it_loses_nothing_it_acknowledged() {
    let env = TestEnv::new();
    let mut client = Client::start(&env, Server::Planning, Era::Legacy);
    let params = json!({"name": "create_task", "arguments": good()});
    for _ in 0..200 {
        client.begin("tools/call", params.clone());
    }
    let acknowledged = 50;
    for _ in 0..acknowledged {
        client.receive();
    }
    let pid = Pid::from_raw(i32::try_from(client.id()).unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    client.wait();
    assert_eq!(env.store().check().unwrap(), Vec::<String>::new());
    let mut next = Client::start(&env, Server::Planning, Era::Legacy);
    let total = next.read("codex://tasks").unwrap()["total"]
        .as_u64()
        .unwrap();
    assert!((acknowledged..=200).contains(&total), "{total}");
    assert!(!next.call("create_task", good()).is_error);
}

#[test]
fn logs_go_to_a_file_and_to_stderr_never_to_stdout() {
    let mut env = TestEnv::new();
    env.set("CODEX_LOG", "trace");
    let mut client = Client::start(&env, Server::Planning, Era::Legacy);
    // Each line of standard output is checked to be protocol as it is received.
    assert!(!client.call("create_task", good()).is_error);
    client.request("tools/list", json!({})).unwrap();
    client.close_input();
    assert!(client.wait().success());
    let log = std::fs::read_to_string(env.state().join("logs/mcp-planning.log")).unwrap();
    assert!(!log.is_empty());
}

#[test]
fn the_state_is_for_its_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let env = TestEnv::new();
    let mut client = Client::start(&env, Server::Planning, Era::Legacy);
    assert!(!client.call("create_task", good()).is_error);
    let mode = std::fs::metadata(env.state()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn a_client_that_stops_reading_does_not_keep_it_alive() {
    let env = TestEnv::new();
    let mut command = env.command(Server::Planning.path());
    let mut child = command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    drop(child.stdin.take());
    let ended = comes_true(|| child.try_wait().unwrap().is_some());
    let _ = child.kill();
    assert!(ended, "it still runs");
}

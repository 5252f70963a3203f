//! Tools that misbehave: the kit still answers, records and cleans up.

use std::path::Path;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::{Value, json};
use tests::{Client, Era, TestEnv, binary, until};

fn start(env: &TestEnv, era: Era) -> Client {
    let mut client = Client::spawn(env.command(binary("faulty_server")), era);
    client.greet();
    client
}

fn says(file: &Path, word: &str) -> bool {
    std::fs::read_to_string(file).is_ok_and(|text| text.trim() == word)
}

fn codes(env: &TestEnv) -> Vec<(String, Option<String>)> {
    let events = env.store().read_now(|r| r.latest_events(None, 100));
    let events = events.unwrap().into_iter();
    events.map(|event| (event.name, event.error_code)).collect()
}

/// An agent can't mend a panic, so it is a protocol error.
fn falls_over(client: &mut Client, tool: &str) -> Value {
    let answer = client.request("tools/call", json!({ "name": tool, "arguments": {} }));
    let error = answer.unwrap_err();
    assert_eq!(error["data"]["code"], "INTERNAL", "{error}");
    error
}

#[test]
fn a_panic_is_answered_and_recorded_and_the_next_call_works() {
    for era in Era::BOTH {
        let env = TestEnv::new();
        let mut client = start(&env, era);
        for tool in ["panic", "panic_while_writing", "panic"] {
            let error = falls_over(&mut client, tool);
            assert!(!error.to_string().contains("fell over"), "{error}");
        }
        let internal = Some("INTERNAL".to_owned());
        let expected = ["panic", "panic_while_writing", "panic"];
        assert_eq!(
            codes(&env),
            expected.map(|tool| (tool.to_owned(), internal.clone()))
        );
        assert!(client.stderr().contains("fell over"), "{}", client.stderr());
        client.close_input();
        assert_eq!(client.wait().code(), Some(0));
    }
}

#[test]
fn a_cancelled_call_gets_the_time_to_undo() {
    let env = TestEnv::new();
    let file = env.path("sign");
    let mut client = start(&env, Era::Legacy);
    let id = client.begin(
        "tools/call",
        json!({"name": "undo", "arguments": {"file": file}}),
    );
    until("the call", || says(&file, "begun"));
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
    until("the end", || !codes(&env).is_empty());
    assert!(says(&file, "undone"));
    assert_eq!(
        codes(&env),
        [("undo".to_owned(), Some("CANCELLED".to_owned()))]
    );
    // Others are not cancelled with it.
    falls_over(&mut client, "panic");
}

#[test]
fn a_signal_lets_calls_undo_and_ends_their_children() {
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let env = TestEnv::new();
        let (sign, child) = (env.path("sign"), env.root().join("child"));
        let mut client = start(&env, Era::Legacy);
        for (tool, file) in [("undo", &sign), ("git", &child)] {
            client.begin(
                "tools/call",
                json!({"name": tool, "arguments": {"file": file}}),
            );
        }
        until("both calls", || says(&sign, "begun") && child.exists());
        let child: i32 = std::fs::read_to_string(&child)
            .unwrap()
            .trim()
            .parse()
            .unwrap();
        let child = Pid::from_raw(child).unwrap();
        assert!(test_kill_process(child).is_ok());

        let server = Pid::from_raw(i32::try_from(client.id()).unwrap()).unwrap();
        kill_process(server, signal).unwrap();
        assert_eq!(client.wait().code(), Some(0), "{signal:?}");
        assert!(says(&sign, "undone"), "{signal:?}");
        until("the child's end", || test_kill_process(child).is_err());
    }
}

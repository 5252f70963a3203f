//! A session that nobody launched is taken in at its first tool call.

use std::path::PathBuf;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use shared::model::{Instance, InstanceKind, Origin, Status, StatusEvent};
use tests::{Client, Era, Server, Terminal, TestEnv, binary, until};

fn act(client: &mut Client) {
    let answer = client.call(
        "create_task",
        json!({"taskTitle": "One", "taskDescription": "Why", "priority": "low"}),
    );
    assert!(!answer.is_error, "{answer:?}");
}

fn instances(env: &TestEnv) -> Vec<Instance> {
    env.store().read_now(|r| r.instances(false)).unwrap()
}

fn only_instance(env: &TestEnv) -> Instance {
    let mut all = instances(env);
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

#[test]
fn the_place_is_recorded_as_it_is() {
    let mut env = TestEnv::new();
    env.git(&["checkout", "-q", "-b", "feature/search"]);
    env.set(
        "CLAUDE_CODE_SESSION_ID",
        "5e551017-0000-4000-8000-000000000001",
    );
    std::fs::create_dir(env.repository().join("below")).unwrap();
    env.enter(env.repository().join("below"));
    let mut client = Client::start(&env, Server::Planning, Era::Legacy);
    assert_eq!(client.read("codex://instance").unwrap(), json!(null));
    act(&mut client);

    let instance = only_instance(&env);
    assert_eq!(instance.kind, InstanceKind::Planning);
    assert_eq!(instance.origin, Origin::Adopted);
    assert_eq!(instance.status, Status::Running);
    assert_eq!(instance.repository, env.repository());
    assert_eq!(instance.worktree_path, env.repository());
    assert_eq!(instance.branch_name.as_deref(), Some("feature/search"));
    assert_eq!(instance.base_branch, "main");
    assert_eq!(instance.base_commit, Some(env.git(&["rev-parse", "HEAD"])));
    assert_eq!(
        instance.claude_session_id.as_deref(),
        Some("5e551017-0000-4000-8000-000000000001")
    );
    assert_eq!(instance.tmux_pane, None);
    assert_eq!(instance.server.unwrap().pid, client.id());
    let shown = client.read("codex://instance").unwrap();
    assert_eq!(shown["id"], json!(instance.id));
    assert_eq!(shown["branchName"], "feature/search");
    assert_eq!(shown["type"], "planning");
}

#[test]
fn a_session_that_comes_back_finds_itself() {
    let mut env = TestEnv::new();
    env.set(
        "CLAUDE_CODE_SESSION_ID",
        "5e551017-0000-4000-8000-000000000001",
    );
    let mut first = Client::start(&env, Server::Planning, Era::Legacy);
    act(&mut first);
    let before = only_instance(&env);
    // Claude Code starts a second server of the same session while the first still runs.
    let mut second = Client::start(&env, Server::Planning, Era::Legacy);
    act(&mut second);
    let after = only_instance(&env);
    assert_eq!(after.id, before.id);
    assert_eq!(after.server.unwrap().pid, second.id());
}

#[test]
fn a_new_session_takes_over_from_one_that_has_gone() {
    let mut env = TestEnv::new();
    env.set(
        "CLAUDE_CODE_SESSION_ID",
        "5e551017-0000-4000-8000-000000000001",
    );
    act(&mut Client::start(&env, Server::Planning, Era::Legacy));
    let before = only_instance(&env);
    env.set(
        "CLAUDE_CODE_SESSION_ID",
        "5e551017-0000-4000-8000-000000000002",
    );
    act(&mut Client::start(&env, Server::Planning, Era::Modern));
    let after = only_instance(&env);
    assert_eq!(after.id, before.id);
    assert_eq!(
        after.claude_session_id.as_deref(),
        Some("5e551017-0000-4000-8000-000000000002")
    );
}

#[test]
fn two_live_sessions_are_two_instances() {
    let mut env = TestEnv::new();
    env.set(
        "CLAUDE_CODE_SESSION_ID",
        "5e551017-0000-4000-8000-000000000001",
    );
    let mut first = Client::start(&env, Server::Planning, Era::Legacy);
    act(&mut first);
    env.set(
        "CLAUDE_CODE_SESSION_ID",
        "5e551017-0000-4000-8000-000000000002",
    );
    let mut second = Client::start(&env, Server::Planning, Era::Legacy);
    act(&mut second);
    assert_eq!(instances(&env).len(), 2);
}

#[test]
fn two_worktrees_are_two_instances_of_one_repository() {
    let mut env = TestEnv::new();
    let other: PathBuf = env.path("other");
    env.git(&[
        "worktree",
        "add",
        "-q",
        "-b",
        "other",
        other.to_str().unwrap(),
    ]);
    let mut here = Client::start(&env, Server::Planning, Era::Legacy);
    act(&mut here);
    env.enter(&other);
    let mut there = Client::start(&env, Server::Planning, Era::Legacy);
    act(&mut there);
    let all = instances(&env);
    assert_eq!(all.len(), 2);
    assert!(
        all.iter()
            .all(|instance| instance.repository == env.repository())
    );
    // The tasks belong to the repository, so both see both.
    assert_eq!(here.read("codex://tasks").unwrap()["total"], 2);
    assert_eq!(there.read("codex://tasks").unwrap()["total"], 2);
}

#[test]
fn twenty_sessions_at_once_are_all_served() {
    let env = TestEnv::new();
    let mut clients: Vec<Client> = (0..20)
        .map(|_| Client::start(&env, Server::Planning, Era::Modern))
        .collect();
    let task = json!({"taskTitle": "One", "taskDescription": "Why", "priority": "low"});
    let params = json!({"name": "create_task", "arguments": task});
    let calls: Vec<u64> = clients
        .iter_mut()
        .map(|client| client.begin("tools/call", params.clone()))
        .collect();
    for (client, id) in clients.iter_mut().zip(calls) {
        let result = client.answer_to(id).unwrap();
        assert_ne!(result["isError"], json!(true), "{result}");
    }
    assert_eq!(clients[0].read("codex://tasks").unwrap()["total"], 20);
    assert_eq!(instances(&env).len(), 20);
}

#[test]
fn a_server_that_was_launched_for_an_agent_knows_it_from_the_first_read() {
    for era in Era::BOTH {
        let mut env = TestEnv::new();
        act(&mut Client::start(&env, Server::Planning, era));
        let id = only_instance(&env).id;
        env.set("CODEX_INSTANCE_ID", id.as_str());
        let mut client = Client::start(&env, Server::Planning, era);
        let shown = client.read("codex://instance").unwrap();
        assert_eq!(shown["id"], json!(id), "{era:?}");
    }
}

const SESSION: &str = "5e551017-0000-4000-8000-000000000001";

/// Moves the only row as other processes do.
fn moved(env: &TestEnv, events: &[StatusEvent]) {
    let id = only_instance(env).id;
    let moved = env.store().write_now(|w| {
        for event in events {
            w.transition(&id, *event)?;
        }
        Ok(())
    });
    moved.unwrap();
}

fn commit(env: &TestEnv, what: &str) {
    env.git(&["commit", "-q", "--allow-empty", "-m", what]);
}

fn publish(client: &mut Client) {
    let answer = client.call("create_pr", json!({"title": "One", "description": "Why"}));
    assert!(!answer.is_error, "{answer:?}");
}

#[test]
fn a_session_ends_with_its_input_and_goes_on_in_its_own_row() {
    let mut env = TestEnv::new();
    env.set("CLAUDE_CODE_SESSION_ID", SESSION);
    for signal in [None, Some(Signal::TERM)] {
        let mut client = Client::start(&env, Server::Planning, Era::Legacy);
        act(&mut client);
        assert_eq!(only_instance(&env).status, Status::Running);
        match signal {
            None => client.close_input(),
            Some(signal) => {
                let pid = Pid::from_raw(client.id().cast_signed()).unwrap();
                kill_process(pid, signal).unwrap();
            }
        }
        client.wait();
        let ended = only_instance(&env);
        assert_eq!(ended.status, Status::Terminated, "{signal:?}");
        assert_eq!(
            ended.note.sentence().as_deref(),
            Some("its session has ended")
        );
    }
}

#[test]
fn a_killed_session_is_noticed_by_whoever_looks_next() {
    let mut env = TestEnv::new();
    env.set("CLAUDE_CODE_SESSION_ID", SESSION);
    act(&mut Client::start(&env, Server::Planning, Era::Legacy));
    assert_eq!(only_instance(&env).status, Status::Running);
    let listed = env.command(binary("claude-codex")).arg("list").output();
    assert!(listed.unwrap().status.success());
    assert_eq!(only_instance(&env).status, Status::Terminated);
}

#[test]
fn a_session_goes_on_after_its_row_has_ended() {
    let mut env = TestEnv::new();
    env.set("CLAUDE_CODE_SESSION_ID", SESSION);
    let mut planner = Client::start(&env, Server::Planning, Era::Legacy);
    act(&mut planner);
    moved(&env, &[StatusEvent::Terminated]);
    act(&mut planner);
    assert_eq!(only_instance(&env).status, Status::Running);
}

#[test]
fn work_after_a_merge_is_another_row_of_the_same_session() {
    let mut env = TestEnv::new();
    env.set("CLAUDE_CODE_SESSION_ID", SESSION);
    env.git(&["checkout", "-q", "-b", "one"]);
    commit(&env, "first");
    let mut coder = Client::start(&env, Server::Coding, Era::Legacy);
    publish(&mut coder);
    // Published again from the same branch, it is the same work.
    commit(&env, "more");
    publish(&mut coder);
    assert_eq!(only_instance(&env).status, Status::PrCreated);
    moved(&env, &[StatusEvent::Merged]);
    env.git(&["checkout", "-q", "-b", "two"]);
    commit(&env, "second");
    publish(&mut coder);
    let all = instances(&env);
    assert_eq!(all.len(), 2, "{all:?}");
    let [first, second] = [0, 1].map(|index: usize| (all[index].status, all[index].pr_number));
    assert_eq!(first, (Status::PrMerged, Some(1)));
    assert_eq!(second, (Status::PrCreated, Some(2)));
    assert_eq!(all[1].branch_name.as_deref(), Some("two"));
}

#[test]
fn a_refused_call_leaves_nothing() {
    let mut env = TestEnv::new();
    env.set("CLAUDE_CODE_SESSION_ID", SESSION);
    let mut reviewer = Client::start(&env, Server::Review, Era::Legacy);
    for (tool, arguments) in [
        ("request_changes", json!({"feedback": "Do it again"})),
        ("create_pr", json!({"title": "One", "description": "Why"})),
    ] {
        let refused = reviewer.call(tool, arguments);
        assert_eq!(refused.code(), "REVIEW_DECIDED", "{refused:?}");
        assert!(instances(&env).is_empty(), "{tool}");
    }
    let mut coder = Client::start(&env, Server::Coding, Era::Modern);
    let asked = coder.call("request_review", json!({"description": "Look"}));
    assert_eq!(asked.code(), "NOTHING_TO_REVIEW", "{asked:?}");
    assert!(instances(&env).is_empty());
    assert_eq!(coder.read("codex://instance").unwrap(), json!(null));
    // The calls themselves are on record, for nobody.
    let events = env.store().read_now(|r| r.latest_events(None, 10)).unwrap();
    assert_eq!(events.len(), 3);
    for event in events {
        assert_eq!(event.instance_id, None);
        assert!(event.status_changes.is_empty(), "{event:?}");
    }
    env.git(&["checkout", "-q", "-b", "one"]);
    commit(&env, "first");
    publish(&mut coder);
    assert_eq!(only_instance(&env).status, Status::PrCreated);
}

#[test]
fn an_adopted_session_has_no_time_limit() {
    let env = TestEnv::new();
    let mut client = Client::start(&env, Server::Planning, Era::Legacy);
    act(&mut client);
    let long_ago = "UPDATE instances SET created_at = '2020-01-01T00:00:00.000Z'";
    rusqlite::Connection::open(env.database())
        .and_then(|database| database.execute(long_ago, []))
        .unwrap();
    let listed = env.command(binary("claude-codex")).arg("list").output();
    assert!(listed.unwrap().status.success());
    assert_eq!(only_instance(&env).status, Status::Running);
    act(&mut client);
}

#[test]
fn a_server_of_another_session_does_not_act_as_the_agent() {
    let mut env = TestEnv::new();
    env.set("CLAUDE_CODE_SESSION_ID", SESSION);
    let mut own = Client::start(&env, Server::Planning, Era::Legacy);
    act(&mut own);
    let before = only_instance(&env);
    env.set("CODEX_INSTANCE_ID", before.id.as_str());
    env.set(
        "CLAUDE_CODE_SESSION_ID",
        "5e551017-0000-4000-8000-000000000002",
    );
    let mut nested = Client::start(&env, Server::Planning, Era::Legacy);
    let task = json!({"taskTitle": "Two", "taskDescription": "Why", "priority": "low"});
    let refused = nested.call("create_task", task);
    assert_eq!(refused.code(), "ANOTHER_SESSION", "{refused:?}");
    let after = only_instance(&env);
    assert_eq!(after.server, before.server);
    assert_eq!(after.claude_session_id, before.claude_session_id);
}

/// Has a session adopted that was started in a pane by these words, and returns the pane that was recorded.
fn recorded_pane(before_claude: &str) -> Option<String> {
    let mut env = TestEnv::new();
    env.set("CLAUDE_CODE_SESSION_ID", SESSION);
    let claude = env.program("claude", "#!/bin/sh\n\"$@\" < input > output\nexit $?\n");
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let task = json!({"taskTitle": "One", "taskDescription": "Why", "priority": "low"});
    let call = json!({ "name": "create_task", "arguments": task });
    let input = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }),
    ];
    let lines = input.map(|message| message.to_string() + "\n").concat();
    std::fs::write(env.repository().join("input"), lines).unwrap();
    let line = format!(
        "{before_claude} '{}' '{}'; exec sleep 600",
        claude.display(),
        Server::Planning.path().display()
    );
    let _terminal = Terminal::open(&env, &[&line]);
    // The end of its input ends it, when the call is done.
    until("it is adopted and has ended", || {
        let rows = || instances(&env);
        env.database().exists() && rows().iter().any(|row| row.status == Status::Terminated)
    });
    only_instance(&env).tmux_pane
}

#[test]
fn a_pane_is_recorded_only_if_the_session_runs_in_it() {
    assert_eq!(recorded_pane("").as_deref(), Some("%0"));
    // A terminal window that was started from a pane inherits TMUX and TMUX_PANE, and is below the pane's process.
    let window = "python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])'";
    assert_eq!(recorded_pane(window), None);
    // So does what somebody left behind in the background.
    assert_eq!(recorded_pane("setsid -w"), None);
}

//! A session that nobody launched is taken in at its first tool call.

use std::path::PathBuf;

use serde_json::json;
use shared::model::{Instance, InstanceKind, Origin, Status};
use tests::{Client, Era, Server, TestEnv};

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
    env.set("TMUX_PANE", "%7");
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
    assert_eq!(instance.tmux_pane.as_deref(), Some("%7"));
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
    let other: PathBuf = env.root().join("other");
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

//! One Claude session is one row, and only the process that has the session open acts as it.

use std::path::PathBuf;

use serde_json::json;
use shared::model::{Instance, MessageKind, MessageState, Origin, Status, StatusEvent};
use shared::process;
use shared::store::{NewInstance, NewMessage};
use tests::{Answer, Client, Era, Server, TestEnv, sample_instance, until, write_program};

const SESSION: &str = "5e551017-0000-4000-8000-000000000001";
const OTHER: &str = "5e551017-0000-4000-8000-000000000002";

/// Makes a user for whom this process is a Claude Code that has the session open, at its prompt.
fn user() -> TestEnv {
    let mut env = TestEnv::new();
    env.set("CLAUDE_CODE_SESSION_ID", SESSION);
    open(&env, SESSION);
    env
}

/// Lets the Claude Code that this process is go on to a session.
fn open(env: &TestEnv, session: &str) {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let started = stat
        .rsplit_once(") ")
        .unwrap()
        .1
        .split(' ')
        .nth(19)
        .unwrap();
    let record = json!({ "pid": std::process::id(), "sessionId": session, "status": "idle",
        "cwd": env.repository(), "procStart": started });
    let folder = env.home().join(".claude/sessions");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join(format!("{}.json", std::process::id()));
    std::fs::write(folder.join("new"), record.to_string()).unwrap();
    std::fs::rename(folder.join("new"), file).unwrap();
}

fn plan(client: &mut Client) -> Answer {
    let task = json!({"taskTitle": "One", "taskDescription": "Why", "priority": "low"});
    client.call("create_task", task)
}

fn act(client: &mut Client) {
    let answer = plan(client);
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

/// Owes an instance a message.
fn owe(env: &TestEnv, instance: &Instance) -> NewMessage {
    let message = NewMessage {
        id: "m-00000001".parse().unwrap(),
        instance: instance.id.clone(),
        sender: "person".to_owned(),
        kind: MessageKind::Note,
        body: "[claude-codex m-00000001] hello".to_owned(),
    };
    env.store()
        .write_now(|w| w.insert_message(&message))
        .unwrap();
    message
}

/// Returns a program called claude that runs what it is given.
fn claude(env: &TestEnv) -> PathBuf {
    let claude = env.path("claude");
    // The second line keeps the shell from becoming what it runs.
    write_program(&claude, "#!/bin/sh\n\"$@\"\nexit $?\n");
    claude
}

#[test]
fn a_server_that_connects_again_goes_on_in_the_row_of_its_session() {
    let env = user();
    let mut first = Client::start(&env, Server::Planning, Era::Legacy);
    act(&mut first);
    first.close_input();
    first.wait();
    let before = only_instance(&env);
    assert_eq!(before.status, Status::Terminated);

    // By its first request alone: what waits for the session must not wait for a tool call.
    let mut again = Client::start(&env, Server::Planning, Era::Legacy);
    until("it is served", || {
        let now = only_instance(&env);
        now.status == Status::Running && now.server.is_some_and(|server| server.pid == again.id())
    });
    let shown = again.read("codex://instance").unwrap();
    assert_eq!(shown["id"], json!(before.id));
    // Another kind of agent has no row to go on with, and gets none.
    let mut coder = Client::start(&env, Server::Coding, Era::Legacy);
    assert_eq!(coder.read("codex://instance").unwrap(), json!(null));
    assert_eq!(instances(&env).len(), 1);
}

#[test]
fn a_claude_that_continues_the_session_of_another_does_not_act_as_it() {
    let env = user();
    let mut own = Client::start(&env, Server::Planning, Era::Legacy);
    act(&mut own);
    let before = only_instance(&env);
    // `claude -p -c` in a session: another process, the same session.
    let mut command = env.command(claude(&env));
    command.arg(Server::Planning.path());
    let mut nested = Client::spawn(command, Era::Legacy);
    nested.greet();
    assert_eq!(nested.read("codex://instance").unwrap(), json!(null));
    let refused = plan(&mut nested);
    assert_eq!(refused.code(), "ANOTHER_SESSION", "{refused:?}");
    nested.close_input();
    nested.wait();
    let after = only_instance(&env);
    assert_eq!(after.status, Status::Running);
    assert_eq!(after.server, before.server);
    assert_eq!(after.agent, before.agent);
}

#[test]
fn a_program_that_a_session_runs_is_not_the_session() {
    let mut env = user();
    let mut own = Client::start(&env, Server::Planning, Era::Legacy);
    act(&mut own);
    let before = only_instance(&env);
    // What Claude Code's Bash tool adds to the environment.
    env.set("CLAUDE_PID", std::process::id().to_string());
    let mut other = Client::start(&env, Server::Planning, Era::Legacy);
    act(&mut other);
    let all = instances(&env);
    assert_eq!(all.len(), 2, "{all:?}");
    let row_of = |id| all.iter().find(|row| row.id == id);
    assert_eq!(row_of(before.id.clone()).unwrap().server, before.server);
    let others = all.iter().find(|row| row.id != before.id).unwrap();
    assert_eq!((&others.claude_session_id, &others.agent), (&None, &None));
}

#[test]
fn a_person_who_resumes_the_session_of_a_launched_agent_does_not_become_that_agent() {
    let env = user();
    let mut launched = std::process::Command::new("sleep")
        .arg("600")
        .spawn()
        .unwrap();
    let agent = process::mark(launched.id()).unwrap();
    let new = NewInstance {
        origin: Origin::Launched,
        repository: env.repository().to_str().unwrap().to_owned(),
        worktree_path: env.repository().to_owned(),
        branch_name: Some("main".to_owned()),
        claude_session_id: Some(SESSION.to_owned()),
        ..sample_instance("work-1-a1")
    };
    let stored = env.store().write_now(|w| {
        w.insert_instance(&new, None)?;
        w.set_agent(&new.id, Some(&agent))?;
        w.transition(&new.id, StatusEvent::Connected)
    });
    stored.unwrap();
    let mut person = Client::start(&env, Server::Coding, Era::Legacy);
    let refused = person.call("create_pr", json!({"title": "One", "description": "Why"}));
    let row = only_instance(&env);
    let _ = launched.kill();
    let _ = launched.wait();
    assert_eq!(refused.code(), "ANOTHER_SESSION", "{refused:?}");
    // `stop` ends that process and all below it.
    assert_eq!(row.agent, Some(agent));
    assert_eq!(row.server, None);
}

#[test]
fn a_message_follows_its_session_when_that_is_cleared() {
    let env = user();
    let mut client = Client::start(&env, Server::Planning, Era::Legacy);
    act(&mut client);
    open(&env, OTHER);
    // No hook of ours and no tool call tells of the change.
    owe(&env, &only_instance(&env));
    until("the row has the new session", || {
        only_instance(&env).claude_session_id.as_deref() == Some(OTHER)
    });
}

#[test]
fn a_process_that_resumes_another_session_goes_on_in_that_sessions_row() {
    let env = user();
    let mut client = Client::start(&env, Server::Planning, Era::Legacy);
    act(&mut client);
    client.close_input();
    client.wait();
    let first = only_instance(&env);
    open(&env, OTHER);
    // Another process had it then.
    let forget = "UPDATE instances SET agent_pid = 1, agent_started = 'long ago'";
    rusqlite::Connection::open(env.database())
        .and_then(|database| database.execute(forget, []))
        .unwrap();
    let mut client = Client::start(&env, Server::Planning, Era::Legacy);
    act(&mut client);
    let second = instances(&env)
        .into_iter()
        .find(|row| row.id != first.id)
        .unwrap();
    // `/resume`
    open(&env, SESSION);
    act(&mut client);
    for row in instances(&env) {
        let (status, session) = if row.id == first.id {
            (Status::Running, SESSION)
        } else {
            assert_eq!(row.id, second.id);
            (Status::Terminated, OTHER)
        };
        assert_eq!(row.status, status, "{row:?}");
        assert_eq!(row.claude_session_id.as_deref(), Some(session));
    }
}

#[test]
fn what_a_lost_answer_of_a_hook_held_is_owed_again_by_itself() {
    let env = user();
    let mut client = Client::start(&env, Server::Planning, Era::Legacy);
    act(&mut client);
    let transcript = shared::agent::transcript_path(
        &env.home().join(".claude"),
        env.repository(),
        SESSION.parse().unwrap(),
    );
    std::fs::create_dir_all(transcript.parent().unwrap()).unwrap();
    let instance = only_instance(&env);
    let given = |ago: &str| {
        let sql = format!(
            "UPDATE messages SET state = 'typed', taken_by = 'stop_hook', attempts = 1,
             typed_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '{ago}')"
        );
        rusqlite::Connection::open(env.database())
            .and_then(|database| database.execute(&sql, []))
            .unwrap();
    };
    let message = owe(&env, &instance);
    let state = || {
        let all = env.store().read_now(|r| r.messages(&instance.id)).unwrap();
        all[0].state
    };
    std::fs::write(&transcript, "{}\n").unwrap();
    given("-60 seconds");
    until("it is owed again", || state() == MessageState::Owed);
    let said = json!({ "type": "user", "message": { "content": message.body } });
    std::fs::write(&transcript, format!("{said}\n")).unwrap();
    given("-60 seconds");
    until("it is taken", || state() == MessageState::Taken);
}

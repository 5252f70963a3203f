//! Delivery where the moment is wrong: dialogs that open in between, drafts, deliverers that stall, agents that show nothing.

use std::collections::HashMap;
use std::path::Path;

use serde_json::{Value, json};
use shared::model::{InstanceId, MessageKind, MessageState, Status, WaitReason};
use tests::{AgentEnv, kill, project_root, text};

/// A user whose agents are a Claude Code that does what it is told.
pub(crate) fn claude() -> (AgentEnv, InstanceId) {
    let mut env = AgentEnv::new("idle", "idle");
    let program = project_root().join("tests/agents/fake_claude.py");
    env.set("CODEX_AGENT_COMMAND", "");
    env.set("CODEX_CLAUDE", program.to_str().unwrap());
    env.text(&["trust", "--yes"]);
    let coder = env.coder(&[]);
    env.until("it is up", || env.status(&coder) == Status::Running);
    (env, coder)
}

pub(crate) fn command(env: &AgentEnv, id: &InstanceId, command: &Value) {
    let before = env.log(id, "obeyed").len();
    env.tell(id, command);
    env.until("it obeys", || env.log(id, "obeyed").len() > before);
}

pub(crate) fn sent(env: &AgentEnv, id: &InstanceId, message: &str) -> Value {
    serde_json::from_str(&text(&env.send(id, message))).unwrap()
}

/// How often an agent got each message.
fn arrivals(env: &AgentEnv, id: &InstanceId) -> HashMap<String, usize> {
    let mut arrivals = HashMap::new();
    for received in env.received(id) {
        for part in received.split("[claude-codex ").skip(1) {
            let name = part.split(']').next().unwrap_or_default().to_owned();
            *arrivals.entry(name).or_default() += 1;
        }
    }
    arrivals
}

pub(crate) fn kill_server(env: &AgentEnv, id: &InstanceId) {
    kill(u64::from(env.instance(id).server.unwrap().pid));
}

fn owe(env: &AgentEnv, coder: &InstanceId, id: &str) {
    let message = shared::store::NewMessage {
        id: id.parse().unwrap(),
        instance: coder.clone(),
        sender: "person".to_owned(),
        kind: MessageKind::Note,
        body: format!("[claude-codex {id}] A title\n\nand a text"),
    };
    let store = env.store();
    store.write_now(|w| w.insert_message(&message)).unwrap();
}

#[test]
fn a_message_reaches_the_box_of_claude_code_and_is_sent_once() {
    let (env, coder) = claude();
    for text in ["short", "a\nb\nc\nd\ne", &"long ".repeat(1_000)] {
        let sent = sent(&env, &coder, text);
        assert_eq!(sent["delivered"], true, "{sent}");
        let message = env.messages(&coder).pop().unwrap();
        assert_eq!(env.received(&coder).pop().unwrap(), message.body);
    }
    assert_eq!(env.received(&coder).len(), 3);
}

#[test]
fn a_dialog_that_opens_after_the_paste_is_not_answered() {
    let (env, coder) = claude();
    command(&env, &coder, &json!({ "onPaste": "dialog" }));
    let sent = sent(&env, &coder, "not into the dialog");
    assert_eq!(sent["delivered"], false, "{sent}");
    env.until("it waits for the dialog", || {
        env.messages(&coder)[0].waiting_for == Some(WaitReason::DialogQuestion)
    });
    command(&env, &coder, &json!({ "close": true }));
    env.until("it arrives", || !env.received(&coder).is_empty());
    env.until("it is taken", || {
        env.messages(&coder)[0].state == MessageState::Taken
    });
    assert!(env.log(&coder, "answered").is_empty());
    assert_eq!(env.received(&coder).len(), 1);
}

#[test]
fn a_dialog_that_eats_the_paste_is_not_answered_and_the_message_comes_later() {
    let (env, coder) = claude();
    command(&env, &coder, &json!({ "onPaste": "eaten" }));
    let sent = sent(&env, &coder, "eaten");
    assert_eq!(sent["delivered"], false, "{sent}");
    command(&env, &coder, &json!({ "close": true }));
    env.until("it arrives", || !env.received(&coder).is_empty());
    assert!(env.log(&coder, "answered").is_empty());
    assert_eq!(arrivals(&env, &coder).values().sum::<usize>(), 1);
}

#[test]
fn a_persons_draft_that_names_messages_is_never_sent() {
    let (env, coder) = claude();
    let draft = "what is [claude-codex m-00000000] about, and [Pasted text #1 +2 lines]?";
    command(
        &env,
        &coder,
        &json!({ "onPaste": "replaced", "draft": draft }),
    );
    let sent = sent(&env, &coder, "hold back");
    assert_eq!(sent["delivered"], false, "{sent}");
    env.until("it waits for the draft", || {
        env.messages(&coder)[0].waiting_for == Some(WaitReason::Draft)
    });
    assert!(env.received(&coder).is_empty(), "the draft was sent");
    command(&env, &coder, &json!({ "draft": "" }));
    env.until("it is taken", || {
        env.messages(&coder)[0].state == MessageState::Taken
    });
    assert_eq!(env.received(&coder).len(), 1);
}

#[test]
fn words_in_another_script_beside_a_message_are_never_sent() {
    for draft in ["MESSAGE подожди", "等一下 MESSAGE"] {
        let (env, coder) = claude();
        command(&env, &coder, &json!({ "onPaste": "dialog" }));
        let sent = sent(&env, &coder, "hold back");
        assert_eq!(sent["delivered"], false, "{sent}");
        let body = &env.messages(&coder)[0].body;
        command(
            &env,
            &coder,
            &json!({ "draft": draft.replace("MESSAGE", body) }),
        );
        command(&env, &coder, &json!({ "close": true }));
        env.until("it is looked at", || {
            env.messages(&coder)[0].waiting_for == Some(WaitReason::Draft)
                || !env.received(&coder).is_empty()
        });
        assert!(env.received(&coder).is_empty(), "the draft was sent");
        command(&env, &coder, &json!({ "draft": "" }));
        env.until("it is taken", || {
            env.messages(&coder)[0].state == MessageState::Taken
        });
        assert_eq!(env.received(&coder).len(), 1);
    }
}

#[test]
fn a_swallowed_enter_is_repeated_once_the_box_proves_it() {
    let (env, coder) = claude();
    command(&env, &coder, &json!({ "swallow": 1 }));
    let sent = sent(&env, &coder, "press it again");
    assert_eq!(sent["delivered"], true, "{sent}");
    assert_eq!(env.received(&coder).len(), 1);
}

#[test]
fn what_shows_nothing_of_a_message_is_typed_at_once_and_unconfirmed() {
    let mut env = AgentEnv::new("idle", "idle");
    env.set("SCRIPT_SHOW", "folded");
    let coder = env.coder(&[]);
    let first = sent(&env, &coder, "first");
    assert_eq!(
        (&first["delivered"], &first["unconfirmed"]),
        (&json!(false), &json!(true)),
        "{first}"
    );
    // It is not in the way of the next.
    let second = sent(&env, &coder, "second");
    assert_eq!(second["unconfirmed"], true, "{second}");
    assert_eq!(env.received(&coder).len(), 2);
    let listed = env.json(&["list"]);
    assert_eq!(listed[0]["unconfirmedMessages"], 2, "{listed}");
    assert!(env.text(&["list"]).contains("2 unconfirmed"));
    let id = first["messageId"].as_str().unwrap();
    let shown = env.text(&["show", coder.as_str()]);
    assert!(shown.contains(&format!("--again {id}")), "{shown}");
    let again = env.json(&["send", coder.as_str(), "--again", id]);
    assert_eq!(again["messageId"], id, "{again}");
    assert_eq!(again["unconfirmed"], true, "{again}");
    assert_eq!(arrivals(&env, &coder)[id], 2);
    assert_eq!(
        env.refused(&["send", coder.as_str(), "--again", "m-00000000"]),
        "INVALID_ARGUMENTS"
    );
}

#[test]
fn unconfirmed_feedback_puts_the_coder_back_to_work_and_is_not_called_delivered() {
    let mut env = AgentEnv::new("idle", "changes");
    env.set("SCRIPT_SHOW", "folded");
    let coder = env.coder(&[]);
    env.commit(&coder, "work");
    env.call(&coder, "request_review", &json!({ "description": "Look." }));
    env.until("the feedback is typed", || {
        let messages = env.messages(&coder);
        messages
            .first()
            .is_some_and(|message| message.state == MessageState::Unconfirmed)
    });
    assert_eq!(env.status(&coder), Status::Running);
    let reviewer = env.reviews(&coder)[0].review_instance_id.clone().unwrap();
    env.until("the answer", || !env.log(&reviewer, "tool").is_empty());
    let answer = &env.log(&reviewer, "tool")[0];
    assert_eq!(answer["result"]["feedbackDelivered"], false, "{answer}");
    assert_eq!(env.received(&coder).len(), 1);
}

#[test]
fn a_draft_on_the_screen_is_no_proof() {
    let mut env = AgentEnv::new("idle", "idle");
    env.set("SCRIPT_SHOW", "draft");
    env.set("SCRIPT_DEAF", "1");
    let coder = env.coder(&[]);
    let sent = sent(&env, &coder, "stays in the box");
    assert_eq!(sent["delivered"], false, "{sent}");
    assert_eq!(env.messages(&coder)[0].state, MessageState::Unconfirmed);
    assert!(env.received(&coder).is_empty());
}

#[test]
fn an_agent_that_shows_drafts_and_messages_is_believed() {
    let mut env = AgentEnv::new("idle", "idle");
    env.set("SCRIPT_SHOW", "draft");
    let coder = env.coder(&[]);
    for text in ["one line", "several\nlines\nof text"] {
        let sent = sent(&env, &coder, text);
        assert_eq!(sent["delivered"], true, "{sent}");
    }
    assert_eq!(env.received(&coder).len(), 2);
}

#[test]
fn whoever_looks_delivers_in_place_of_a_dead_server() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&[]);
    kill_server(&env, &coder);
    owe(&env, &coder, "m-00000001");
    env.until("a look hands it over", || {
        env.text(&["list"]);
        env.messages(&coder)[0].state == MessageState::Taken
    });
    assert_eq!(env.received(&coder).len(), 1);
}

#[test]
fn whoever_looks_delivers_in_place_of_a_server_that_was_stopped() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&[]);
    let server = env.instance(&coder).server.unwrap();
    let server = rustix::process::Pid::from_raw(i32::try_from(server.pid).unwrap()).unwrap();
    rustix::process::kill_process(server, rustix::process::Signal::STOP).unwrap();
    owe(&env, &coder, "m-00000001");
    env.until("a look hands it over", || {
        env.text(&["list"]);
        env.messages(&coder)[0].state == MessageState::Taken
    });
    rustix::process::kill_process(server, rustix::process::Signal::CONT).unwrap();
    owe(&env, &coder, "m-00000002");
    env.until("the next one too", || {
        env.messages(&coder)
            .iter()
            .all(|message| message.state == MessageState::Taken)
    });
    assert_eq!(env.received(&coder).len(), 2);
}

#[test]
fn many_deliverers_of_one_agent_hand_each_message_over_once() {
    let mut env = AgentEnv::new("idle", "idle");
    env.set("SCRIPT_SHOW", "draft");
    let coder = env.coder(&[]);
    kill_server(&env, &coder);
    let senders: Vec<_> = (0..6)
        .map(|number| env.start(&["send", coder.as_str(), "-"], &format!("number {number}")))
        .collect();
    for sender in senders {
        text(&sender.wait_with_output().unwrap());
    }
    env.until("all are taken", || {
        env.text(&["list"]);
        let messages = env.messages(&coder);
        messages
            .iter()
            .all(|message| message.state == MessageState::Taken)
    });
    let arrivals = arrivals(&env, &coder);
    assert_eq!(arrivals.len(), 6, "{arrivals:?}");
    assert!(arrivals.values().all(|count| *count == 1), "{arrivals:?}");
}

/// Puts a tmux first on `PATH` whose next `load-buffer` waits for the file `go`, once the file `hold` is there.
fn stall_tmux(env: &AgentEnv) {
    let path = std::env::var("PATH").unwrap();
    let script = format!(
        "#!/bin/sh\nS='{state}'\ncase \" $* \" in *' load-buffer '*)\n\
         if mv \"$S/hold\" \"$S/held\" 2>/dev/null; then while [ ! -e \"$S/go\" ]; do sleep 0.05; done; fi;;\nesac\n\
         PATH='{path}' exec tmux \"$@\"\n",
        state = env.path("script").display()
    );
    env.program("tmux", &script);
}

/// Makes every lease and every typed message old, as time would.
fn pass_time(env: &AgentEnv) {
    let script = "import sqlite3,sys\nc=sqlite3.connect(sys.argv[1],timeout=30)\n\
        c.execute(\"UPDATE messages SET lease_until='2020-01-01T00:00:00.000Z', typed_at='2020-01-01T00:00:00.000Z' WHERE state='typed'\")\nc.commit()";
    let mut python = env.command(Path::new("python3"));
    let database = env.path("state/codex.db");
    let done = python.args(["-c", script]).arg(database).output().unwrap();
    text(&done);
}

#[test]
fn a_deliverer_that_stalled_past_its_lease_types_nothing() {
    let env = AgentEnv::new("idle", "idle");
    stall_tmux(&env);
    let coder = env.coder(&[]);
    kill_server(&env, &coder);
    std::fs::write(env.path("script/hold"), "").unwrap();
    let stalled = env.start(&["send", coder.as_str(), "-"], "first");
    env.until("it stalls before its paste", || {
        env.path("script/held").exists()
    });
    pass_time(&env);
    let second = sent(&env, &coder, "second");
    assert_eq!(second["delivered"], true, "{second}");
    std::fs::write(env.path("script/go"), "").unwrap();
    text(&stalled.wait_with_output().unwrap());
    let arrivals = arrivals(&env, &coder);
    assert_eq!(arrivals.len(), 2, "{arrivals:?}");
    assert!(arrivals.values().all(|count| *count == 1), "{arrivals:?}");
    assert!(
        env.messages(&coder)
            .iter()
            .all(|message| message.state == MessageState::Taken)
    );
}

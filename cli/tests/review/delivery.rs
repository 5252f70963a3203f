//! Delivery where the moment is wrong: dialogs that open in between, drafts, deliverers that stall, agents that show nothing.

use std::collections::HashMap;
use std::path::Path;

use serde_json::{Value, json};
use shared::model::{InstanceId, MessageKind, MessageState, Status, WaitReason};

use crate::support::{Place, kill, text};

/// A user whose agents are a Claude Code that does what it is told.
pub(crate) fn claude() -> (Place, InstanceId) {
    let mut place = Place::new("idle", "idle");
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/review/fake_claude.py");
    place.set("CODEX_AGENT_COMMAND", "");
    place.set("CODEX_CLAUDE", program.to_str().unwrap());
    text(&place.codex(&["trust", "--yes"]));
    let coder = place.coder(&[]);
    place.until("it is up", || place.status(&coder) == Status::Running);
    (place, coder)
}

pub(crate) fn command(place: &Place, id: &InstanceId, command: &Value) {
    let before = place.log(id, "obeyed").len();
    place.tell(id, command);
    place.until("it obeys", || place.log(id, "obeyed").len() > before);
}

pub(crate) fn sent(place: &Place, id: &InstanceId, message: &str) -> Value {
    serde_json::from_str(&text(&place.send(id, message))).unwrap()
}

/// How often an agent got each message.
fn arrivals(place: &Place, id: &InstanceId) -> HashMap<String, usize> {
    let mut arrivals = HashMap::new();
    for received in place.received(id) {
        for part in received.split("[claude-codex ").skip(1) {
            let name = part.split(']').next().unwrap_or_default().to_owned();
            *arrivals.entry(name).or_default() += 1;
        }
    }
    arrivals
}

pub(crate) fn kill_server(place: &Place, id: &InstanceId) {
    kill(u64::from(place.instance(id).server.unwrap().pid));
}

fn owe(place: &Place, coder: &InstanceId, id: &str) {
    let message = shared::store::NewMessage {
        id: id.parse().unwrap(),
        instance: coder.clone(),
        sender: "person".to_owned(),
        kind: MessageKind::Note,
        body: format!("[claude-codex {id}] A title\n\nand a text"),
    };
    let store = place.store();
    store.write_now(|w| w.insert_message(&message)).unwrap();
}

#[test]
fn a_message_reaches_the_box_of_claude_code_and_is_sent_once() {
    let (place, coder) = claude();
    for text in ["short", "a\nb\nc\nd\ne", &"long ".repeat(1_000)] {
        let sent = sent(&place, &coder, text);
        assert_eq!(sent["delivered"], true, "{sent}");
        let message = place.messages(&coder).pop().unwrap();
        assert_eq!(place.received(&coder).pop().unwrap(), message.body);
    }
    assert_eq!(place.received(&coder).len(), 3);
}

#[test]
fn a_dialog_that_opens_after_the_paste_is_not_answered() {
    let (place, coder) = claude();
    command(&place, &coder, &json!({ "onPaste": "dialog" }));
    let sent = sent(&place, &coder, "not into the dialog");
    assert_eq!(sent["delivered"], false, "{sent}");
    assert_eq!(sent["waitingFor"], "dialog_question", "{sent}");
    command(&place, &coder, &json!({ "close": true }));
    place.until("it arrives", || !place.received(&coder).is_empty());
    place.until("it is taken", || {
        place.messages(&coder)[0].state == MessageState::Taken
    });
    assert!(place.log(&coder, "answered").is_empty());
    assert_eq!(place.received(&coder).len(), 1);
}

#[test]
fn a_dialog_that_eats_the_paste_is_not_answered_and_the_message_comes_later() {
    let (place, coder) = claude();
    command(&place, &coder, &json!({ "onPaste": "eaten" }));
    let sent = sent(&place, &coder, "eaten");
    assert_eq!(sent["delivered"], false, "{sent}");
    command(&place, &coder, &json!({ "close": true }));
    place.until("it arrives", || !place.received(&coder).is_empty());
    assert!(place.log(&coder, "answered").is_empty());
    assert_eq!(arrivals(&place, &coder).values().sum::<usize>(), 1);
}

#[test]
fn a_persons_draft_that_names_messages_is_never_sent() {
    let (place, coder) = claude();
    let draft = "what is [claude-codex m-00000000] about, and [Pasted text #1 +2 lines]?";
    command(
        &place,
        &coder,
        &json!({ "onPaste": "replaced", "draft": draft }),
    );
    let sent = sent(&place, &coder, "hold back");
    assert_eq!(sent["delivered"], false, "{sent}");
    place.until("it waits for the draft", || {
        place.messages(&coder)[0].waiting_for == Some(WaitReason::Draft)
    });
    assert!(place.received(&coder).is_empty(), "the draft was sent");
    command(&place, &coder, &json!({ "draft": "" }));
    place.until("it is taken", || {
        place.messages(&coder)[0].state == MessageState::Taken
    });
    assert_eq!(place.received(&coder).len(), 1);
}

#[test]
fn words_in_another_script_beside_a_message_are_never_sent() {
    for draft in ["MESSAGE подожди", "等一下 MESSAGE"] {
        let (place, coder) = claude();
        command(&place, &coder, &json!({ "onPaste": "dialog" }));
        let sent = sent(&place, &coder, "hold back");
        assert_eq!(sent["delivered"], false, "{sent}");
        let body = &place.messages(&coder)[0].body;
        command(
            &place,
            &coder,
            &json!({ "draft": draft.replace("MESSAGE", body) }),
        );
        command(&place, &coder, &json!({ "close": true }));
        place.until("it is looked at", || {
            place.messages(&coder)[0].waiting_for == Some(WaitReason::Draft)
                || !place.received(&coder).is_empty()
        });
        assert!(place.received(&coder).is_empty(), "the draft was sent");
        command(&place, &coder, &json!({ "draft": "" }));
        place.until("it is taken", || {
            place.messages(&coder)[0].state == MessageState::Taken
        });
        assert_eq!(place.received(&coder).len(), 1);
    }
}

#[test]
fn a_swallowed_enter_is_repeated_once_the_box_proves_it() {
    let (place, coder) = claude();
    command(&place, &coder, &json!({ "swallow": 1 }));
    let sent = sent(&place, &coder, "press it again");
    assert_eq!(sent["delivered"], true, "{sent}");
    assert_eq!(place.received(&coder).len(), 1);
}

#[test]
fn what_shows_nothing_of_a_message_is_typed_at_once_and_unconfirmed() {
    let mut place = Place::new("idle", "idle");
    place.set("SCRIPT_SHOW", "folded");
    let coder = place.coder(&[]);
    let first = sent(&place, &coder, "first");
    assert_eq!(
        (&first["delivered"], &first["unconfirmed"]),
        (&json!(false), &json!(true)),
        "{first}"
    );
    // It is not in the way of the next.
    let second = sent(&place, &coder, "second");
    assert_eq!(second["unconfirmed"], true, "{second}");
    assert_eq!(place.received(&coder).len(), 2);
    let listed = place.json(&["list"]);
    assert_eq!(listed[0]["unconfirmedMessages"], 2, "{listed}");
    assert!(text(&place.codex(&["list"])).contains("2 unconfirmed"));
    let id = first["messageId"].as_str().unwrap();
    let shown = text(&place.codex(&["show", coder.as_str()]));
    assert!(shown.contains(&format!("--again {id}")), "{shown}");
    let again = place.json(&["send", coder.as_str(), "--again", id]);
    assert_eq!(again["messageId"], id, "{again}");
    assert_eq!(again["unconfirmed"], true, "{again}");
    assert_eq!(arrivals(&place, &coder)[id], 2);
    assert_eq!(
        place.refused(&["send", coder.as_str(), "--again", "m-00000000"]),
        "INVALID_ARGUMENTS"
    );
}

#[test]
fn unconfirmed_feedback_puts_the_coder_back_to_work_and_is_not_called_delivered() {
    let mut place = Place::new("idle", "changes");
    place.set("SCRIPT_SHOW", "folded");
    let coder = place.coder(&[]);
    place.commit(&coder, "work");
    place.call(&coder, "request_review", &json!({ "description": "Look." }));
    place.until("the feedback is typed", || {
        let messages = place.messages(&coder);
        messages
            .first()
            .is_some_and(|message| message.state == MessageState::Unconfirmed)
    });
    assert_eq!(place.status(&coder), Status::Running);
    let reviewer = place.reviews(&coder)[0].review_instance_id.clone();
    place.until("the answer", || !place.log(&reviewer, "tool").is_empty());
    let answer = &place.log(&reviewer, "tool")[0];
    assert_eq!(answer["result"]["feedbackDelivered"], false, "{answer}");
    assert_eq!(place.received(&coder).len(), 1);
}

#[test]
fn a_draft_on_the_screen_is_no_proof() {
    let mut place = Place::new("idle", "idle");
    place.set("SCRIPT_SHOW", "draft");
    place.set("SCRIPT_DEAF", "1");
    let coder = place.coder(&[]);
    let sent = sent(&place, &coder, "stays in the box");
    assert_eq!(sent["delivered"], false, "{sent}");
    assert_eq!(place.messages(&coder)[0].state, MessageState::Unconfirmed);
    assert!(place.received(&coder).is_empty());
}

#[test]
fn an_agent_that_shows_drafts_and_messages_is_believed() {
    let mut place = Place::new("idle", "idle");
    place.set("SCRIPT_SHOW", "draft");
    let coder = place.coder(&[]);
    for text in ["one line", "several\nlines\nof text"] {
        let sent = sent(&place, &coder, text);
        assert_eq!(sent["delivered"], true, "{sent}");
    }
    assert_eq!(place.received(&coder).len(), 2);
}

#[test]
fn whoever_looks_delivers_in_place_of_a_dead_server() {
    let place = Place::new("idle", "idle");
    let coder = place.coder(&[]);
    kill_server(&place, &coder);
    owe(&place, &coder, "m-00000001");
    place.until("a look hands it over", || {
        text(&place.codex(&["list"]));
        place.messages(&coder)[0].state == MessageState::Taken
    });
    assert_eq!(place.received(&coder).len(), 1);
}

#[test]
fn whoever_looks_delivers_in_place_of_a_server_that_was_stopped() {
    let place = Place::new("idle", "idle");
    let coder = place.coder(&[]);
    let server = place.instance(&coder).server.unwrap();
    let server = rustix::process::Pid::from_raw(i32::try_from(server.pid).unwrap()).unwrap();
    rustix::process::kill_process(server, rustix::process::Signal::STOP).unwrap();
    owe(&place, &coder, "m-00000001");
    place.until("a look hands it over", || {
        text(&place.codex(&["list"]));
        place.messages(&coder)[0].state == MessageState::Taken
    });
    rustix::process::kill_process(server, rustix::process::Signal::CONT).unwrap();
    owe(&place, &coder, "m-00000002");
    place.until("the next one too", || {
        place
            .messages(&coder)
            .iter()
            .all(|message| message.state == MessageState::Taken)
    });
    assert_eq!(place.received(&coder).len(), 2);
}

#[test]
fn many_deliverers_of_one_agent_hand_each_message_over_once() {
    let mut place = Place::new("idle", "idle");
    place.set("SCRIPT_SHOW", "draft");
    let coder = place.coder(&[]);
    kill_server(&place, &coder);
    let senders: Vec<_> = (0..6)
        .map(|number| place.start(&["send", coder.as_str(), "-"], &format!("number {number}")))
        .collect();
    for sender in senders {
        text(&sender.wait_with_output().unwrap());
    }
    place.until("all are taken", || {
        text(&place.codex(&["list"]));
        let messages = place.messages(&coder);
        messages
            .iter()
            .all(|message| message.state == MessageState::Taken)
    });
    let arrivals = arrivals(&place, &coder);
    assert_eq!(arrivals.len(), 6, "{arrivals:?}");
    assert!(arrivals.values().all(|count| *count == 1), "{arrivals:?}");
}

/// Puts a tmux first on `PATH` whose next `load-buffer` waits for the file `go`, once the file `hold` is there.
fn stall_tmux(place: &mut Place) {
    let (folder, state) = (place.path("bin"), place.path("script"));
    std::fs::create_dir(&folder).unwrap();
    let path = std::env::var("PATH").unwrap();
    let script = format!(
        "#!/bin/sh\nS='{state}'\ncase \" $* \" in *' load-buffer '*)\n\
         if mv \"$S/hold\" \"$S/held\" 2>/dev/null; then while [ ! -e \"$S/go\" ]; do sleep 0.05; done; fi;;\nesac\n\
         PATH='{path}' exec tmux \"$@\"\n",
        state = state.display()
    );
    std::fs::write(folder.join("tmux"), script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.join("tmux"), mode).unwrap();
    place.set("PATH", &format!("{}:{path}", folder.display()));
}

/// Makes every lease and every typed message old, as time would.
fn pass_time(place: &Place) {
    let script = "import sqlite3,sys\nc=sqlite3.connect(sys.argv[1],timeout=30)\n\
        c.execute(\"UPDATE messages SET lease_until='2020-01-01T00:00:00.000Z', typed_at='2020-01-01T00:00:00.000Z' WHERE state='typed'\")\nc.commit()";
    let mut python = place.command(Path::new("python3"));
    let database = place.path("state/codex.db");
    let done = python.args(["-c", script]).arg(database).output().unwrap();
    text(&done);
}

#[test]
fn a_deliverer_that_stalled_past_its_lease_types_nothing() {
    let mut place = Place::new("idle", "idle");
    stall_tmux(&mut place);
    let coder = place.coder(&[]);
    kill_server(&place, &coder);
    std::fs::write(place.path("script/hold"), "").unwrap();
    let stalled = place.start(&["send", coder.as_str(), "-"], "first");
    place.until("it stalls before its paste", || {
        place.path("script/held").exists()
    });
    pass_time(&place);
    let second = sent(&place, &coder, "second");
    assert_eq!(second["delivered"], true, "{second}");
    std::fs::write(place.path("script/go"), "").unwrap();
    text(&stalled.wait_with_output().unwrap());
    let arrivals = arrivals(&place, &coder);
    assert_eq!(arrivals.len(), 2, "{arrivals:?}");
    assert!(arrivals.values().all(|count| *count == 1), "{arrivals:?}");
    assert!(
        place
            .messages(&coder)
            .iter()
            .all(|message| message.state == MessageState::Taken)
    );
}

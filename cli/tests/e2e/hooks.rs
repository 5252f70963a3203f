//! What agents' sessions run: hooks, and the program that becomes the agent.

use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

use serde_json::json;
use shared::model::{InstanceId, MessageKind, MessageState};
use shared::store::NewMessage;
use tests::{TestEnv, feed, sample_instance, until, write_program};

use crate::support::env_with_agent;

fn stored_instance(env: &TestEnv, id: &str) {
    let new = sample_instance(id);
    env.store()
        .write_now(|w| w.insert_instance(&new, None))
        .unwrap();
}

/// Runs a hook and returns its standard output; it never fails.
fn hook(env: &TestEnv, id: Option<&str>, event: &str, payload: &str) -> String {
    let mut command = env.codex_command(&["hook", event]);
    if let Some(id) = id {
        command.env("CODEX_INSTANCE_ID", id);
    }
    let output = feed(&mut command, payload.as_bytes()).wait_with_output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(0));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn hooks_keep_what_they_are_told_and_never_fail() {
    let env = env_with_agent();
    let id = "work-1-a1";
    let session = "0b2f6a52-6a3c-4c6e-9d3e-0a1b2c3d4e5f";
    let start = format!(
        r#"{{"session_id":"{session}","hook_event_name":"SessionStart","source":"clear"}}"#
    );

    // Nothing there yet, nobody to act for, nonsense, an event that is not known, an id that is none.
    assert_eq!(hook(&env, Some(id), "SessionStart", &start), "");
    assert!(!env.state().join("codex.db").exists());
    stored_instance(&env, id);
    assert_eq!(hook(&env, None, "SessionStart", &start), "");
    assert_eq!(hook(&env, Some(id), "Stop", "nonsense"), "");
    assert_eq!(
        hook(
            &env,
            Some(id),
            "Future",
            r#"{"session_id":"s","hook_event_name":"Future"}"#
        ),
        ""
    );
    assert_eq!(hook(&env, Some("../x"), "Stop", &start), "");
    let log = std::fs::read_to_string(env.state().join("logs/work-1-a1.log")).unwrap();
    assert!(log.contains("cannot parse the payload"), "{log}");

    let id = id.parse().unwrap();
    let instance = || env.store().read_now(|r| r.instance(&id)).unwrap();
    let before = instance();
    assert_eq!(before.claude_session_id, None);
    assert_eq!(hook(&env, Some(id.as_str()), "SessionStart", &start), "");
    assert_eq!(instance().claude_session_id.as_deref(), Some(session));
    assert!(instance().last_activity > before.last_activity);
    let events = env.json(&["events", id.as_str()]);
    assert_eq!(
        (&events[0]["name"], &events[0]["source"]),
        (&json!("SessionStart"), &json!("hook"))
    );
    assert_eq!(events[0]["parameters"], json!({"source": "clear"}));
}

#[test]
fn a_hook_does_not_wait_for_a_database_that_stalls() {
    let env = env_with_agent();
    stored_instance(&env, "work-1-a1");
    let store = env.store();
    store
        .write_now(|_| {
            let began = std::time::Instant::now();
            hook(
                &env,
                Some("work-1-a1"),
                "Stop",
                r#"{"session_id":"s","hook_event_name":"Stop"}"#,
            );
            assert!(began.elapsed() < Duration::from_secs(3));
            Ok(())
        })
        .unwrap();
    let log = std::fs::read_to_string(env.state().join("logs/work-1-a1.log")).unwrap();
    assert!(log.contains("gave up"), "{log}");
}

#[test]
fn exec_agent_becomes_the_agent_with_just_its_own_environment() {
    let env = env_with_agent();
    let file = env.path("launch.json");
    let launch = json!({"argv": ["env"], "environment": {"PATH": "/usr/bin:/bin", "OWN": "1"}, "directory": env.root()});
    std::fs::write(&file, launch.to_string()).unwrap();
    let output = env
        .codex_command(&["exec-agent", file.to_str().unwrap()])
        .env("TERM", "screen")
        .env("SECRET", "x")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["OWN=1", "PATH=/usr/bin:/bin", "TERM=screen"]);

    let missing =
        json!({"argv": ["no-such-agent"], "environment": {"PATH": "/bin"}, "directory": "/"});
    std::fs::write(&file, missing.to_string()).unwrap();
    let output = env.codex(&["exec-agent", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("`no-such-agent`"));
}

#[test]
fn a_session_of_a_persons_own_gets_what_it_is_owed_at_the_end_of_its_turn() {
    let env = env_with_agent();
    let session = "0b2f6a52-6a3c-4c6e-9d3e-0a1b2c3d4e5f";
    stored_instance(&env, "work-mine-a1");
    let id: shared::model::InstanceId = "work-mine-a1".parse().unwrap();
    let owed = shared::store::NewMessage {
        id: "m-00000001".parse().unwrap(),
        instance: id.clone(),
        sender: "review-mine-a1-r1".to_owned(),
        kind: shared::model::MessageKind::Feedback,
        body: "[claude-codex m-00000001] changes requested".to_owned(),
    };
    let stored = env.store().write_now(|w| {
        w.set_claude_session(&id, session)?;
        w.insert_message(&owed)
    });
    stored.unwrap();
    let stop = |session: &str| {
        let payload = json!({ "hook_event_name": "Stop", "session_id": session, "cwd": "/",
            "transcript_path": "/nowhere", "stop_hook_active": false });
        hook(&env, None, "Stop", &payload.to_string())
    };
    assert_eq!(stop("11111111-2222-3333-4444-555555555555"), "");
    let answer: serde_json::Value = serde_json::from_str(&stop(session)).unwrap();
    assert_eq!(answer["decision"], "block");
    assert_eq!(answer["reason"], owed.body);
    assert_eq!(stop(session), "", "it was handed over twice");
}

const SESSION: &str = "0b2f6a52-6a3c-4c6e-9d3e-0a1b2c3d4e5f";
const OTHER: &str = "11111111-2222-3333-4444-555555555555";

/// An agent in a session, and messages that it is owed.
struct Owed {
    env: TestEnv,
    id: InstanceId,
}

impl Owed {
    fn new(messages: u32) -> Self {
        let env = env_with_agent();
        stored_instance(&env, "work-mine-a1");
        let id: InstanceId = "work-mine-a1".parse().unwrap();
        let stored = env.store().write_now(|w| {
            w.set_claude_session(&id, SESSION)?;
            for number in 1..=messages {
                w.insert_message(&NewMessage {
                    id: format!("m-0000000{number}").parse().unwrap(),
                    instance: id.clone(),
                    sender: "review-mine-a1-r1".to_owned(),
                    kind: MessageKind::Feedback,
                    body: format!("[claude-codex m-0000000{number}] changes requested"),
                })?;
            }
            Ok(())
        });
        stored.unwrap();
        Self { env, id }
    }

    fn transcript(&self) -> std::path::PathBuf {
        self.env.path("transcript.jsonl")
    }

    fn stop_payload(&self, session: &str) -> String {
        json!({ "hook_event_name": "Stop", "session_id": session, "cwd": "/",
            "transcript_path": self.transcript(), "stop_hook_active": false })
        .to_string()
    }

    /// Ends a turn and returns the id of the message that the hook gave.
    fn stop(&self) -> Option<String> {
        given(&hook(&self.env, None, "Stop", &self.stop_payload(SESSION)))
    }

    /// Ends a turn of a launched agent and returns the id of the message that the hook gave.
    fn stop_of(&self, session: &str) -> Option<String> {
        let id = Some(self.id.as_str());
        given(&hook(&self.env, id, "Stop", &self.stop_payload(session)))
    }

    fn states(&self) -> Vec<MessageState> {
        let messages = self.env.store().read_now(|r| r.messages(&self.id));
        let messages = messages.unwrap();
        messages.iter().map(|message| message.state).collect()
    }

    fn session(&self) -> Option<String> {
        let instance = self.env.store().read_now(|r| r.instance(&self.id));
        instance.unwrap().claude_session_id
    }

    /// Lets the last hand-over be a minute ago.
    fn a_minute_later(&self) {
        let database = rusqlite::Connection::open(self.env.state().join("codex.db")).unwrap();
        database
            .execute(
                "UPDATE messages SET typed_at = strftime('%Y-%m-%dT%H:%M:%fZ', typed_at, '-60 seconds')",
                [],
            )
            .unwrap();
    }

    fn says(&self, text: &str) {
        let said = json!({ "type": "user", "message": { "role": "user", "content": text } });
        std::fs::write(self.transcript(), format!("{said}\n")).unwrap();
    }
}

fn given(printed: &str) -> Option<String> {
    let answer: serde_json::Value = serde_json::from_str(printed).ok()?;
    let reason = answer["reason"].as_str()?;
    Some(reason.get(14..24)?.to_owned())
}

#[test]
fn a_hook_of_another_session_does_not_act_for_the_agent() {
    let owed = Owed::new(1);
    for source in ["startup", "resume"] {
        let start =
            json!({ "hook_event_name": "SessionStart", "session_id": OTHER, "source": source });
        let id = Some(owed.id.as_str());
        assert_eq!(hook(&owed.env, id, "SessionStart", &start.to_string()), "");
        assert_eq!(owed.session().as_deref(), Some(SESSION), "{source}");
    }
    assert_eq!(owed.stop_of(OTHER), None);
    assert_eq!(owed.states(), [MessageState::Owed]);
    assert_eq!(owed.stop_of(SESSION).as_deref(), Some("m-00000001"));
}

#[test]
fn a_session_that_no_longer_writes_its_transcript_is_given_a_message_once() {
    let owed = Owed::new(1);
    owed.says("something, long ago");
    let transcript = std::fs::File::options()
        .append(true)
        .open(owed.transcript());
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_hours(1);
    transcript.unwrap().set_modified(long_ago).unwrap();
    assert_eq!(owed.stop().as_deref(), Some("m-00000001"));
    owed.a_minute_later();
    assert_eq!(owed.stop(), None);
    assert_eq!(owed.states(), [MessageState::Unconfirmed]);
}

/// Runs a hook below so many programs that are called claude, each started by the one before.
fn hook_below_claude(owed: &Owed, depth: usize, launched: bool, payload: &str) -> String {
    let claude = owed.env.path("bin/claude");
    // The second line keeps the shell from becoming what it runs.
    write_program(&claude, "#!/bin/sh\n\"$@\"\nexit $?\n");
    let own = owed.env.codex_command(&["hook", "Stop"]);
    let mut command = owed.env.codex_command(&[]);
    let variables: Vec<_> = command
        .get_envs()
        .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
        .collect();
    command = std::process::Command::new(&claude);
    command.env_clear().envs(variables);
    command.args(std::iter::repeat_n(&claude, depth - 1));
    command.arg(own.get_program()).args(own.get_args());
    if launched {
        command.env("CODEX_INSTANCE_ID", owed.id.as_str());
    }
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let _ = child.stdin.take().unwrap().write_all(payload.as_bytes());
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

#[test]
fn a_claude_below_the_agents_own_takes_nothing() {
    // `claude -p -c` continues the very session of the agent.
    for session in [SESSION, OTHER] {
        let owed = Owed::new(1);
        let payload = owed.stop_payload(session);
        assert_eq!(hook_below_claude(&owed, 2, true, &payload), "");
        assert_eq!(owed.states(), [MessageState::Owed]);
        assert_eq!(owed.session().as_deref(), Some(SESSION));
    }
}

#[test]
fn the_agents_own_claude_goes_on_under_another_session_id() {
    let owed = Owed::new(1);
    let payload = owed.stop_payload(OTHER);
    let answer = hook_below_claude(&owed, 1, true, &payload);
    assert_eq!(given(&answer).as_deref(), Some("m-00000001"));
    assert_eq!(owed.session().as_deref(), Some(OTHER));
}

#[test]
fn what_a_lost_stop_hook_answer_held_is_given_again() {
    let owed = Owed::new(2);
    owed.says("something else");
    assert_eq!(owed.stop().as_deref(), Some("m-00000001"));
    // Two hooks of one turn: the answer of the first may still be on its way.
    assert_eq!(owed.stop(), None);
    owed.a_minute_later();
    assert_eq!(owed.stop().as_deref(), Some("m-00000001"));
    owed.says("Stop hook feedback:\n[claude-codex m-00000001] changes requested");
    assert_eq!(owed.stop().as_deref(), Some("m-00000002"));
    assert_eq!(owed.states(), [MessageState::Taken, MessageState::Typed]);
}

/// A hook has half a second, and Claude Code takes no answer twice.
#[test]
fn a_transcript_of_300_megabytes_is_no_reason_to_give_up() {
    let owed = Owed::new(2);
    let line = json!({ "type": "assistant", "message": { "content": "x".repeat(9_000) } });
    let block = format!("{line}\n").repeat(110);
    let mut file = std::fs::File::create(owed.transcript()).unwrap();
    while file.metadata().unwrap().len() < 300_000_000 {
        file.write_all(block.as_bytes()).unwrap();
    }
    // A machine under load may hold a hook up for as long; the next one does it.
    let stopped = |wanted: &str| {
        until("the hook gives a message", || match owed.stop() {
            Some(given) => {
                assert_eq!(given, wanted);
                true
            }
            None => false,
        });
    };
    stopped("m-00000001");
    owed.a_minute_later();
    stopped("m-00000001");
    let text = "Stop hook feedback:\n[claude-codex m-00000001] changes requested";
    let said = json!({ "type": "user", "message": { "role": "user", "content": text } });
    file.write_all(format!("{said}\n{block}").as_bytes())
        .unwrap();
    owed.a_minute_later();
    stopped("m-00000002");
    assert_eq!(owed.states(), [MessageState::Taken, MessageState::Typed]);
}

#[test]
fn without_a_transcript_a_stop_hook_gives_each_message_once() {
    let owed = Owed::new(2);
    assert_eq!(owed.stop().as_deref(), Some("m-00000001"));
    assert_eq!(owed.stop(), None);
    owed.a_minute_later();
    assert_eq!(owed.stop().as_deref(), Some("m-00000002"));
    assert_eq!(
        owed.states(),
        [MessageState::Unconfirmed, MessageState::Typed]
    );
}

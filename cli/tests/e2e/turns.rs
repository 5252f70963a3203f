//! Turns of agents, as the hooks record them, and the reminder at the end of one.

use serde_json::{Value, json};
use shared::model::{InstanceId, InstanceKind, Origin, StatusEvent};
use shared::store::{NewInstance, NewReview};
use tests::{TestEnv, feed, sample_instance};

use crate::support::env_with_agent;

const SESSION: &str = "0b2f6a52-6a3c-4c6e-9d3e-0a1b2c3d4e5f";

/// Stores an agent that we have launched and that runs in the repository itself.
fn running(env: &TestEnv, id: &str, kind: InstanceKind, coder: Option<&InstanceId>) -> InstanceId {
    let new = NewInstance {
        kind,
        origin: Origin::Launched,
        repository: env.repository().to_string_lossy().into_owned(),
        worktree_path: env.repository().to_owned(),
        branch_name: Some("work".to_owned()),
        parent_instance_id: coder.cloned(),
        ..sample_instance(id)
    };
    env.store()
        .write_now(|w| {
            w.insert_instance(&new, None)?;
            w.transition(&new.id, StatusEvent::Connected)
        })
        .unwrap();
    new.id
}

/// Runs a hook and returns what it tells the agent.
fn hook(env: &TestEnv, id: &InstanceId, event: &str, more: &Value) -> Option<String> {
    let mut payload = json!({ "hook_event_name": event, "session_id": SESSION, "cwd": "/" });
    for (key, value) in more.as_object().unwrap() {
        payload[key] = value.clone();
    }
    let mut command = env.codex_command(&["hook", event]);
    command.env("CODEX_INSTANCE_ID", id.as_str());
    let child = feed(&mut command, payload.to_string().as_bytes());
    let output = child.wait_with_output().unwrap();
    let answer: Option<Value> = serde_json::from_slice(&output.stdout).ok();
    answer.map(|answer| answer["reason"].as_str().unwrap().to_owned())
}

fn stop(env: &TestEnv, id: &InstanceId) -> Option<String> {
    hook(env, id, "Stop", &json!({ "stop_hook_active": false }))
}

fn prompt(env: &TestEnv, id: &InstanceId) {
    let told = hook(env, id, "UserPromptSubmit", &json!({ "prompt": "Go on" }));
    assert_eq!(told, None);
}

#[test]
fn the_last_words_of_a_turn_are_kept_until_the_next_prompt() {
    let env = env_with_agent();
    env.git(&["checkout", "-q", "-b", "work"]);
    let id = running(&env, "work-1-a1", InstanceKind::Coding, None);
    let turn = || {
        let store = env.store();
        let turns = store.read_now(|r| r.ended_turns(&[r.instance(&id)?]));
        turns.unwrap().remove(&id)
    };
    assert_eq!(turn(), None);
    let said = "I looked.\n\nPostgres\u{202e} or SQLite?";
    hook(
        &env,
        &id,
        "Stop",
        &json!({ "last_assistant_message": said }),
    );
    assert_eq!(turn().unwrap().said.as_deref(), Some("Postgres or SQLite?"));
    assert!(turn().unwrap().at.seconds_ago() >= 0.0);
    prompt(&env, &id);
    assert_eq!(turn(), None);

    // What it has left running wakes it, unless that takes too long.
    let busy = json!({ "last_assistant_message": said, "background_tasks": [{ "id": "b1" }] });
    hook(&env, &id, "Stop", &busy);
    let rests_in = -turn().unwrap().at.seconds_ago();
    assert!((500.0..=600.0).contains(&rests_in), "{rests_in}");

    // The model cannot be asked: no Stop hook runs.
    prompt(&env, &id);
    let failed = json!({ "error": "authentication_failed", "last_assistant_message": "Not logged in · Please run /login" });
    hook(&env, &id, "StopFailure", &failed);
    let said = turn().unwrap().said;
    assert_eq!(said.as_deref(), Some("Not logged in · Please run /login"));
    hook(&env, &id, "StopFailure", &json!({ "error": "rate_limit" }));
    assert_eq!(turn().unwrap().said.as_deref(), Some("rate_limit"));
}

#[test]
fn a_coder_is_reminded_once_of_what_it_has_not_committed_or_published() {
    let env = env_with_agent();
    env.git(&["checkout", "-q", "-b", "work"]);
    let id = running(&env, "work-1-a1", InstanceKind::Coding, None);
    assert_eq!(stop(&env, &id), None, "there is nothing to remind it of");
    env.write("new.txt", "new");
    let told = stop(&env, &id).unwrap();
    assert!(told.contains("1 changed file is not committed"), "{told}");
    assert!(told.contains("end your turn again"), "{told}");
    assert_eq!(stop(&env, &id), None, "it was reminded");

    env.commit_all("New");
    prompt(&env, &id);
    let busy = json!({ "background_tasks": [{ "id": "b1" }] });
    assert_eq!(hook(&env, &id, "Stop", &busy), None);
    let told = stop(&env, &id).unwrap();
    assert!(
        told.contains("neither under review nor published"),
        "{told}"
    );
    assert_eq!(stop(&env, &id), None, "it was reminded");

    // What is under review, or was sent back at this commit, is not unpublished by mistake.
    prompt(&env, &id);
    let reviewer = running(&env, "review-1-a1-r1", InstanceKind::Review, Some(&id));
    let commit = env.git(&["rev-parse", "HEAD"]).trim().to_owned();
    let review = NewReview {
        coder: id.clone(),
        reviewer: reviewer.clone(),
        round: 1,
        commit,
        description: String::new(),
    };
    let opened = env.store().write_now(|w| w.insert_review(&review));
    opened.unwrap();
    assert_eq!(stop(&env, &id), None);

    let told = stop(&env, &reviewer).unwrap();
    assert!(told.contains("Call create_pr to approve"), "{told}");
    assert_eq!(stop(&env, &reviewer), None, "it was reminded");
}

#[test]
fn a_repository_that_is_gone_or_slow_holds_no_agent_up() {
    let env = env_with_agent();
    env.git(&["checkout", "-q", "-b", "work"]);
    let id = running(&env, "work-1-a1", InstanceKind::Coding, None);
    env.write("new.txt", "new");
    let git = env.program("git", "#!/bin/sh\nsleep 5\n");
    let began = std::time::Instant::now();
    assert_eq!(stop(&env, &id), None);
    assert!(began.elapsed().as_secs() < 4, "{:?}", began.elapsed());
    std::fs::remove_file(git).unwrap();
    assert!(stop(&env, &id).is_some(), "it was not reminded before");
}

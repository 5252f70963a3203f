//! `--discard`: deletes an agent's work after one question that names what is lost.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tests::dashboard::Dashboard;
use tests::{TestEnv, error, until};

use crate::support::{env_with_agent, run_in_terminal, traces};

/// Launches an agent that has one uncommitted file and one commit.
fn agent_with_work(env: &TestEnv) -> (String, Value) {
    let instance = env.json(&["code", "Write it"]);
    let folder = Path::new(instance["worktreePath"].as_str().unwrap());
    std::fs::write(folder.join("committed"), "x").unwrap();
    env.git_in(folder, &["add", "."]);
    env.git_in(folder, &["commit", "-q", "-m", "work"]);
    std::fs::write(folder.join("draft"), "x").unwrap();
    (instance["id"].as_str().unwrap().to_owned(), instance)
}

#[test]
fn work_is_deleted_only_if_a_person_says_so() {
    let env = env_with_agent();
    let before = traces(&env);
    let (id, instance) = agent_with_work(&env);
    let folder = Path::new(instance["worktreePath"].as_str().unwrap());

    let refused = error(&env.codex(&["stop", "--discard", &id, "--json"]));
    assert_eq!(refused["code"], "INVALID_ARGUMENTS", "{refused}");
    let message = refused["message"].as_str().unwrap();
    for lost in [
        "1 uncommitted file",
        "1 commit that is nowhere else",
        &format!("codex/{id}"),
        folder.to_str().unwrap(),
    ] {
        assert!(message.contains(lost), "{message}");
    }
    assert!(env.has_session(&id.parse().unwrap()) && folder.join("draft").exists());

    let terminal = run_in_terminal(&env, &format!("stop --discard {id}"));
    terminal.until_shows("Delete it? [y/N]");
    assert!(
        terminal.screen().contains("1 uncommitted file"),
        "{}",
        terminal.screen()
    );
    terminal.press(&["n", "Enter"]);
    until("it has ended", || terminal.has_ended());
    assert!(folder.join("draft").exists());

    let terminal = run_in_terminal(&env, &format!("stop --discard {id}"));
    terminal.until_shows("Delete it? [y/N]");
    terminal.press(&["y", "Enter"]);
    until("it has ended", || terminal.has_ended());
    drop(terminal);
    assert_eq!(traces(&env), before);
    let details = env.json(&["show", &id]);
    assert_eq!(details["status"], "terminated", "{details}");
    assert_eq!(details["note"], "a person discarded its work");
    let events = details["events"].as_array().unwrap();
    assert!(
        events.iter().any(|event| event["name"] == "discard"
            && event["result"]["lost"].as_str().unwrap().contains("codex/")),
        "{details}"
    );
}

#[test]
fn what_ended_agents_have_kept_can_be_deleted() {
    let env = env_with_agent();
    let before = traces(&env);
    let (id, _) = agent_with_work(&env);
    let refused = error(&env.codex(&["clean", "--discard", "--yes", &id, "--json"]));
    assert_eq!(refused["code"], "ILLEGAL_STATE", "{refused}");
    env.json(&["stop", &id]);
    assert_eq!(env.json(&["clean", &id])[0]["kept"], true);
    let done = env.json(&["clean", "--discard", "--yes", &id]);
    assert_eq!(done[0]["kept"], Value::Null, "{done}");
    assert_eq!(traces(&env), before);
    assert_eq!(env.json(&["clean"]), json!([]));
}

#[test]
fn the_dashboard_discards_after_a_question() {
    let env = env_with_agent();
    let before = traces(&env);
    let (id, instance) = agent_with_work(&env);
    let folder = Path::new(instance["worktreePath"].as_str().unwrap());
    let dashboard = Dashboard::start(&env, &[]);
    let page = dashboard.get(&format!("/agents/{id}")).body;
    let question = format!("/agents/{id}/discard");
    assert!(page.contains(&format!("href=\"{question}\"")), "{page}");
    let page = dashboard.get(&question).body;
    let named = dashboard
        .get(&format!("/api/instances/{id}/discard"))
        .good();
    for lost in ["1 uncommitted file", &format!("codex/{id}")] {
        assert!(page.contains(lost), "{lost}: {page}");
        assert!(named["lost"].as_str().unwrap().contains(lost), "{named}");
    }
    assert_eq!(named["isLost"], true, "{named}");
    assert_ne!(traces(&env), before, "a question deletes nothing");
    let answer = json!({ "lost": named["lost"] });
    // What is written after the question is not part of the answer.
    fs::write(folder.join("later.txt"), "later").unwrap();
    let refused = dashboard.post(&format!("/api/instances/{id}/discard"), &answer);
    assert_eq!(refused.code(), "ILLEGAL_STATE");
    assert!(folder.join("later.txt").exists());
    fs::remove_file(folder.join("later.txt")).unwrap();
    let done = dashboard
        .post(&format!("/api/instances/{id}/discard"), &answer)
        .good();
    assert!(
        done["lost"]
            .as_str()
            .unwrap()
            .contains("1 uncommitted file"),
        "{done}"
    );
    assert_eq!(traces(&env), before);
}

/// The question was about an agent that had ended; the one that lives by the time of the answer is another matter.
#[test]
fn an_agent_that_was_resumed_while_the_person_was_asked_lives_on() {
    let env = env_with_agent();
    let (id, instance) = agent_with_work(&env);
    let folder = Path::new(instance["worktreePath"].as_str().unwrap());
    env.json(&["stop", &id]);
    let terminal = run_in_terminal(&env, &format!("clean --discard {id}"));
    terminal.until_shows("Delete it? [y/N]");
    env.json(&["resume", &id]);
    terminal.press(&["y", "Enter"]);
    until("it has ended", || terminal.has_ended());
    assert!(folder.join("draft").exists());
    assert!(env.has_session(&id.parse().unwrap()));
    assert_eq!(env.json(&["show", &id])["status"], "started");
}

#[test]
fn other_work_than_the_person_was_asked_about_stays() {
    let env = env_with_agent();
    let (id, instance) = agent_with_work(&env);
    let folder = Path::new(instance["worktreePath"].as_str().unwrap());
    env.json(&["stop", &id]);
    let terminal = run_in_terminal(&env, &format!("clean --discard {id}"));
    terminal.until_shows("Delete it? [y/N]");
    std::fs::write(folder.join("another"), "x").unwrap();
    terminal.press(&["y", "Enter"]);
    until("it has ended", || terminal.has_ended());
    assert!(folder.join("another").exists());
    // What the hint says.
    env.json(&["stop", "--discard", "--yes", &id]);
    assert!(!folder.exists());
}

#[test]
fn a_failed_agent_whose_work_was_discarded_needs_nobody() {
    let env = env_with_agent();
    let (id, _) = agent_with_work(&env);
    env.tmux(&["kill-session", "-t", &format!("={id}")]);
    until("it waits for a person", || {
        env.json(&["show", &id])["attention"]["kind"] == "failed"
    });
    env.json(&["clean", "--discard", "--yes", &id]);
    assert_eq!(env.json(&["show", &id])["attention"], Value::Null);
    assert_eq!(env.json(&["list"]), json!([]));
}

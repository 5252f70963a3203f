//! Hints that are followed: every `claude-codex …` command that a refusal names is run, and must not be refused.

use serde_json::{Value, json};
use shared::model::{InstanceId, Status};
use tests::{AgentEnv, shown};

/// Returns the commands between backticks, as words, with the placeholders filled in.
fn commands(hint: &str, id: &str, number: &str) -> Vec<Vec<String>> {
    let quoted = hint.split('`').skip(1).step_by(2);
    let ours = quoted.filter_map(|text| text.strip_prefix("claude-codex "));
    ours.map(|text| {
        let parts = text.split('"').enumerate();
        let words = parts.flat_map(|(index, part)| match index % 2 {
            // What is between quotation marks is one word.
            1 => vec![part.to_owned()],
            _ => part.split_whitespace().map(str::to_owned).collect(),
        });
        let filled = words.map(|word| match word.as_str() {
            "ID" => id.to_owned(),
            "N" => number.to_owned(),
            _ => word,
        });
        filled.collect()
    })
    .collect()
}

/// Runs a command that must be refused with a code, and then every command of its hint. Returns how many those were.
fn follow(env: &AgentEnv, args: &[&str], code: &str, id: &str, number: &str) -> usize {
    let output = env.codex(&[args, &["--json"]].concat());
    assert!(!output.status.success(), "{args:?}: {}", shown(&output));
    let error: Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(error["code"], code, "{args:?}: {error}");
    let hint = error["hint"].as_str().unwrap_or_default();
    let named = commands(hint, id, number);
    for words in &named {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = env.codex(&words);
        assert!(
            output.status.success(),
            "{args:?} says `{hint}`, but {words:?}: {}",
            shown(&output)
        );
    }
    named.len()
}

fn followed(env: &AgentEnv, args: &[&str], code: &str, id: &str, number: &str) {
    assert!(
        follow(env, args, code, id, number) > 0,
        "{args:?} names no way on"
    );
}

fn until_put_away(env: &AgentEnv, coder: &InstanceId) {
    env.until("the coder is put away", || {
        !env.has_session(coder) && env.instance(coder).owner.is_none()
    });
}

/// Launches a coder that publishes one commit and whose session has ended.
fn published(env: &AgentEnv) -> (InstanceId, String) {
    let coder = env.coder_with_commit();
    let answer = env.create_pr(&coder, "Title");
    assert_eq!(answer["error"], false, "{answer}");
    until_put_away(env, &coder);
    let number = env.instance(&coder).pr_number.unwrap();
    (coder, number.to_string())
}

#[test]
fn published_work() {
    let env = AgentEnv::new("idle", "idle");
    for (command, code) in [
        ("resume", "ILLEGAL_STATE"),
        ("review", "AGENT_ENDED"),
        ("attach", "AGENT_ENDED"),
    ] {
        let (coder, number) = published(&env);
        followed(
            &env,
            &[command, coder.as_str()],
            code,
            coder.as_str(),
            &number,
        );
    }
}

#[test]
fn merged_and_closed_work() {
    let env = AgentEnv::new("idle", "idle");
    let (coder, number) = published(&env);
    let id = coder.as_str();
    env.json(&["pr", "merge", &number]);
    followed(&env, &["send", id, "x"], "AGENT_ENDED", id, &number);
    followed(&env, &["attach", id], "AGENT_ENDED", id, &number);
    followed(&env, &["resume", id], "ILLEGAL_STATE", id, &number);
    followed(&env, &["review", id], "AGENT_ENDED", id, &number);
    for command in ["request-changes", "approve", "update", "resolve"] {
        let mut args = vec!["pr", command, &number];
        args.extend((command == "request-changes").then_some("x"));
        followed(&env, &args, "PULL_REQUEST_NOT_OPEN", id, &number);
    }

    let (coder, number) = published(&env);
    let id = coder.as_str();
    for (args, code) in [
        (vec!["send", id, "x"], "AGENT_ENDED"),
        (vec!["attach", id], "AGENT_ENDED"),
        (vec!["resume", id], "ILLEGAL_STATE"),
        (vec!["review", id], "AGENT_ENDED"),
        (
            vec!["pr", "request-changes", &number, "x"],
            "PULL_REQUEST_NOT_OPEN",
        ),
        (vec!["pr", "merge", &number], "PULL_REQUEST_NOT_OPEN"),
        (vec!["pr", "update", &number], "PULL_REQUEST_NOT_OPEN"),
        (vec!["pr", "resolve", &number], "PULL_REQUEST_NOT_OPEN"),
    ] {
        env.json(&["pr", "close", &number]);
        followed(&env, &args, code, id, &number);
    }
}

#[test]
fn agents_that_have_ended() {
    let env = AgentEnv::new("idle", "idle");
    for (command, code) in [
        ("send", "AGENT_ENDED"),
        ("attach", "AGENT_ENDED"),
        ("review", "AGENT_ENDED"),
    ] {
        let coder = env.coder_with_commit();
        let id = coder.as_str();
        let mut args = vec![command, id];
        args.extend((command == "send").then_some("x"));
        env.json(&["stop", id]);
        followed(&env, &args, code, id, "1");
        env.until("it is up", || env.status(&coder) == Status::Running);
        // Its session is lost.
        env.tmux(&["kill-session", "-t", &format!("={id}")]);
        env.until("it has failed", || {
            env.codex(&["list"]);
            env.status(&coder) == Status::Failed
        });
        followed(&env, &args, code, id, "1");
        env.json(&["stop", id]);
    }
}

#[test]
fn a_reviewer_that_is_done() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder_with_commit();
    let answer = env.call(&coder, "request_review", &json!({ "description": "look" }));
    let reviewer = answer["result"]["reviewInstanceId"].as_str();
    let reviewer: InstanceId = reviewer.unwrap().parse().unwrap();
    env.until("the reviewer", || env.status(&coder) == Status::UnderReview);
    env.create_pr(&reviewer, "Title");
    env.until_gone(&reviewer);
    until_put_away(&env, &coder);
    let id = reviewer.as_str();
    followed(&env, &["send", id, "x"], "AGENT_ENDED", id, "1");
    followed(&env, &["attach", id], "AGENT_ENDED", id, "1");
    followed(&env, &["resume", id], "ILLEGAL_STATE", id, "1");
}

#[test]
fn an_agent_at_work() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&[]);
    let id = coder.as_str();
    // There is no terminal here.
    followed(&env, &["attach", id], "INVALID_ARGUMENTS", id, "1");
    followed(&env, &["resume", id], "ILLEGAL_STATE", id, "1");
    followed(&env, &["show", "nosuch"], "INSTANCE_NOT_FOUND", id, "1");
    followed(
        &env,
        &["pr", "show", "9"],
        "PULL_REQUEST_NOT_FOUND",
        id,
        "9",
    );
    // Nothing is committed.
    assert_eq!(
        follow(&env, &["review", id], "NOTHING_TO_REVIEW", id, "1"),
        0
    );
}

#[test]
fn a_session_of_a_person() {
    let env = AgentEnv::new("idle", "idle");
    for (index, command) in ["attach", "review", "resume"].into_iter().enumerate() {
        env.publish(command, &[(command, "one\n")]);
        let number = (index + 1).to_string();
        let listed = env.json(&["list", "--all"]);
        let mut agents = listed.as_array().unwrap().iter();
        let agent = agents.find(|agent| agent["prNumber"] == index + 1);
        let id = agent.unwrap()["id"].as_str().unwrap();
        let code = match command {
            "resume" => "NOT_AVAILABLE",
            _ => "AGENT_ENDED",
        };
        followed(&env, &[command, id], code, id, &number);
        env.json(&["stop", id]);
        followed(&env, &["resume", id], "NOT_AVAILABLE", id, &number);
    }
}

#[test]
fn pull_requests_that_cannot_be_merged() {
    let env = AgentEnv::new("idle", "idle");
    env.publish("one", &[("a.txt", "one\n")]);
    env.publish("two", &[("a.txt", "two\n")]);
    env.publish("three", &[("b.txt", "three\n")]);
    env.json(&["pr", "merge", "1"]);
    followed(&env, &["pr", "merge", "2"], "MERGE_CONFLICT", "", "2");
    let folder = env.path("three");
    let more = ["commit", "-q", "--allow-empty", "-m", "more"];
    env.git_in(&folder, &more);
    followed(
        &env,
        &["pr", "merge", "3"],
        "PULL_REQUEST_OUTDATED",
        "",
        "3",
    );
    env.publish("four", &[("c.txt", "four\n")]);
    followed(&env, &["pr", "resolve", "4"], "NOT_AVAILABLE", "", "4");
}

#[test]
fn work_that_began_at_a_detached_head_is_published_into_the_default_branch() {
    let env = AgentEnv::new("idle", "idle");
    env.git(&["checkout", "-q", "--detach"]);
    let coder = env.coder_with_commit();
    let answer = env.create_pr(&coder, "Title");
    assert_eq!(answer["error"], false, "{answer}");
    assert_eq!(env.json(&["pr", "show", "1"])["baseBranch"], "main");
    // Where no branch has the commit, it is said why that cannot be.
    env.git(&["commit", "-q", "--allow-empty", "-m", "on no branch"]);
    let coder = env.coder_with_commit();
    let answer = env.create_pr_refused(&coder, "BASE_NOT_FOUND");
    let text = answer["text"].as_str().unwrap();
    assert!(text.contains("began at the commit"), "{text}");
}

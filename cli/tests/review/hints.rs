//! Hints that are followed: every `claude-codex …` command that a refusal names is run, and must not be refused.

use serde_json::{Value, json};
use shared::model::{InstanceId, Status};
use tests::{AgentEnv, shown};

mod sources;

/// What a hint that can be pasted does not have.
const PLACEHOLDERS: [&str; 6] = ["ID", "N", "FILE", "NUMBER", "COMMAND", "MESSAGE"];

/// Returns the words of a command.
fn words(command: &str) -> Vec<String> {
    let parts = command.split('"').enumerate();
    let words = parts.flat_map(|(index, part)| match index % 2 {
        // What is between quotation marks is one word.
        1 => vec![part.to_owned()],
        _ => part.split_whitespace().map(str::to_owned).collect(),
    });
    words.collect()
}

/// Runs a command that must be refused with a code, and returns the commands that its hint names.
fn refused(env: &AgentEnv, args: &[&str], code: &str) -> Vec<String> {
    let output = env.codex(&[args, &["--json"]].concat());
    assert!(!output.status.success(), "{args:?}: {}", shown(&output));
    let error: Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(error["code"], code, "{args:?}: {error}");
    let hint = error["hint"].as_str().unwrap_or_default();
    let quoted = hint.split('`').skip(1).step_by(2);
    let ours = quoted.filter_map(|text| text.strip_prefix("claude-codex "));
    ours.map(str::to_owned).collect()
}

/// Runs a command as it stands in the hint of a refused one. It must not be refused.
fn run(env: &AgentEnv, args: &[&str], command: &str) {
    let words = words(command);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    assert!(
        !words.iter().any(|word| PLACEHOLDERS.contains(word)),
        "{args:?} says `{command}`, which cannot be pasted"
    );
    let output = env.codex(&words);
    assert!(
        output.status.success(),
        "{args:?} says `{command}`: {}",
        shown(&output)
    );
    sources::record(command);
}

/// Runs a command that must be refused with a code, and then every command of its hint. Returns how many those were.
fn follow(env: &AgentEnv, args: &[&str], code: &str) -> usize {
    let named = refused(env, args, code);
    for command in &named {
        run(env, args, command);
    }
    named.len()
}

fn followed(env: &AgentEnv, args: &[&str], code: &str) {
    assert!(follow(env, args, code) > 0, "{args:?} names no way on");
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
        let (coder, _) = published(&env);
        followed(&env, &[command, coder.as_str()], code);
    }
    sources::assert_followed("published_work");
}

#[test]
fn merged_and_closed_work() {
    let env = AgentEnv::new("idle", "idle");
    let (coder, number) = published(&env);
    let id = coder.as_str();
    env.json(&["pr", "merge", &number]);
    followed(&env, &["send", id, "x"], "AGENT_ENDED");
    followed(&env, &["attach", id], "AGENT_ENDED");
    followed(&env, &["resume", id], "ILLEGAL_STATE");
    followed(&env, &["review", id], "AGENT_ENDED");
    for command in ["request-changes", "approve", "update", "resolve"] {
        let mut args = vec!["pr", command, &number];
        args.extend((command == "request-changes").then_some("x"));
        followed(&env, &args, "PULL_REQUEST_NOT_OPEN");
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
        followed(&env, &args, code);
    }
    sources::assert_followed("merged_and_closed_work");
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
        followed(&env, &args, code);
        env.until("it is up", || env.status(&coder) == Status::Running);
        // Its session is lost.
        env.tmux(&["kill-session", "-t", &format!("={id}")]);
        env.until("it has failed", || {
            env.codex(&["list"]);
            env.status(&coder) == Status::Failed
        });
        followed(&env, &args, code);
        env.json(&["stop", id]);
    }
    sources::assert_followed("agents_that_have_ended");
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
    followed(&env, &["send", id, "x"], "AGENT_ENDED");
    followed(&env, &["attach", id], "AGENT_ENDED");
    followed(&env, &["resume", id], "ILLEGAL_STATE");
    sources::assert_followed("a_reviewer_that_is_done");
}

#[test]
fn an_agent_at_work() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&[]);
    let id = coder.as_str();
    // There is no terminal here.
    followed(&env, &["attach", id], "INVALID_ARGUMENTS");
    followed(&env, &["resume", id], "ILLEGAL_STATE");
    followed(&env, &["show", "nosuch"], "INSTANCE_NOT_FOUND");
    followed(&env, &["pr", "show", "9"], "PULL_REQUEST_NOT_FOUND");
    // Nothing is committed.
    assert_eq!(follow(&env, &["review", id], "NOTHING_TO_REVIEW"), 0);
    followed(&env, &["code", "--issue", "7"], "FORGE_NOT_CONFIGURED");
    let again = ["send", id, "--again", "m-00000000"];
    followed(&env, &again, "INVALID_ARGUMENTS");
    followed(&env, &["clean", id], "ILLEGAL_STATE");
    sources::assert_followed("an_agent_at_work");
}

#[test]
fn a_session_of_a_person() {
    let env = AgentEnv::new("idle", "idle");
    for (index, command) in ["attach", "review", "resume"].into_iter().enumerate() {
        env.publish(command, &[(command, "one\n")]);
        let listed = env.json(&["list", "--all"]);
        let mut agents = listed.as_array().unwrap().iter();
        let agent = agents.find(|agent| agent["prNumber"] == index + 1);
        let id = agent.unwrap()["id"].as_str().unwrap();
        let code = match command {
            "resume" => "NOT_AVAILABLE",
            _ => "AGENT_ENDED",
        };
        followed(&env, &[command, id], code);
        env.json(&["stop", id]);
        followed(&env, &["resume", id], "NOT_AVAILABLE");
    }
}

#[test]
fn pull_requests_that_cannot_be_merged() {
    let env = AgentEnv::new("idle", "idle");
    env.publish("one", &[("a.txt", "one\n")]);
    env.publish("two", &[("a.txt", "two\n")]);
    env.publish("three", &[("b.txt", "three\n")]);
    env.json(&["pr", "merge", "1"]);
    followed(&env, &["pr", "merge", "2"], "MERGE_CONFLICT");
    let folder = env.path("three");
    let more = ["commit", "-q", "--allow-empty", "-m", "more"];
    env.git_in(&folder, &more);
    followed(&env, &["pr", "merge", "3"], "PULL_REQUEST_OUTDATED");
    env.publish("four", &[("c.txt", "four\n")]);
    followed(&env, &["pr", "resolve", "4"], "NOT_AVAILABLE");
    env.publish("five", &[("d.txt", "five\n")]);
    let seen = [
        "pr",
        "merge",
        "5",
        "--commit",
        "0000000000000000000000000000000000000000",
    ];
    followed(&env, &seen, "PULL_REQUEST_OUTDATED");
    // One whose agent the database does not know.
    env.publish("six", &[("e.txt", "six\n")]);
    env.git_in(&env.path("six"), &["checkout", "-q", "--detach"]);
    let database = rusqlite::Connection::open(env.database()).unwrap();
    let forgotten = "UPDATE instances SET status = 'terminated', pr_number = NULL, pr_url = NULL WHERE pr_number = 6";
    assert_eq!(database.execute(forgotten, []).unwrap(), 1);
    let request = ["pr", "request-changes", "6", "x"];
    followed(&env, &request, "INSTANCE_NOT_FOUND");
    sources::assert_followed("pull_requests_that_cannot_be_merged");
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

/// Its hint names two ways of which only one can be gone.
#[test]
fn published_work_is_no_leftover() {
    let env = AgentEnv::new("idle", "idle");
    for way in 0..2 {
        let (coder, _) = published(&env);
        let args = ["clean", coder.as_str()];
        let named = refused(&env, &args, "ILLEGAL_STATE");
        assert_eq!(named.len(), 2, "{named:?}");
        run(&env, &args, &named[way]);
    }
    sources::assert_followed("published_work_is_no_leftover");
}

#[test]
fn a_branch_that_an_agent_has() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder_with_commit();
    let branch = env.instance(&coder).branch_name.unwrap();
    let args = ["code", "--branch", &branch, "Go on"];
    // The first tells the agent what to do, the second ends it.
    assert_eq!(follow(&env, &args, "BRANCH_IN_USE"), 2);
    env.text(&["resume", coder.as_str()]);
    let draft = env.instance(&coder).worktree_path.join("draft");
    std::fs::write(draft, "precious").unwrap();
    env.text(&["stop", coder.as_str()]);
    followed(&env, &args, "BRANCH_IN_USE");
    sources::assert_followed("a_branch_that_an_agent_has");
}

#[test]
fn tasks_that_are_ready() {
    let env = AgentEnv::new("idle", "idle");
    // What is said with success is followed like a hint.
    let said = |args: &[&str]| {
        let text = env.text(args);
        let quoted = text.split('`').skip(1).step_by(2);
        let ours = quoted.filter_map(|text| text.strip_prefix("claude-codex "));
        for command in ours {
            run(&env, args, command);
        }
    };
    for number in 0..2 {
        env.json(&["tasks", "add", &format!("Task {number}")]);
    }
    said(&["tasks", "--limit", "1"]);
    said(&["tasks", "--limit", "1", "--ready"]);
    said(&["tasks", "add", "Write it"]);
    sources::assert_followed("tasks_that_are_ready");
}

#[test]
fn too_many_agents() {
    let mut env = AgentEnv::new("idle", "idle");
    env.set("CODEX_RESOURCES_MAX_CONCURRENT_INSTANCES", "1");
    env.coder(&[]);
    followed(&env, &["code", "More"], "INSTANCE_LIMIT_REACHED");
}

#[test]
fn commands_that_need_no_id() {
    let env = AgentEnv::new("idle", "idle");
    let commands = sources::complete();
    assert!(commands.len() > 15, "{commands:?}");
    for command in commands {
        run(&env, &[], &command);
    }
}

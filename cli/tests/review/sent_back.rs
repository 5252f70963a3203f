//! Published work that a person sends back: the same agent goes on, and the same pull request is updated.

use serde_json::{Value, json};
use shared::model::{InstanceId, MessageState, Status, Verdict};
use tests::{AgentEnv, shown};

/// Launches a coder that publishes one commit and whose session has ended.
fn published(env: &AgentEnv, more: &[&str]) -> InstanceId {
    let coder = env.coder(more);
    env.commit(&coder, "first\n");
    let answer = env.create_pr(&coder, "Title");
    assert_eq!(answer["error"], false, "{answer}");
    until_put_away(env, &coder);
    coder
}

fn until_put_away(env: &AgentEnv, coder: &InstanceId) {
    env.until("the coder is put away", || {
        !env.has_session(coder) && env.instance(coder).owner.is_none()
    });
}

fn refused(env: &AgentEnv, args: &[&str]) -> Value {
    let output = env.codex(&[args, &["--json"]].concat());
    assert!(!output.status.success(), "{args:?}: {}", shown(&output));
    serde_json::from_slice(&output.stderr).unwrap()
}

#[test]
fn comments_and_text_are_one_round_and_the_same_pull_request_is_updated() {
    let env = AgentEnv::new("idle", "idle");
    let coder = published(&env, &[]);
    let comment = ["pr", "comment", "1", "--file", "work.txt", "--line"];
    let told = env.text(&[&comment[..], &["1", "Why \u{1b}[31mfirst?"]].concat());
    assert_eq!(
        told,
        "1 comment is pending on #1. `claude-codex pr request-changes 1` sends it.\n"
    );
    for (line, problem) in [("2", "has 1 line"), ("0", "0 is not in")] {
        let output = env.codex(&[&comment[..], &[line, "x"]].concat());
        assert!(!output.status.success());
        assert!(shown(&output).contains(problem), "{}", shown(&output));
    }
    let missing = refused(
        &env,
        &["pr", "comment", "1", "--file", "nosuch", "--line", "1", "x"],
    );
    assert_eq!(missing["code"], "INVALID_ARGUMENTS");
    assert_eq!(env.json(&["pr", "comment", "1", "--list"])[0]["line"], 1);

    // Removed, it comes back from the branch.
    let worktree = env.instance(&coder).worktree_path;
    env.git(&["worktree", "remove", worktree.to_str().unwrap()]);
    let sent = env.json(&["pr", "request-changes", "1", "Say second instead."]);
    assert_eq!(sent["comments"], 1, "{sent}");
    assert_eq!(sent["restarted"], true, "{sent}");
    env.until("the feedback", || {
        env.messages(&coder)[0].state == MessageState::Taken
    });
    let received = env.received(&coder).pop().unwrap();
    for part in [
        "The person who runs you has reviewed pull request #1: changes requested",
        "Say second instead.",
        "1. work.txt:1: Why [31mfirst?",
        "it updates pull request #1",
    ] {
        assert!(received.contains(part), "{part}: {received}");
    }
    assert_eq!(env.status(&coder), Status::Running);
    assert_eq!(env.json(&["pr", "comment", "1", "--list"]), json!([]));
    let review = env.reviews(&coder).pop().unwrap();
    assert_eq!(review.verdict, Verdict::ChangesRequested);
    assert!(review.is_by_person() && review.findings.len() == 1);
    assert!(env.text(&["show", coder.as_str()]).contains("by a person"));

    env.commit(&coder, "second\n");
    let answer = env.create_pr(&coder, "Better");
    assert_eq!(answer["result"]["prNumber"], 1, "{answer}");
    until_put_away(&env, &coder);
    let pulls = env.json(&["pr", "list", "--state", "all"]);
    assert_eq!(pulls.as_array().unwrap().len(), 1, "{pulls}");
    assert_eq!(pulls[0]["title"], "Better");
    let body = pulls[0]["body"].as_str().unwrap();
    assert!(body.contains("By a person: changes requested"), "{body}");
    assert!(env.text(&["pr", "diff", "1"]).contains("+second"));
    let approved = env.json(&["pr", "approve", "1"]);
    assert_eq!(approved["commit"], pulls[0]["headCommit"]);
    assert_eq!(env.json(&["pr", "merge", "1"])["state"], "merged");
    assert_eq!(env.status(&coder), Status::PrMerged);
    assert_eq!(env.json(&["doctor", "--deep"])["problems"], Value::Null);
}

#[test]
fn an_agent_that_keeps_running_is_told_at_once() {
    let mut env = AgentEnv::new("idle", "idle");
    env.set("CODEX_RESOURCES_CLEANUP", "manual");
    let coder = env.coder_with_commit();
    env.create_pr(&coder, "Title");
    let sent = env.json(&["pr", "request-changes", "1", "Not yet."]);
    assert_eq!(
        (&sent["restarted"], &sent["delivered"]),
        (&json!(false), &json!(true))
    );
    assert_eq!(env.status(&coder), Status::Running);
    // A second one, before it is done with the first.
    let sent = env.json(&["pr", "request-changes", "1", "And this."]);
    assert_eq!(sent["round"], 2, "{sent}");
    env.until("both", || env.received(&coder).len() == 2);
}

#[test]
fn a_message_to_a_published_agent_brings_it_back() {
    let env = AgentEnv::new("idle", "idle");
    let coder = published(&env, &[]);
    let hint = refused(&env, &["resume", coder.as_str()])["hint"].clone();
    assert!(
        hint.as_str().unwrap().contains("pr request-changes 1"),
        "{hint}"
    );
    assert!(env.send(&coder, "Why?").status.success());
    env.until("the message", || !env.received(&coder).is_empty());
    assert!(env.received(&coder)[0].contains("Why?"));
    env.until("it is at work", || env.status(&coder) == Status::Running);
    let answer = env.create_pr(&coder, "Title");
    assert_eq!(answer["result"]["prNumber"], 1, "{answer}");
}

/// The person reads the pull request; its agent may be further.
#[test]
fn a_comment_on_a_pull_request_is_about_its_own_lines() {
    let env = AgentEnv::new("idle", "idle");
    let coder = published(&env, &[]);
    env.text(&["pr", "request-changes", "1", "Go on."]);
    env.until("the agent works", || env.status(&coder) == Status::Running);
    let folder = env.instance(&coder).worktree_path;
    let text = std::fs::read_to_string(folder.join("work.txt")).unwrap();
    std::fs::write(folder.join("work.txt"), format!("a\nb\nc\n{text}")).unwrap();
    env.git_in(&folder, &["commit", "-qam", "not yet published"]);
    env.text(&[
        "pr", "comment", "1", "--file", "work.txt", "--line", "1", "Why?",
    ]);
    env.text(&["pr", "request-changes", "1", "See the line."]);
    env.until("the second round", || {
        let messages = env.messages(&coder);
        messages.len() == 2 && messages[1].state == MessageState::Taken
    });
    let received = env.received(&coder).pop().unwrap();
    assert!(received.contains("work.txt:4: Why?"), "{received}");
}

/// Both find the session ended; only one may start it.
#[test]
fn two_messages_at_once_start_a_published_agent_once() {
    let env = AgentEnv::new("idle", "idle");
    for round in 0..4 {
        let coder = published(&env, &[]);
        let sends: Vec<_> = ["one", "two"]
            .into_iter()
            .map(|text| env.start(&["send", coder.as_str(), &format!("{text} {round}")], ""))
            .collect();
        for send in sends {
            let output = send.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", shown(&output));
        }
        env.until("both are taken", || {
            let messages = env.messages(&coder);
            messages.len() == 2
                && messages
                    .iter()
                    .all(|message| message.state == MessageState::Taken)
        });
        assert_eq!(env.status(&coder), Status::Running);
        assert!(env.has_session(&coder));
        env.text(&["stop", coder.as_str()]);
    }
}

#[test]
fn what_must_be_reviewed_is_published_again_once_it_is_approved() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&["--require-review", "--max-reviews", "2"]);
    env.commit(&coder, "first\n");
    let answer = env.create_pr(&coder, "Title");
    assert!(answer["text"].as_str().unwrap().contains("REVIEW_REQUIRED"));
    let answer = env.call(&coder, "request_review", &json!({ "description": "look" }));
    let reviewer: InstanceId = answer["result"]["reviewInstanceId"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    env.until("the reviewer", || env.status(&coder) == Status::UnderReview);
    env.create_pr(&reviewer, "Title");
    until_put_away(&env, &coder);
    env.json(&["pr", "request-changes", "1", "More."]);
    env.until("the feedback", || env.received(&coder).len() == 1);
    assert!(env.received(&coder)[0].contains("call request_review"));
    env.commit(&coder, "second\n");
    let answer = env.create_pr(&coder, "Title");
    assert!(answer["text"].as_str().unwrap().contains("REVIEW_REQUIRED"));
    // A person's word is as good as a reviewer's.
    env.text(&["pr", "approve", "1", "Good."]);
    env.until("the approval", || env.received(&coder).len() == 2);
    assert!(env.received(&coder)[1].contains("call create_pr"));
    let answer = env.create_pr(&coder, "Title");
    assert_eq!(answer["result"]["prNumber"], 1, "{answer}");
}

#[test]
fn a_pull_request_that_ends_ends_its_agent_and_keeps_its_work() {
    for (command, status) in [
        (&["merge", "1", "--as-published"][..], Status::PrMerged),
        (&["close", "1"], Status::PrClosed),
    ] {
        let env = AgentEnv::new("idle", "idle");
        let coder = published(&env, &[]);
        env.json(&["pr", "request-changes", "1", "More."]);
        env.until("the feedback", || env.status(&coder) == Status::Running);
        env.commit(&coder, "unpublished\n");
        let ended = env.json(&[&["pr"], command].concat());
        assert_eq!(ended["instances"][0]["from"], "running", "{ended}");
        assert!(ended["instances"][0]["kept"].is_string(), "{ended}");
        assert_eq!(env.status(&coder), status);
        assert!(!env.has_session(&coder));
        let branch = env.instance(&coder).branch_name.unwrap();
        let kept = env.git(&["show", &format!("{branch}:work.txt")]);
        assert!(kept.ends_with("unpublished"), "{kept}");
    }
}

#[test]
fn feedback_for_an_agent_that_dies_is_kept() {
    let env = AgentEnv::new("idle", "idle");
    let coder = published(&env, &[]);
    env.json(&["pr", "request-changes", "1", "More."]);
    env.until("the feedback", || env.received(&coder).len() == 1);
    env.tmux(&["kill-session", "-t", &format!("={coder}")]);
    env.until("it has failed", || {
        env.codex(&["list"]);
        env.status(&coder) == Status::Failed
    });
    // Sent to one that has failed, it resumes it.
    let sent = env.json(&["pr", "request-changes", "1", "And more."]);
    assert_eq!(sent["restarted"], true, "{sent}");
    env.until("the feedback", || env.received(&coder).len() == 2);
    env.until("it is at work", || env.status(&coder) == Status::Running);
}

/// Nothing was wrong with the published work; only the agent cannot go on with it yet.
#[test]
fn a_published_agent_that_cannot_be_started_again_stays_published() {
    let mut env = AgentEnv::new("idle", "idle");
    let coder = published(&env, &[]);
    let branch = env.instance(&coder).branch_name.unwrap();
    let worktree = env.instance(&coder).worktree_path;
    env.git(&["worktree", "remove", worktree.to_str().unwrap()]);
    env.git(&["checkout", "-q", &branch]);
    let answer = refused(&env, &["pr", "request-changes", "1", "More."]);
    assert_eq!(answer["code"], "BRANCH_EXISTS", "{answer}");
    assert_eq!(env.status(&coder), Status::PrCreated);
    assert!(env.messages(&coder).is_empty(), "nothing was stored");
    env.git(&["checkout", "-q", "main"]);

    // Its program dies at once: what was said is kept, and shown.
    env.use_agent("nosuch.py");
    env.set("CODEX_AGENT_START_TIMEOUT_SECONDS", "120");
    let answer = refused(&env, &["pr", "request-changes", "1", "More."]);
    assert_eq!(answer["code"], "AGENT_FAILED", "{answer}");
    assert_eq!(env.status(&coder), Status::PrCreated);
    let attention = &env.json(&["show", coder.as_str()])["attention"];
    assert_eq!(attention["kind"], "owedMessages", "{attention}");
    let hint = answer["hint"].as_str().unwrap();
    assert!(hint.contains(&format!("resume {coder}")), "{hint}");
    env.use_agent("agent.py");
    env.json(&["resume", coder.as_str()]);
    env.until("the feedback", || !env.received(&coder).is_empty());
}

#[test]
fn the_task_of_an_open_pull_request_is_not_given_to_another_agent() {
    let env = AgentEnv::new("idle", "idle");
    let task = env.json(&["tasks", "add", "Write it"])["id"].clone();
    let task = task.as_str().unwrap();
    let coder = published(&env, &["--task", task]);
    env.json(&["pr", "request-changes", "1", "More."]);
    env.until("the feedback", || env.status(&coder) == Status::Running);
    env.json(&["stop", coder.as_str()]);
    let refusal = refused(&env, &["code", "--task", task]);
    assert_eq!(refusal["code"], "TASK_NOT_READY", "{refusal}");
    // Its work is deleted only once the pull request is closed.
    let refusal = refused(&env, &["clean", "--discard", "--yes", coder.as_str()]);
    assert!(
        refusal["hint"].as_str().unwrap().contains("pr close 1"),
        "{refusal}"
    );
    env.json(&["pr", "close", "1"]);
    assert_eq!(env.status(&coder), Status::PrClosed);
    let tasks = env.json(&["tasks"]);
    assert_eq!(tasks[0]["status"], "open", "{tasks}");
    env.json(&["clean", "--discard", "--yes", coder.as_str()]);
}

#[test]
fn the_body_says_what_a_person_decided_last() {
    let env = AgentEnv::new("idle", "idle");
    let coder = published(&env, &[]);
    let body = || {
        env.json(&["pr", "show", "1"])["body"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let before = body();
    assert!(!before.contains("**Reviewed"), "{before}");
    env.json(&["pr", "request-changes", "1", "Say second instead."]);
    let told = body();
    assert!(told.starts_with(&before), "{told}");
    assert!(told.contains("**Reviewed, not approved**"), "{told}");
    env.until("the coder is at work", || {
        env.status(&coder) == Status::Running
    });
    // What is not published yet is not what the text is about.
    env.commit(&coder, "second\n");
    env.json(&["pr", "approve", "1"]);
    assert!(body().contains("**Reviewed, not approved**"), "{}", body());
    env.json(&["pr", "request-changes", "1", "No, third."]);
    env.commit(&coder, "third\n");
    assert_eq!(env.create_pr(&coder, "Title")["error"], false);
    until_put_away(&env, &coder);
    assert!(body().contains("**Reviewed, not approved**"), "{}", body());
    env.json(&["pr", "approve", "1"]);
    let approved = body();
    assert!(approved.starts_with(&before), "{approved}");
    assert!(
        approved.contains("**Reviewed and approved** by a person"),
        "{approved}"
    );
    assert_eq!(approved.matches("**Reviewed").count(), 1, "{approved}");
}

//! Agents that were stopped at work on changes to their open pull request: what waits for a person is shown, and what is kept is said.

use serde_json::json;
use shared::model::{InstanceId, Status};
use tests::AgentEnv;

/// Launches a coder that has published, was sent back, and has an uncommitted file.
fn sent_back(env: &AgentEnv) -> InstanceId {
    let coder = env.coder_with_commit();
    assert_eq!(env.create_pr(&coder, "Title")["error"], false);
    env.until("the coder is put away", || {
        !env.has_session(&coder) && env.instance(&coder).owner.is_none()
    });
    env.json(&["pr", "request-changes", "1", "More, please"]);
    env.until("the coder is at work", || {
        env.status(&coder) == Status::Running
    });
    let draft = env.instance(&coder).worktree_path.join("draft.txt");
    std::fs::write(draft, "precious").unwrap();
    coder
}

#[test]
fn a_stopped_agent_whose_pull_request_is_stuck_waits_for_a_person() {
    let env = AgentEnv::new("idle", "idle");
    let coder = sent_back(&env);
    let stopped = env.json(&["stop", coder.as_str()]);
    assert_eq!(stopped["status"], "terminated", "{stopped}");
    let kept = stopped["kept"].as_str().unwrap_or_default();
    assert!(kept.contains("1 uncommitted file"), "{stopped}");
    let attention = || env.json(&["list"])[0]["attention"]["kind"].clone();
    assert_eq!(attention(), "keptWork");
    assert!(env.text(&["list"]).contains("unsaved work kept"));

    env.write("work.txt", "by hand\n");
    env.commit_all("by hand");
    assert_eq!(attention(), "conflict");
    assert!(env.text(&["list"]).contains("conflicts with main"));
    // The hint works, and whoever works on it waits for nobody.
    env.json(&["pr", "resolve", "1"]);
    env.until("the coder is at work", || {
        env.status(&coder) == Status::Running
    });
    assert_ne!(attention(), "conflict");

    // What was kept is not said any more once it is gone.
    env.git(&["reset", "-q", "--hard", "HEAD~1"]);
    env.json(&["stop", coder.as_str()]);
    assert_eq!(attention(), "keptWork");
    let worktree = env.instance(&coder).worktree_path;
    std::fs::remove_file(worktree.join("draft.txt")).unwrap();
    assert_eq!(env.json(&["pr", "merge", "1"])["state"], "merged");
    assert_eq!(env.status(&coder), Status::PrMerged);
    assert!(!worktree.exists());
    let instance = env.instance(&coder);
    assert_eq!(instance.note.kept, None, "{:?}", instance.note);
    assert_eq!(env.json(&["list"]), json!([]));
}

#[test]
fn who_has_taken_its_pull_request_over_waits_instead() {
    let env = AgentEnv::new("idle", "idle");
    let first = sent_back(&env);
    let worktree = env.instance(&first).worktree_path;
    std::fs::remove_file(worktree.join("draft.txt")).unwrap();
    env.json(&["stop", first.as_str()]);
    let attention = env.json(&["list"])[0]["attention"].clone();
    assert_ne!(attention, json!(null), "it was sent back");
    assert_ne!(attention["kind"], "conflict");
    let branch = env.instance(&first).branch_name.unwrap();
    env.git(&["worktree", "remove", worktree.to_str().unwrap()]);
    let second = env.coder(&["--branch", &branch, "--base", "main"]);
    env.commit(&second, "second\n");
    assert_eq!(env.create_pr(&second, "Title")["error"], false);
    env.until("the coder is put away", || {
        !env.has_session(&second) && env.instance(&second).owner.is_none()
    });
    env.write("work.txt", "by hand\n");
    env.commit_all("by hand");
    let listed = env.json(&["list"]);
    let ids: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|row| &row["id"])
        .collect();
    assert_eq!(ids, [second.as_str()], "{listed}");
}

#[test]
fn who_ends_without_an_update_of_what_was_sent_back_waits() {
    let mut env = AgentEnv::new("idle", "idle");
    let coder = env.coder_with_commit();
    assert_eq!(env.create_pr(&coder, "Title")["error"], false);
    env.until("the coder is put away", || {
        !env.has_session(&coder) && env.instance(&coder).owner.is_none()
    });
    assert_eq!(env.json(&["list"]), json!([]), "an open pull request alone");
    // It ends well, and has not done what it was told.
    env.set("CODEX_AGENT_COMMAND", "sh -c 'sleep 2; echo bye'");
    env.json(&["pr", "request-changes", "1", "More, please"]);
    env.until("it has ended", || {
        env.text(&["list"]);
        env.status(&coder) == Status::Terminated
    });
    let listed = env.json(&["list"]);
    assert_eq!(listed[0]["id"], coder.as_str(), "{listed}");
    let kind = listed[0]["attention"]["kind"].as_str().unwrap();
    assert!(["owedMessages", "unfinished"].contains(&kind), "{listed}");
    assert_eq!(listed[0]["attention"]["urgent"], true, "{listed}");
    // A person who is content with it as it is.
    env.text(&["clean", coder.as_str()]);
    assert_eq!(env.json(&["list"]), json!([]));
    assert_eq!(env.json(&["resume", "--all"]), json!([]));
    env.json(&["resume", coder.as_str()]);
    env.until("it has ended again", || {
        env.text(&["list"]);
        env.status(&coder) == Status::Terminated
    });
    assert_ne!(env.json(&["list"]), json!([]), "and waits again");
}

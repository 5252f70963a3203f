//! Merging, closing and reopening on the built-in forge.

use serde_json::{Value, json};
use shared::model::{InstanceId, Status};
use tests::{AgentEnv, Server, text};

fn published(env: &AgentEnv) -> InstanceId {
    let coder = env.coder(&[]);
    env.commit(&coder, "one\n");
    env.commit(&coder, "two\n");
    let answer = env.create_pr(&coder, "Title");
    assert_eq!(answer["error"], false, "{answer}");
    env.until("the coder is put away", || {
        !env.has_session(&coder) && env.instance(&coder).owner.is_none()
    });
    coder
}

/// A commit on main, so that nothing is a fast-forward.
fn go_on(env: &AgentEnv, file: &str) {
    std::fs::write(env.path("repo").join(file), "main\n").unwrap();
    env.git(&["add", "."]);
    env.git(&["commit", "-q", "-m", "main goes on"]);
}

/// Everything a refused merge must leave as it was.
fn checkout(env: &AgentEnv) -> [String; 4] {
    [
        env.git(&["for-each-ref"]),
        env.git(&["status", "--porcelain"]),
        env.git(&["worktree", "list", "--porcelain"]),
        env.json(&["pr", "list", "--state", "all"]).to_string(),
    ]
}

fn merged_by(method: &str, log: &[&str]) {
    let env = AgentEnv::new("idle", "idle");
    let coder = published(&env);
    go_on(&env, "other.txt");
    let merged = env.json(&["pr", "merge", "1", "--method", method]);
    assert_eq!(merged["state"], "merged");
    let subjects = env.git(&["log", "--first-parent", "--format=%s", "-4"]);
    let subjects: Vec<_> = subjects.lines().collect();
    assert_eq!(&subjects[..log.len()], log);
    let work = std::fs::read_to_string(env.path("repo/work.txt")).unwrap();
    assert_eq!(work, "one\ntwo\n");
    assert!(env.path("repo/other.txt").exists());
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    assert_eq!(env.status(&coder), Status::PrMerged);
    let again = env.json(&["pr", "merge", "1"]);
    assert_eq!(again["state"], "merged");
    let diff = env.text(&["pr", "diff", "1"]);
    assert!(
        diff.contains("+one") && !diff.contains("other.txt"),
        "{diff}"
    );
}

#[test]
fn by_a_merge_commit() {
    let subject = format!("Merge pull request #1 from codex/{}", "work-do-the-work-a1");
    merged_by("merge", &[&subject, "main goes on"]);
}

#[test]
fn as_one_commit() {
    merged_by("squash", &["Title (#1)", "main goes on"]);
}

#[test]
fn each_commit_again() {
    merged_by("rebase", &["two", "one", "main goes on"]);
}

#[test]
fn a_conflict_leaves_everything_as_it_was() {
    let env = AgentEnv::new("idle", "idle");
    let coder = published(&env);
    go_on(&env, "work.txt");
    let before = checkout(&env);
    for method in ["merge", "squash", "rebase"] {
        let code = env.refused(&["pr", "merge", "1", "--method", method]);
        assert_eq!(code, "MERGE_CONFLICT");
        assert_eq!(checkout(&env), before, "{method}");
    }
    assert_eq!(env.status(&coder), Status::PrCreated);
}

#[test]
fn a_dirty_checkout_of_the_base_is_left_alone() {
    let env = AgentEnv::new("idle", "idle");
    published(&env);
    // In the way of the file that the merge would write.
    std::fs::write(env.path("repo/work.txt"), "mine\n").unwrap();
    let before = checkout(&env);
    assert_eq!(env.refused(&["pr", "merge", "1"]), "WORKTREE_DIRTY");
    assert_eq!(checkout(&env), before);
    let mine = std::fs::read_to_string(env.path("repo/work.txt")).unwrap();
    assert_eq!(mine, "mine\n");
}

#[test]
fn into_a_base_that_nobody_has_checked_out() {
    let env = AgentEnv::new("idle", "idle");
    published(&env);
    env.git(&["switch", "-q", "-c", "aside"]);
    std::fs::write(env.path("repo/README.md"), "busy\n").unwrap();
    let merged = env.json(&["pr", "merge", "1", "--method", "rebase"]);
    assert_eq!(merged["state"], "merged");
    assert_eq!(env.git(&["log", "-1", "--format=%s", "main"]).trim(), "two");
    assert!(!env.path("repo/work.txt").exists());
    assert_eq!(env.git(&["status", "--porcelain"]).trim(), "M README.md");
}

#[test]
fn closed_and_reopened_and_merged_after_all() {
    let env = AgentEnv::new("idle", "idle");
    let coder = published(&env);
    let closed = env.json(&["pr", "close", "1"]);
    assert_eq!(closed["state"], "closed");
    assert_eq!(closed["instances"][0]["to"], "pr_closed");
    assert_eq!(env.status(&coder), Status::PrClosed);
    assert!(!env.instance(&coder).worktree_path.exists());
    assert_eq!(env.git(&["branch", "--list", "codex/*"]), "");
    assert_eq!(env.json(&["pr", "list"]), json!([]));
    assert_eq!(env.refused(&["pr", "merge", "1"]), "PULL_REQUEST_NOT_OPEN");
    assert_eq!(env.refused(&["pr", "show", "2"]), "PULL_REQUEST_NOT_FOUND");

    let opened = env.json(&["pr", "reopen", "1"]);
    assert_eq!(opened["instances"][0]["to"], "pr_created");
    assert_eq!(env.status(&coder), Status::PrCreated);
    // Its branch is gone; what it holds is not.
    let merged = env.json(&["pr", "merge", "1"]);
    assert_eq!(merged["instances"][0]["to"], "pr_merged");
    assert!(env.path("repo/work.txt").exists());
    assert_eq!(env.refused(&["pr", "close", "1"]), "PULL_REQUEST_NOT_OPEN");
    assert_eq!(env.refused(&["pr", "reopen", "1"]), "PULL_REQUEST_NOT_OPEN");
}

#[test]
fn merged_the_moment_it_is_published() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&[]);
    env.commit(&coder, "work\n");
    assert_eq!(env.create_pr(&coder, "Title")["error"], false);
    let worktree = env.instance(&coder).worktree_path;
    let merged = env.json(&["pr", "merge", "1"]);
    assert_eq!(merged["instances"][0]["to"], "pr_merged", "{merged}");
    assert_eq!(merged["instances"][0]["kept"], Value::Null, "{merged}");
    assert!(!worktree.exists() && !env.has_session(&coder));
    assert!(env.instance(&coder).owner.is_none());
}

#[test]
fn two_who_follow_at_once_do_not_trip_over_each_other() {
    let env = AgentEnv::new("idle", "idle");
    let coder = published(&env);
    env.git(&["merge", "-q", &format!("codex/{coder}")]);
    let children: Vec<_> = (0..4).map(|_| env.start(&["sync", "--json"], "")).collect();
    for child in children {
        text(&child.wait_with_output().unwrap());
    }
    assert_eq!(env.status(&coder), Status::PrMerged);
    assert!(!env.instance(&coder).worktree_path.exists());
}

#[test]
fn a_task_is_done_when_its_pull_request_is_merged() {
    let env = AgentEnv::new("idle", "idle");
    let arguments = json!({ "taskTitle": "A task", "taskDescription": "Do it", "priority": "low" });
    let answer = env.call_as_person(Server::Planning, "create_task", &arguments);
    let task = answer["structuredContent"]["taskId"].clone();
    let status = || -> Value { env.json(&["tasks"])[0]["status"].clone() };
    let printed = env.json(&["code", "--task", task.as_str().unwrap()]);
    let coder: InstanceId = printed["id"].as_str().unwrap().parse().unwrap();
    env.until("the coder is up", || env.status(&coder) == Status::Running);
    env.commit(&coder, "work");
    assert_eq!(env.create_pr(&coder, "Title")["error"], false);
    let body = env.json(&["pr", "show", "1"])["body"].clone();
    assert!(body.as_str().unwrap().contains("Task: A task ("), "{body}");
    env.until("the coder is put away", || {
        !env.has_session(&coder) && env.instance(&coder).owner.is_none()
    });
    assert_eq!(status(), "in_progress");
    env.json(&["pr", "close", "1"]);
    assert_eq!(status(), "open");
    env.json(&["pr", "reopen", "1"]);
    assert_eq!(status(), "in_progress");
    env.json(&["pr", "merge", "1"]);
    assert_eq!(status(), "done");
}

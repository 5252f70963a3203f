//! Merging, closing and reopening on the built-in forge.

use serde_json::{Value, json};
use shared::model::{InstanceId, Status};

use crate::support::{Place, text};

fn published(place: &Place) -> InstanceId {
    let coder = place.coder(&[]);
    place.commit(&coder, "one\n");
    place.commit(&coder, "two\n");
    let answer = place.create_pr(&coder, "Title");
    assert_eq!(answer["error"], false, "{answer}");
    place.until("the coder is put away", || {
        !place.has_session(&coder) && place.instance(&coder).owner.is_none()
    });
    coder
}

/// A commit on main, so that nothing is a fast-forward.
fn go_on(place: &Place, file: &str) {
    std::fs::write(place.path("repo").join(file), "main\n").unwrap();
    place.git(&["add", "."]);
    place.git(&["commit", "-q", "-m", "main goes on"]);
}

/// Everything a refused merge must leave as it was.
fn world(place: &Place) -> [String; 4] {
    [
        place.git(&["for-each-ref"]),
        place.git(&["status", "--porcelain"]),
        place.git(&["worktree", "list", "--porcelain"]),
        place.json(&["pr", "list", "--state", "all"]).to_string(),
    ]
}

fn merged_by(method: &str, log: &[&str]) {
    let place = Place::new("idle", "idle");
    let coder = published(&place);
    go_on(&place, "other.txt");
    let merged = place.json(&["pr", "merge", "1", "--method", method]);
    assert_eq!(merged["state"], "merged");
    let subjects = place.git(&["log", "--first-parent", "--format=%s", "-4"]);
    let subjects: Vec<_> = subjects.lines().collect();
    assert_eq!(&subjects[..log.len()], log);
    let work = std::fs::read_to_string(place.path("repo/work.txt")).unwrap();
    assert_eq!(work, "one\ntwo\n");
    assert!(place.path("repo/other.txt").exists());
    assert_eq!(place.git(&["status", "--porcelain"]), "");
    assert_eq!(place.status(&coder), Status::PrMerged);
    let again = place.json(&["pr", "merge", "1"]);
    assert_eq!(again["state"], "merged");
    let diff = text(&place.codex(&["pr", "diff", "1"]));
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
    let place = Place::new("idle", "idle");
    let coder = published(&place);
    go_on(&place, "work.txt");
    let before = world(&place);
    for method in ["merge", "squash", "rebase"] {
        let code = place.refused(&["pr", "merge", "1", "--method", method]);
        assert_eq!(code, "MERGE_CONFLICT");
        assert_eq!(world(&place), before, "{method}");
    }
    assert_eq!(place.status(&coder), Status::PrCreated);
}

#[test]
fn a_dirty_checkout_of_the_base_is_left_alone() {
    let place = Place::new("idle", "idle");
    published(&place);
    // In the way of the file that the merge would write.
    std::fs::write(place.path("repo/work.txt"), "mine\n").unwrap();
    let before = world(&place);
    assert_eq!(place.refused(&["pr", "merge", "1"]), "WORKTREE_DIRTY");
    assert_eq!(world(&place), before);
    let mine = std::fs::read_to_string(place.path("repo/work.txt")).unwrap();
    assert_eq!(mine, "mine\n");
}

#[test]
fn into_a_base_that_nobody_has_checked_out() {
    let place = Place::new("idle", "idle");
    published(&place);
    place.git(&["switch", "-q", "-c", "aside"]);
    std::fs::write(place.path("repo/README.md"), "busy\n").unwrap();
    let merged = place.json(&["pr", "merge", "1", "--method", "rebase"]);
    assert_eq!(merged["state"], "merged");
    assert_eq!(
        place.git(&["log", "-1", "--format=%s", "main"]).trim(),
        "two"
    );
    assert!(!place.path("repo/work.txt").exists());
    assert_eq!(place.git(&["status", "--porcelain"]).trim(), "M README.md");
}

#[test]
fn closed_and_reopened_and_merged_after_all() {
    let place = Place::new("idle", "idle");
    let coder = published(&place);
    let closed = place.json(&["pr", "close", "1"]);
    assert_eq!(closed["state"], "closed");
    assert_eq!(closed["instances"][0]["to"], "pr_closed");
    assert_eq!(place.status(&coder), Status::PrClosed);
    assert!(!place.instance(&coder).worktree_path.exists());
    assert_eq!(place.git(&["branch", "--list", "codex/*"]), "");
    assert_eq!(place.json(&["pr", "list"]), json!([]));
    assert_eq!(
        place.refused(&["pr", "merge", "1"]),
        "PULL_REQUEST_NOT_OPEN"
    );
    assert_eq!(
        place.refused(&["pr", "show", "2"]),
        "PULL_REQUEST_NOT_FOUND"
    );

    let opened = place.json(&["pr", "reopen", "1"]);
    assert_eq!(opened["instances"][0]["to"], "pr_created");
    assert_eq!(place.status(&coder), Status::PrCreated);
    // Its branch is gone; what it holds is not.
    let merged = place.json(&["pr", "merge", "1"]);
    assert_eq!(merged["instances"][0]["to"], "pr_merged");
    assert!(place.path("repo/work.txt").exists());
    assert_eq!(
        place.refused(&["pr", "close", "1"]),
        "PULL_REQUEST_NOT_OPEN"
    );
    assert_eq!(
        place.refused(&["pr", "reopen", "1"]),
        "PULL_REQUEST_NOT_OPEN"
    );
}

#[test]
fn merged_the_moment_it_is_published() {
    let place = Place::new("idle", "idle");
    let coder = place.coder(&[]);
    place.commit(&coder, "work\n");
    assert_eq!(place.create_pr(&coder, "Title")["error"], false);
    let worktree = place.instance(&coder).worktree_path;
    let merged = place.json(&["pr", "merge", "1"]);
    assert_eq!(merged["instances"][0]["to"], "pr_merged", "{merged}");
    assert_eq!(merged["instances"][0]["kept"], Value::Null, "{merged}");
    assert!(!worktree.exists() && !place.has_session(&coder));
    assert!(place.instance(&coder).owner.is_none());
}

#[test]
fn two_who_follow_at_once_do_not_trip_over_each_other() {
    let place = Place::new("idle", "idle");
    let coder = published(&place);
    place.git(&["merge", "-q", &format!("codex/{coder}")]);
    let children: Vec<_> = (0..4)
        .map(|_| place.start(&["sync", "--json"], ""))
        .collect();
    for child in children {
        text(&child.wait_with_output().unwrap());
    }
    assert_eq!(place.status(&coder), Status::PrMerged);
    assert!(!place.instance(&coder).worktree_path.exists());
}

#[test]
fn a_task_is_done_when_its_pull_request_is_merged() {
    let place = Place::new("idle", "idle");
    let arguments = json!({ "taskTitle": "A task", "taskDescription": "Do it", "priority": "low" });
    let answer = place.stranger("mcp-planning", "create_task", &arguments);
    let task = answer["result"]["structuredContent"]["taskId"].clone();
    let status = || -> Value { place.json(&["tasks"])[0]["status"].clone() };
    let printed = place.json(&["code", "--task", task.as_str().unwrap()]);
    let coder: InstanceId = printed["id"].as_str().unwrap().parse().unwrap();
    place.until("the coder is up", || {
        place.status(&coder) == Status::Running
    });
    place.commit(&coder, "work");
    assert_eq!(place.create_pr(&coder, "Title")["error"], false);
    let body = place.json(&["pr", "show", "1"])["body"].clone();
    assert!(body.as_str().unwrap().contains("Task: A task ("), "{body}");
    place.until("the coder is put away", || {
        !place.has_session(&coder) && place.instance(&coder).owner.is_none()
    });
    assert_eq!(status(), "in_progress");
    place.json(&["pr", "close", "1"]);
    assert_eq!(status(), "open");
    place.json(&["pr", "reopen", "1"]);
    assert_eq!(status(), "in_progress");
    place.json(&["pr", "merge", "1"]);
    assert_eq!(status(), "done");
}

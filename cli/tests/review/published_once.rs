//! What is published is what was approved, once, and nothing beside it.

use serde_json::{Value, json};
use shared::model::{InstanceId, Status};

use crate::github_support::{Hub, committed};
use crate::support::Place;

fn number(answer: &Value) -> &Value {
    assert_ne!(answer["isError"], true, "{answer}");
    &answer["structuredContent"]["prNumber"]
}

fn refusal(answer: &Value) -> &str {
    assert_eq!(answer["isError"], true, "{answer}");
    answer["content"][0]["text"].as_str().unwrap()
}

#[test]
fn commits_that_were_taken_back_during_the_review_are_not_approved() {
    let place = Place::new("idle", "idle");
    let coder = place.coder(&[]);
    place.commit(&coder, "one");
    place.commit(&coder, "two");
    let answer = place.call(&coder, "request_review", &json!({ "description": "look" }));
    let reviewer = answer["result"]["reviewInstanceId"].as_str().unwrap();
    let reviewer: InstanceId = reviewer.parse().unwrap();
    place.until("the reviewer is up", || {
        place.status(&coder) == Status::UnderReview
    });
    let worktree = place.instance(&coder).worktree_path;
    let worktree = worktree.to_str().unwrap();
    place.git(&["-C", worktree, "reset", "-q", "--hard", "HEAD~1"]);
    let answer = place.create_pr(&reviewer, "Title");
    assert_eq!(answer["error"], true, "{answer}");
    assert!(answer["text"].as_str().unwrap().contains("REVIEW_OUTDATED"));
    assert_eq!(place.json(&["pr", "list", "--state", "all"]), json!([]));
    assert_eq!(place.status(&coder), Status::UnderReview);
    // Brought back, they are.
    place.git(&["-C", worktree, "reset", "-q", "--hard", "HEAD@{1}"]);
    assert_eq!(place.create_pr(&reviewer, "Title")["error"], false);
}

#[test]
fn a_commit_of_another_branch_is_not_published_under_the_name_of_this() {
    let place = Place::new("idle", "idle");
    place.git(&["branch", "topic"]);
    let folder = place.path("topic");
    place.git(&["worktree", "add", "-q", folder.to_str().unwrap(), "topic"]);
    std::fs::write(folder.join("a.txt"), "a\n").unwrap();
    place.git(&["-C", folder.to_str().unwrap(), "add", "."]);
    place.git(&["-C", folder.to_str().unwrap(), "commit", "-q", "-m", "a"]);
    let tree = [
        "commit-tree",
        "-p",
        "topic",
        "-m",
        "private",
        "topic^{tree}",
    ];
    let other = place.git(&tree);
    place.git(&["branch", "other", other.trim()]);
    // The other branch is checked out at the very moment in which the status is read.
    let hook = place.path("script/switch");
    let body = "#!/bin/sh\nunset GIT_INDEX_FILE\ngit symbolic-ref HEAD refs/heads/other\nexit 1\n";
    std::fs::write(&hook, body).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&hook, mode).unwrap();
    place.git(&["config", "core.fsmonitor", hook.to_str().unwrap()]);
    let answer = place.publish_again("topic");
    assert!(refusal(&answer).contains("NO_BRANCH"), "{answer}");
    assert_eq!(place.json(&["pr", "list", "--state", "all"]), json!([]));
}

#[test]
fn what_was_merged_as_one_commit_is_not_published_again() {
    let place = Place::new("idle", "idle");
    assert_eq!(*number(&place.publish("topic", &[("a.txt", "a\n")])), 1);
    std::fs::write(place.path("repo/main.txt"), "main goes on\n").unwrap();
    place.git(&["add", "."]);
    place.git(&["commit", "-q", "-m", "main goes on"]);
    place.json(&["pr", "merge", "1", "--method", "squash"]);
    let again = place.publish_again("topic");
    assert!(refusal(&again).contains("BRANCH_MERGED"), "{again}");
    let all = place.json(&["pr", "list", "--state", "all"]);
    assert_eq!(all.as_array().unwrap().len(), 1, "{all}");
    // More work on the branch is another matter.
    assert_eq!(*number(&place.publish("topic", &[("b.txt", "b\n")])), 2);
}

#[test]
fn what_was_merged_on_github_as_one_commit_is_not_published_again() {
    let mut place = Place::new("idle", "idle");
    let hub = Hub::new(&mut place);
    assert_eq!(*number(&place.publish("topic", &[("a.txt", "a\n")])), 1);
    hub.server.state().merge(1);
    let again = place.publish_again("topic");
    assert!(refusal(&again).contains("BRANCH_MERGED"), "{again}");
    assert_eq!(hub.server.state().pulls.len(), 1);
    assert_eq!(*number(&place.publish("topic", &[("b.txt", "b\n")])), 2);
}

#[test]
fn a_pull_request_into_another_base_is_not_ours() {
    let mut place = Place::new("idle", "idle");
    let hub = Hub::new(&mut place);
    let coder = committed(&place);
    let branch = format!("codex/{coder}");
    let other = hub.server.state().add_pull("Backport", &branch, "release");
    let answer = place.create_pr(&coder, "Ours");
    assert_eq!(answer["error"], false, "{answer}");
    let ours = answer["result"]["prNumber"].as_u64().unwrap();
    assert_ne!(ours, other);
    let state = hub.server.state();
    assert_eq!(state.pulls[&other].title, "Backport");
    assert_eq!(state.pulls[&ours].base, "main");
}

#[test]
fn our_own_that_was_turned_to_another_base_stays_the_one() {
    let mut place = Place::new("idle", "idle");
    let hub = Hub::new(&mut place);
    place.set("CODEX_RESOURCES_CLEANUP", "manual");
    let coder = committed(&place);
    assert_eq!(place.create_pr(&coder, "Title")["result"]["prNumber"], 1);
    hub.server.state().pulls.get_mut(&1).unwrap().base = "release".to_owned();
    let again = place.create_pr(&coder, "Said better");
    assert_eq!(again["result"]["prNumber"], 1, "{again}");
    let state = hub.server.state();
    assert_eq!(state.pulls.len(), 1);
    assert_eq!(state.pulls[&1].title, "Said better");
}

#[test]
fn the_same_number_in_another_repository_is_another_pull_request() {
    let mut place = Place::new("idle", "idle");
    let hub = Hub::new(&mut place);
    let coder = committed(&place);
    assert_eq!(place.create_pr(&coder, "Title")["result"]["prNumber"], 1);
    place.until("the coder is put away", || {
        !place.has_session(&coder) && place.instance(&coder).owner.is_none()
    });
    let strange = {
        let mut state = hub.server.state();
        let ours = state.pulls.remove(&1).unwrap();
        state.name = "goodbye".to_owned();
        let strange = state.add_pull("Somebody's", "theirs", "main");
        state.merge(strange);
        assert_eq!(strange, 1);
        ours
    };
    let url = hub.server.git_url();
    place.git(&["remote", "set-url", "origin", &url]);
    assert_eq!(place.refused(&["sync"]), "FORGE_NOT_FOUND");
    assert_eq!(place.status(&coder), Status::PrCreated);
    assert!(place.instance(&coder).worktree_path.exists());
    // Renamed, it is the same one at another address.
    hub.server.state().pulls.insert(1, strange);
    hub.server.state().merge(1);
    assert_eq!(place.json(&["sync"])[0]["to"], "pr_merged");
}

#[test]
fn nothing_but_the_branch_is_pushed() {
    let mut place = Place::new("idle", "idle");
    let hub = Hub::new(&mut place);
    place.git(&["config", "push.followTags", "true"]);
    // What a hook prints is not what the remote says.
    let hook = place.path("repo/.git/hooks/pre-push");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(
        &hook,
        "#!/bin/sh\nprintf '!\\tx:y\\t[rejected] (hook)\\n'\n",
    )
    .unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&hook, mode).unwrap();
    let coder = committed(&place);
    let worktree = place.instance(&coder).worktree_path;
    let tag = [
        "-C",
        worktree.to_str().unwrap(),
        "tag",
        "-a",
        "-m",
        "mine",
        "private",
    ];
    place.git(&tag);
    let answer = place.create_pr(&coder, "Title");
    assert_eq!(answer["error"], false, "{answer}");
    let bare = hub.bare();
    let listed = place.git(&["ls-remote", bare.path().to_str().unwrap()]);
    assert!(!listed.contains("private"), "{listed}");
}

#[test]
fn a_new_database_does_not_take_over_the_numbers_of_an_old_one() {
    let mut place = Place::new("idle", "idle");
    assert_eq!(
        *number(&place.publish("first", &[("a.txt", "precious\n")])),
        1
    );
    place.json(&["pr", "close", "1"]);
    let commit = place.git(&["rev-parse", "first"]);
    place.git(&["worktree", "remove", place.path("first").to_str().unwrap()]);
    place.git(&["branch", "-q", "-D", "first"]);
    let state = place.path("another-state");
    place.set("CODEX_STATE_DIR", state.to_str().unwrap());
    assert_eq!(
        *number(&place.publish("second", &[("b.txt", "other\n")])),
        2
    );
    assert_eq!(place.git(&["rev-parse", "refs/codex/pull/1/head"]), commit);
}

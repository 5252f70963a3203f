//! What is published is what was approved, once, and nothing beside it.

use serde_json::{Value, json};
use shared::model::{InstanceId, Status};
use tests::{AgentEnv, GithubRemote, write_program};

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
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&[]);
    env.commit(&coder, "one");
    env.commit(&coder, "two");
    let answer = env.call(&coder, "request_review", &json!({ "description": "look" }));
    let reviewer = answer["result"]["reviewInstanceId"].as_str().unwrap();
    let reviewer: InstanceId = reviewer.parse().unwrap();
    env.until("the reviewer is up", || {
        env.status(&coder) == Status::UnderReview
    });
    let worktree = env.instance(&coder).worktree_path;
    let worktree = worktree.to_str().unwrap();
    env.git(&["-C", worktree, "reset", "-q", "--hard", "HEAD~1"]);
    let answer = env.create_pr(&reviewer, "Title");
    assert_eq!(answer["error"], true, "{answer}");
    assert!(answer["text"].as_str().unwrap().contains("REVIEW_OUTDATED"));
    assert_eq!(env.json(&["pr", "list", "--state", "all"]), json!([]));
    assert_eq!(env.status(&coder), Status::UnderReview);
    // Brought back, they are.
    env.git(&["-C", worktree, "reset", "-q", "--hard", "HEAD@{1}"]);
    assert_eq!(env.create_pr(&reviewer, "Title")["error"], false);
}

#[test]
fn a_commit_of_another_branch_is_not_published_under_the_name_of_this() {
    let env = AgentEnv::new("idle", "idle");
    env.git(&["branch", "topic"]);
    let folder = env.path("topic");
    env.git(&["worktree", "add", "-q", folder.to_str().unwrap(), "topic"]);
    std::fs::write(folder.join("a.txt"), "a\n").unwrap();
    env.git(&["-C", folder.to_str().unwrap(), "add", "."]);
    env.git(&["-C", folder.to_str().unwrap(), "commit", "-q", "-m", "a"]);
    let tree = [
        "commit-tree",
        "-p",
        "topic",
        "-m",
        "private",
        "topic^{tree}",
    ];
    let other = env.git(&tree);
    env.git(&["branch", "other", other.trim()]);
    // The other branch is checked out at the very moment in which the status is read.
    let hook = env.path("script/switch");
    let body = "#!/bin/sh\nunset GIT_INDEX_FILE\ngit symbolic-ref HEAD refs/heads/other\nexit 1\n";
    write_program(&hook, body);
    env.git(&["config", "core.fsmonitor", hook.to_str().unwrap()]);
    let answer = env.publish_again("topic");
    assert!(refusal(&answer).contains("NO_BRANCH"), "{answer}");
    assert_eq!(env.json(&["pr", "list", "--state", "all"]), json!([]));
}

#[test]
fn what_was_merged_as_one_commit_is_not_published_again() {
    let env = AgentEnv::new("idle", "idle");
    assert_eq!(*number(&env.publish("topic", &[("a.txt", "a\n")])), 1);
    std::fs::write(env.path("repo/main.txt"), "main goes on\n").unwrap();
    env.git(&["add", "."]);
    env.git(&["commit", "-q", "-m", "main goes on"]);
    env.json(&["pr", "merge", "1", "--method", "squash"]);
    let again = env.publish_again("topic");
    assert!(refusal(&again).contains("BRANCH_MERGED"), "{again}");
    let all = env.json(&["pr", "list", "--state", "all"]);
    assert_eq!(all.as_array().unwrap().len(), 1, "{all}");
    // More work on the branch is another matter.
    assert_eq!(*number(&env.publish("topic", &[("b.txt", "b\n")])), 2);
}

#[test]
fn what_was_merged_on_github_as_one_commit_is_not_published_again() {
    let mut env = AgentEnv::new("idle", "idle");
    let github = GithubRemote::new(&mut env);
    assert_eq!(*number(&env.publish("topic", &[("a.txt", "a\n")])), 1);
    github.state().merge(1);
    let again = env.publish_again("topic");
    assert!(refusal(&again).contains("BRANCH_MERGED"), "{again}");
    assert_eq!(github.state().pulls.len(), 1);
    assert_eq!(*number(&env.publish("topic", &[("b.txt", "b\n")])), 2);
}

#[test]
fn a_pull_request_into_another_base_is_not_ours() {
    let mut env = AgentEnv::new("idle", "idle");
    let github = GithubRemote::new(&mut env);
    let coder = env.coder_with_commit();
    let branch = format!("codex/{coder}");
    let other = github.state().add_pull("Backport", &branch, "release");
    let answer = env.create_pr(&coder, "Ours");
    assert_eq!(answer["error"], false, "{answer}");
    let ours = answer["result"]["prNumber"].as_u64().unwrap();
    assert_ne!(ours, other);
    let state = github.state();
    assert_eq!(state.pulls[&other].title, "Backport");
    assert_eq!(state.pulls[&ours].base, "main");
}

#[test]
fn our_own_that_was_turned_to_another_base_stays_the_one() {
    let mut env = AgentEnv::new("idle", "idle");
    let github = GithubRemote::new(&mut env);
    env.set("CODEX_RESOURCES_CLEANUP", "manual");
    let coder = env.coder_with_commit();
    assert_eq!(env.create_pr(&coder, "Title")["result"]["prNumber"], 1);
    github.state().pulls.get_mut(&1).unwrap().base = "release".to_owned();
    let again = env.create_pr(&coder, "Said better");
    assert_eq!(again["result"]["prNumber"], 1, "{again}");
    let state = github.state();
    assert_eq!(state.pulls.len(), 1);
    assert_eq!(state.pulls[&1].title, "Said better");
}

#[test]
fn the_same_number_in_another_repository_is_another_pull_request() {
    let mut env = AgentEnv::new("idle", "idle");
    let github = GithubRemote::new(&mut env);
    let coder = env.coder_with_commit();
    assert_eq!(env.create_pr(&coder, "Title")["result"]["prNumber"], 1);
    env.until("the coder is put away", || {
        !env.has_session(&coder) && env.instance(&coder).owner.is_none()
    });
    let strange = {
        let mut state = github.state();
        let ours = state.pulls.remove(&1).unwrap();
        state.name = "goodbye".to_owned();
        let strange = state.add_pull("Somebody's", "theirs", "main");
        state.merge(strange);
        assert_eq!(strange, 1);
        ours
    };
    let url = github.git_url();
    env.git(&["remote", "set-url", "origin", &url]);
    assert_eq!(env.refused(&["sync"]), "FORGE_NOT_FOUND");
    assert_eq!(env.status(&coder), Status::PrCreated);
    assert!(env.instance(&coder).worktree_path.exists());
    // Renamed, it is the same one at another address.
    github.state().pulls.insert(1, strange);
    github.state().merge(1);
    assert_eq!(env.json(&["sync"])[0]["to"], "pr_merged");
}

#[test]
fn nothing_but_the_branch_is_pushed() {
    let mut env = AgentEnv::new("idle", "idle");
    let github = GithubRemote::new(&mut env);
    env.git(&["config", "push.followTags", "true"]);
    // What a hook prints is not what the remote says.
    let hook = env.path("repo/.git/hooks/pre-push");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    write_program(
        &hook,
        "#!/bin/sh\nprintf '!\\tx:y\\t[rejected] (hook)\\n'\n",
    );
    let coder = env.coder_with_commit();
    let worktree = env.instance(&coder).worktree_path;
    let tag = [
        "-C",
        worktree.to_str().unwrap(),
        "tag",
        "-a",
        "-m",
        "mine",
        "private",
    ];
    env.git(&tag);
    let answer = env.create_pr(&coder, "Title");
    assert_eq!(answer["error"], false, "{answer}");
    let bare = github.bare();
    let listed = env.git(&["ls-remote", bare.path().to_str().unwrap()]);
    assert!(!listed.contains("private"), "{listed}");
}

#[test]
fn a_new_database_does_not_take_over_the_numbers_of_an_old_one() {
    let mut env = AgentEnv::new("idle", "idle");
    assert_eq!(
        *number(&env.publish("first", &[("a.txt", "precious\n")])),
        1
    );
    env.json(&["pr", "close", "1"]);
    let commit = env.git(&["rev-parse", "first"]);
    env.git(&["worktree", "remove", env.path("first").to_str().unwrap()]);
    env.git(&["branch", "-q", "-D", "first"]);
    let state = env.path("another-state");
    env.set("CODEX_STATE_DIR", state.to_str().unwrap());
    assert_eq!(*number(&env.publish("second", &[("b.txt", "other\n")])), 2);
    assert_eq!(env.git(&["rev-parse", "refs/codex/pull/1/head"]), commit);
}

//! Pull requests whose branch moved: noticed, and brought up to their branch by `pr update`.

use serde_json::Value;
use tests::{AgentEnv, GithubRemote, shown};

fn refused(env: &AgentEnv, args: &[&str]) -> Value {
    let output = env.codex(&[args, &["--json"]].concat());
    assert!(!output.status.success(), "{args:?}: {}", shown(&output));
    serde_json::from_slice(&output.stderr).unwrap()
}

/// Commits to a branch in its worktree, as a person does.
fn commit(env: &AgentEnv, branch: &str, file: &str, text: &str) {
    let folder = env.path(branch);
    std::fs::write(folder.join(file), text).unwrap();
    env.git_in(&folder, &["add", "--all"]);
    env.git_in(&folder, &["commit", "-q", "-m", text]);
}

#[test]
fn a_moved_branch_is_noticed_and_its_commits_are_brought_in() {
    let env = AgentEnv::new("idle", "idle");
    env.publish("topic", &[("a.txt", "one\n")]);
    assert_eq!(
        env.text(&["pr", "update", "1"]),
        "#1 has every commit of topic already.\n"
    );
    commit(&env, "topic", "a.txt", "two\n");
    commit(&env, "topic", "b.txt", "three\n");
    assert_eq!(
        env.text(&["sync"]),
        "#1 lacks 2 commits of its branch: `claude-codex pr update 1` brings them in\n"
    );
    let synced = env.json(&["sync"]);
    assert_eq!(synced[0]["newCommits"], 2, "{synced}");

    let error = refused(&env, &["pr", "merge", "1"]);
    assert_eq!(error["code"], "PULL_REQUEST_OUTDATED", "{error}");
    assert_eq!(
        error["message"],
        "`topic` has 2 commits that are not in pull request 1"
    );
    let hint = error["hint"].as_str().unwrap();
    assert!(hint.contains("`claude-codex pr update 1`"), "{hint}");
    let updated = env.json(&["pr", "update", "1"]);
    assert_eq!(updated["newCommits"], 2, "{updated}");
    let tip = env.git(&["rev-parse", "topic"]);
    assert_eq!(updated["headCommit"], tip);
    assert_eq!(env.git(&["rev-parse", "refs/codex/pull/1/head"]), tip);
    assert_eq!(env.text(&["sync"]), "Nothing has changed.\n");
    assert!(env.text(&["pr", "diff", "1"]).contains("+three"));
    assert_eq!(env.json(&["pr", "merge", "1"])["state"], "merged");
    assert_eq!(env.git(&["show", "main:b.txt"]), "three");
    let error = refused(&env, &["pr", "update", "1"]);
    assert_eq!(error["code"], "PULL_REQUEST_NOT_OPEN");
    assert_eq!(env.json(&["doctor", "--deep"])["problems"], Value::Null);
}

#[test]
fn what_was_published_can_be_merged_without_the_rest() {
    let env = AgentEnv::new("idle", "idle");
    env.publish("topic", &[("a.txt", "one\n")]);
    commit(&env, "topic", "a.txt", "two\n");
    let error = refused(&env, &["pr", "merge", "1"]);
    assert_eq!(error["details"]["commits"], 1);
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("1 commit that is not in"), "{message}");
    let merged = env.json(&["pr", "merge", "1", "--as-published"]);
    assert_eq!(merged["state"], "merged");
    assert_eq!(env.git(&["show", "main:a.txt"]), "one");
}

#[test]
fn a_branch_that_was_rewritten_or_is_gone() {
    let env = AgentEnv::new("idle", "idle");
    env.publish("topic", &[("a.txt", "one\n")]);
    let folder = env.path("topic");
    env.git_in(&folder, &["commit", "-q", "--amend", "-m", "again"]);
    assert_eq!(env.json(&["pr", "update", "1"])["newCommits"], 1);
    let tip = env.git(&["rev-parse", "topic"]);
    assert_eq!(env.git(&["rev-parse", "refs/codex/pull/1/head"]), tip);
    env.git(&["worktree", "remove", folder.to_str().unwrap()]);
    env.git(&["branch", "-D", "topic"]);
    let error = refused(&env, &["pr", "update", "1"]);
    assert_eq!(error["code"], "BRANCH_NOT_FOUND");
    let bring = format!("git branch topic {tip}");
    assert!(error["hint"].as_str().unwrap().contains(&bring), "{error}");
    assert_eq!(env.json(&["pr", "merge", "1"])["state"], "merged");
}

#[test]
fn with_github_the_branch_is_pushed_and_never_by_force() {
    let mut env = AgentEnv::new("idle", "idle");
    let github = GithubRemote::new(&mut env);
    let coder = env.coder_with_commit();
    assert_eq!(env.create_pr(&coder, "Title")["error"], false);
    env.until("the coder is put away", || {
        !env.has_session(&coder) && env.instance(&coder).owner.is_none()
    });
    let (folder, branch) = (env.instance(&coder).worktree_path, format!("codex/{coder}"));
    env.git_in(&folder, &["commit", "-q", "--allow-empty", "-m", "more"]);
    let error = refused(&env, &["pr", "merge", "1"]);
    assert_eq!(error["code"], "PULL_REQUEST_OUTDATED", "{error}");
    assert_eq!(env.json(&["pr", "update", "1"])["newCommits"], 1);
    let tip = env.git(&["rev-parse", &branch]);
    assert_eq!(github.bare().commit_of(&branch).as_ref(), Some(&tip));
    env.git_in(
        &folder,
        &[
            "commit",
            "-q",
            "--amend",
            "--allow-empty",
            "-m",
            "rewritten",
        ],
    );
    let error = refused(&env, &["pr", "update", "1"]);
    assert_eq!(error["code"], "PUSH_NOT_FAST_FORWARD", "{error}");
    assert_eq!(github.bare().commit_of(&branch), Some(tip));
}

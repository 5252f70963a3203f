//! Merging while a person is in the middle of something: what is theirs stays, or nothing is merged.

use std::path::Path;

use serde_json::Value;
use tests::{AgentEnv, write_program};

fn read(env: &AgentEnv, file: &str) -> String {
    std::fs::read_to_string(env.path("repo").join(file)).unwrap()
}

fn write(env: &AgentEnv, file: &str, content: &str) {
    let path = env.path("repo").join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

fn state(env: &AgentEnv, number: &str) -> Value {
    env.json(&["pr", "show", number])["state"].clone()
}

fn published(env: &AgentEnv, branch: &str, files: &[(&str, &str)]) {
    let answer = env.publish(branch, files);
    assert_ne!(answer["isError"], true, "{answer}");
}

/// Makes a hook of the repository that waits, once it has begun, for as long as the file `hold` is there.
fn holding_hook(env: &AgentEnv, name: &str, condition: &str) {
    let hook = env.path("repo/.git/hooks").join(name);
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    let body = format!(
        "#!/bin/sh\n{condition}\ntouch \"$SCRIPT_DIR/held\"\nwhile [ -e \"$SCRIPT_DIR/hold\" ]; do sleep 0.05; done\n"
    );
    write_program(&hook, &body);
    std::fs::write(env.path("script/hold"), "").unwrap();
}

fn let_go(env: &AgentEnv) {
    std::fs::remove_file(env.path("script/hold")).unwrap();
}

#[test]
fn ignored_files_of_a_person_are_in_the_way_too() {
    let env = AgentEnv::new("idle", "idle");
    write(&env, ".gitignore", ".env\ndata/\ncache\n");
    env.git(&["add", "."]);
    env.git(&["commit", "-q", "-m", "ignore"]);
    published(&env, "secrets", &[(".env", "THEIRS=1\n")]);
    published(&env, "data-file", &[("data", "a file now\n")]);
    published(&env, "cache-folder", &[("cache/one", "a folder now\n")]);
    for (number, file) in [("1", ".env"), ("2", "data/precious"), ("3", "cache")] {
        write(&env, file, "mine\n");
        for method in ["merge", "rebase"] {
            let code = env.refused(&["pr", "merge", number, "--method", method]);
            assert_eq!(code, "WORKTREE_DIRTY", "{file}");
            assert_eq!(read(&env, file), "mine\n", "{file}");
        }
        assert_eq!(state(&env, number), "open");
    }
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    for file in [".env", "cache"] {
        std::fs::remove_file(env.path("repo").join(file)).unwrap();
    }
    std::fs::remove_dir_all(env.path("repo/data")).unwrap();
    for number in ["1", "2", "3"] {
        env.json(&["pr", "merge", number]);
    }
    assert_eq!(read(&env, ".env"), "THEIRS=1\n");
    assert_eq!(env.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_base_that_is_another_name_of_a_branch_moves_the_checkout_of_that() {
    let env = AgentEnv::new("idle", "idle");
    published(&env, "topic", &[("new.txt", "new\n")]);
    env.git(&["branch", "-m", "main", "trunk"]);
    env.git(&["symbolic-ref", "refs/heads/main", "refs/heads/trunk"]);
    env.json(&["pr", "merge", "1"]);
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    assert_eq!(read(&env, "new.txt"), "new\n");
}

#[test]
fn a_base_that_is_being_rebased_is_not_moved_under_it() {
    let env = AgentEnv::new("idle", "idle");
    published(&env, "topic", &[("new.txt", "new\n")]);
    env.git(&["switch", "-q", "-c", "side"]);
    write(&env, "README.md", "side\n");
    env.git(&["commit", "-q", "-a", "-m", "side"]);
    env.git(&["switch", "-q", "main"]);
    write(&env, "README.md", "mine\n");
    env.git(&["commit", "-q", "-a", "-m", "mine"]);
    let mut rebase = env.command(Path::new("git"));
    assert!(
        !rebase
            .args(["rebase", "-q", "side"])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(env.refused(&["pr", "merge", "1"]), "BRANCH_IN_USE");
    // Which puts the branch back to where it was, whatever it has become.
    env.git(&["rebase", "--abort"]);
    assert_eq!(state(&env, "1"), "open");
    env.json(&["pr", "merge", "1"]);
    assert_eq!(read(&env, "new.txt"), "new\n");
}

#[test]
fn a_checkout_that_is_out_of_reach_is_not_left_behind() {
    let env = AgentEnv::new("idle", "idle");
    published(&env, "topic", &[("new.txt", "new\n")]);
    env.git(&["checkout", "-q", "--detach"]);
    let (drive, away) = (env.path("drive"), env.path("away"));
    let path = drive.to_str().unwrap();
    env.git(&["worktree", "add", "-q", path, "main"]);
    env.git(&["worktree", "lock", path]);
    std::fs::rename(&drive, &away).unwrap();
    assert_eq!(env.refused(&["pr", "merge", "1"]), "BRANCH_IN_USE");
    std::fs::rename(&away, &drive).unwrap();
    assert_eq!(env.git(&["-C", path, "status", "--porcelain"]), "");
    env.json(&["pr", "merge", "1"]);
    assert_eq!(env.git(&["-C", path, "status", "--porcelain"]), "");
    assert!(drive.join("new.txt").exists());
}

#[test]
fn a_base_renamed_after_a_kill_keeps_no_lock_and_no_change() {
    let env = AgentEnv::new("idle", "idle");
    published(&env, "topic", &[("new.txt", "new\n")]);
    holding_hook(
        &env,
        "reference-transaction",
        "[ \"$1\" = prepared ] || exit 0\ngrep -q refs/heads/main || exit 0",
    );
    let mut child = env.start(&["pr", "merge", "1"], "");
    env.until("the branch is about to move", || {
        env.path("script/held").exists()
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let_go(&env);
    // The git that was moving it does so.
    env.until("the branch has moved", || {
        env.git(&["log", "-1", "--format=%s", "main"])
            .starts_with("Merge")
    });
    std::fs::remove_file(env.path("repo/.git/hooks/reference-transaction")).unwrap();
    env.git(&["branch", "-m", "main", "trunk"]);
    env.until("the next look", || {
        env.text(&["list"]);
        !env.path("repo/.git/index.lock").exists()
    });
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    assert_eq!(read(&env, "new.txt"), "new\n");
    assert_eq!(state(&env, "1"), "merged");
}

#[test]
fn a_merge_is_done_before_its_hook_runs() {
    let env = AgentEnv::new("idle", "idle");
    write(&env, "taken-back.txt", "old\n");
    env.git(&["add", "."]);
    env.git(&["commit", "-q", "-m", "old"]);
    published(
        &env,
        "topic",
        &[
            ("taken-back.txt", "new\n"),
            ("removed.txt", "new\n"),
            ("staged.txt", "new\n"),
        ],
    );
    holding_hook(&env, "post-merge", "");
    let mut child = env.start(&["pr", "merge", "1"], "");
    env.until("the hook", || env.path("script/held").exists());
    assert_eq!(state(&env, "1"), "merged");
    // What comes now is no part of it.
    let later = env.publish("topic", &[("later.txt", "later\n")]);
    assert_eq!(later["structuredContent"]["prNumber"], 2, "{later}");
    // A person does not wait for the hook, and goes on.
    child.kill().unwrap();
    child.wait().unwrap();
    let_go(&env);
    write(&env, "taken-back.txt", "old\n");
    write(&env, "staged.txt", "half done\n");
    env.git(&["add", "taken-back.txt", "staged.txt"]);
    write(&env, "staged.txt", "and more\n");
    std::fs::remove_file(env.path("repo/removed.txt")).unwrap();
    let before = env.git(&["status", "--porcelain"]);
    env.text(&["list"]);
    assert_eq!(env.git(&["status", "--porcelain"]), before);
    assert_eq!(read(&env, "taken-back.txt"), "old\n");
    assert_eq!(read(&env, "staged.txt"), "and more\n");
    let base = env.git(&["ls-tree", "--name-only", "main"]);
    assert!(!base.contains("later.txt"), "{base}");
    assert_eq!(state(&env, "2"), "open");
}

#[test]
fn a_merge_that_fails_half_way_leaves_a_sparse_checkout_sparse() {
    let env = AgentEnv::new("idle", "idle");
    write(&env, ".gitattributes", "*.bin filter=broken\n");
    write(&env, "in/one", "old\n");
    write(&env, "out/one", "old\n");
    env.git(&["add", "."]);
    env.git(&["commit", "-q", "-m", "files"]);
    published(
        &env,
        "topic",
        &[
            ("in/one", "new\n"),
            ("out/one", "new\n"),
            ("in/two.bin", "new\n"),
        ],
    );
    env.git(&["sparse-checkout", "set", "in"]);
    for (key, value) in [("smudge", "false"), ("clean", "cat"), ("required", "true")] {
        env.git(&["config", &format!("filter.broken.{key}"), value]);
    }
    let before = env.git(&["ls-files", "-t"]);
    let merge = env.codex(&["pr", "merge", "1"]);
    assert!(!merge.status.success(), "the filter is broken");
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    assert_eq!(env.git(&["ls-files", "-t"]), before);
    assert!(!env.path("repo/out").exists());
    assert_eq!(read(&env, "in/one"), "old\n");
    assert_eq!(state(&env, "1"), "open");
}

//! Worktrees that are removed while something else is in the way: a lock, a kill, work in a submodule.

use std::fs::File;
use std::time::{Duration, Instant};

use serde_json::json;
use shared::model::{InstanceId, Status};
use tests::AgentEnv;

fn gone(env: &AgentEnv, id: &InstanceId) -> bool {
    let instance = env.instance(id);
    !instance.worktree_path.exists() && instance.owner.is_none()
}

#[test]
fn looking_does_not_wait_for_a_stopped_process_that_has_the_lock() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&[]);
    env.tmux(&["kill-server"]);
    let lock = File::create(env.path("repo/.git/claude-codex.lock")).unwrap();
    lock.lock().unwrap();
    // As long as its process has not ended it counts as alive.
    env.until("a look finds it dead", || {
        let began = Instant::now();
        env.text(&["list"]);
        let took = began.elapsed();
        assert!(took < Duration::from_secs(15), "{took:?}");
        env.status(&coder) == Status::Failed
    });
    let worktree = env.instance(&coder).worktree_path;
    assert_eq!(
        std::fs::read_to_string(worktree.join("README.md")).unwrap(),
        "A project\n"
    );
    drop(lock);
    env.until("the next look removes it", || {
        env.text(&["list"]);
        gone(&env, &coder)
    });
    assert_eq!(env.git(&["branch", "--list", "codex/*"]), "");
}

#[test]
fn a_removal_that_is_killed_leaves_the_worktree_whole_or_gone() {
    let env = AgentEnv::new("idle", "idle");
    let folder = env.path("repo/many");
    std::fs::create_dir(&folder).unwrap();
    for number in 0..3_000 {
        std::fs::write(folder.join(format!("{number}.txt")), "x\n").unwrap();
    }
    env.git(&["add", "."]);
    env.git(&["commit", "-q", "-m", "many files"]);
    let coder = env.coder(&[]);
    let worktree = env.instance(&coder).worktree_path;
    let began = Instant::now();
    env.text(&["stop", coder.as_str()]);
    let whole = began.elapsed();
    for round in 3..10 {
        env.text(&["resume", coder.as_str()]);
        let mut child = env.start(&["stop", coder.as_str()], "");
        std::thread::sleep(whole * round / 10);
        let _ = child.kill();
        child.wait().unwrap();
        if worktree.exists() {
            let status = env.git(&["-C", worktree.to_str().unwrap(), "status", "--porcelain"]);
            assert_eq!(status, "", "round {round}");
        }
        env.until("somebody ends it", || {
            env.text(&["list"]);
            !env.status(&coder).is_live() && gone(&env, &coder)
        });
        let parent = worktree.parent().unwrap();
        let left = parent.read_dir().map_or(0, Iterator::count);
        assert_eq!(left, 0, "round {round}");
    }
}

#[test]
fn a_commit_in_a_submodule_keeps_the_worktree_after_the_merge() {
    let env = AgentEnv::new("idle", "idle");
    let origin = env.path("lib");
    std::fs::create_dir(&origin).unwrap();
    let origin = origin.to_str().unwrap();
    env.git(&["-C", origin, "init", "-q", "-b", "main"]);
    env.git(&["-C", origin, "commit", "-q", "--allow-empty", "-m", "base"]);
    let allow = ["-c", "protocol.file.allow=always"];
    env.git(&[&allow[..], &["submodule", "--quiet", "add", origin, "lib"]].concat());
    env.git(&["commit", "-q", "-m", "a submodule"]);
    let coder = env.coder(&[]);
    let worktree = env.instance(&coder).worktree_path;
    let lib = worktree.join("lib");
    let (worktree, lib) = (worktree.to_str().unwrap(), lib.to_str().unwrap());
    let update = ["-C", worktree, "submodule", "--quiet", "update", "--init"];
    env.git(&[&allow[..], &update].concat());
    env.git(&["-C", lib, "commit", "-q", "--allow-empty", "-m", "precious"]);
    let precious = env.git(&["-C", lib, "rev-parse", "HEAD"]);
    env.git(&["-C", worktree, "commit", "-q", "-a", "-m", "use it"]);
    let answer = env.call(
        &coder,
        "create_pr",
        &json!({ "title": "Title", "description": "What and why." }),
    );
    assert_eq!(answer["error"], false, "{answer}");
    let merged = env.json(&["pr", "merge", "1"]);
    let kept = merged["instances"][0]["kept"].as_str().unwrap_or_default();
    assert!(kept.contains("submodule lib"), "{merged}");
    assert_eq!(env.git(&["-C", lib, "rev-parse", "HEAD"]), precious);
    // Pushed to its own remote, nothing holds it any more.
    env.git(&["-C", lib, "push", "-q", "origin", "HEAD:refs/heads/topic"]);
    let cleaned = env.text(&["clean"]);
    assert!(!env.instance(&coder).worktree_path.exists(), "{cleaned}");
}

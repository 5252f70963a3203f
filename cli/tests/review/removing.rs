//! Worktrees that are removed while something else is in the way: a lock, a kill, work in a submodule.

use std::fs::File;
use std::time::{Duration, Instant};

use serde_json::json;
use shared::model::{InstanceId, Status};

use crate::support::{Place, text};

fn gone(place: &Place, id: &InstanceId) -> bool {
    let instance = place.instance(id);
    !instance.worktree_path.exists() && instance.owner.is_none()
}

#[test]
fn looking_does_not_wait_for_a_stopped_process_that_has_the_lock() {
    let place = Place::new("idle", "idle");
    let coder = place.coder(&[]);
    place.tmux(&["kill-server"]);
    let lock = File::create(place.path("repo/.git/claude-codex.lock")).unwrap();
    lock.lock().unwrap();
    let began = Instant::now();
    text(&place.codex(&["list"]));
    assert!(
        began.elapsed() < Duration::from_secs(15),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(place.status(&coder), Status::Failed);
    let worktree = place.instance(&coder).worktree_path;
    assert_eq!(
        std::fs::read_to_string(worktree.join("README.md")).unwrap(),
        "A project\n"
    );
    drop(lock);
    place.until("the next look removes it", || {
        text(&place.codex(&["list"]));
        gone(&place, &coder)
    });
    assert_eq!(place.git(&["branch", "--list", "codex/*"]), "");
}

#[test]
fn a_removal_that_is_killed_leaves_the_worktree_whole_or_gone() {
    let place = Place::new("idle", "idle");
    let folder = place.path("repo/many");
    std::fs::create_dir(&folder).unwrap();
    for number in 0..3_000 {
        std::fs::write(folder.join(format!("{number}.txt")), "x\n").unwrap();
    }
    place.git(&["add", "."]);
    place.git(&["commit", "-q", "-m", "many files"]);
    let coder = place.coder(&[]);
    let worktree = place.instance(&coder).worktree_path;
    let began = Instant::now();
    text(&place.codex(&["stop", coder.as_str()]));
    let whole = began.elapsed();
    for round in 3..10 {
        text(&place.codex(&["resume", coder.as_str()]));
        let mut child = place.start(&["stop", coder.as_str()], "");
        std::thread::sleep(whole * round / 10);
        let _ = child.kill();
        child.wait().unwrap();
        if worktree.exists() {
            let status = place.git(&["-C", worktree.to_str().unwrap(), "status", "--porcelain"]);
            assert_eq!(status, "", "round {round}");
        }
        place.until("somebody ends it", || {
            text(&place.codex(&["list"]));
            !place.status(&coder).is_live() && gone(&place, &coder)
        });
        let parent = worktree.parent().unwrap();
        let left = parent.read_dir().map_or(0, Iterator::count);
        assert_eq!(left, 0, "round {round}");
    }
}

#[test]
fn a_commit_in_a_submodule_keeps_the_worktree_after_the_merge() {
    let place = Place::new("idle", "idle");
    let origin = place.path("lib");
    std::fs::create_dir(&origin).unwrap();
    let origin = origin.to_str().unwrap();
    place.git(&["-C", origin, "init", "-q", "-b", "main"]);
    place.git(&["-C", origin, "commit", "-q", "--allow-empty", "-m", "base"]);
    let allow = ["-c", "protocol.file.allow=always"];
    place.git(&[&allow[..], &["submodule", "--quiet", "add", origin, "lib"]].concat());
    place.git(&["commit", "-q", "-m", "a submodule"]);
    let coder = place.coder(&[]);
    let worktree = place.instance(&coder).worktree_path;
    let lib = worktree.join("lib");
    let (worktree, lib) = (worktree.to_str().unwrap(), lib.to_str().unwrap());
    let update = ["-C", worktree, "submodule", "--quiet", "update", "--init"];
    place.git(&[&allow[..], &update].concat());
    place.git(&["-C", lib, "commit", "-q", "--allow-empty", "-m", "precious"]);
    let precious = place.git(&["-C", lib, "rev-parse", "HEAD"]);
    place.git(&["-C", worktree, "commit", "-q", "-a", "-m", "use it"]);
    let answer = place.call(
        &coder,
        "create_pr",
        &json!({ "title": "Title", "description": "What and why." }),
    );
    assert_eq!(answer["error"], false, "{answer}");
    let merged = place.json(&["pr", "merge", "1"]);
    let kept = merged["instances"][0]["kept"].as_str().unwrap_or_default();
    assert!(kept.contains("submodule lib"), "{merged}");
    assert_eq!(place.git(&["-C", lib, "rev-parse", "HEAD"]), precious);
    // Pushed to its own remote, nothing holds it any more.
    place.git(&["-C", lib, "push", "-q", "origin", "HEAD:refs/heads/topic"]);
    let cleaned = text(&place.codex(&["clean"]));
    assert!(!place.instance(&coder).worktree_path.exists(), "{cleaned}");
}

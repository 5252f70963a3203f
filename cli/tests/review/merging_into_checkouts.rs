//! Merging while a person is in the middle of something: what is theirs stays, or nothing is merged.

use std::path::Path;

use serde_json::Value;

use crate::support::{Place, text};

fn read(place: &Place, file: &str) -> String {
    std::fs::read_to_string(place.path("repo").join(file)).unwrap()
}

fn write(place: &Place, file: &str, content: &str) {
    let path = place.path("repo").join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

fn state(place: &Place, number: &str) -> Value {
    place.json(&["pr", "show", number])["state"].clone()
}

fn published(place: &Place, branch: &str, files: &[(&str, &str)]) {
    let answer = place.publish(branch, files);
    assert_ne!(answer["isError"], true, "{answer}");
}

/// Makes a hook of the repository that waits, once it has begun, for as long as the file `hold` is there.
fn holding_hook(place: &Place, name: &str, condition: &str) {
    let hook = place.path("repo/.git/hooks").join(name);
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    let body = format!(
        "#!/bin/sh\n{condition}\ntouch \"$SCRIPT_DIR/held\"\nwhile [ -e \"$SCRIPT_DIR/hold\" ]; do sleep 0.05; done\n"
    );
    std::fs::write(&hook, body).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&hook, mode).unwrap();
    std::fs::write(place.path("script/hold"), "").unwrap();
}

fn let_go(place: &Place) {
    std::fs::remove_file(place.path("script/hold")).unwrap();
}

#[test]
fn ignored_files_of_a_person_are_in_the_way_too() {
    let place = Place::new("idle", "idle");
    write(&place, ".gitignore", ".env\ndata/\ncache\n");
    place.git(&["add", "."]);
    place.git(&["commit", "-q", "-m", "ignore"]);
    published(&place, "secrets", &[(".env", "THEIRS=1\n")]);
    published(&place, "data-file", &[("data", "a file now\n")]);
    published(&place, "cache-folder", &[("cache/one", "a folder now\n")]);
    for (number, file) in [("1", ".env"), ("2", "data/precious"), ("3", "cache")] {
        write(&place, file, "mine\n");
        for method in ["merge", "rebase"] {
            let code = place.refused(&["pr", "merge", number, "--method", method]);
            assert_eq!(code, "WORKTREE_DIRTY", "{file}");
            assert_eq!(read(&place, file), "mine\n", "{file}");
        }
        assert_eq!(state(&place, number), "open");
    }
    assert_eq!(place.git(&["status", "--porcelain"]), "");
    for file in [".env", "cache"] {
        std::fs::remove_file(place.path("repo").join(file)).unwrap();
    }
    std::fs::remove_dir_all(place.path("repo/data")).unwrap();
    for number in ["1", "2", "3"] {
        place.json(&["pr", "merge", number]);
    }
    assert_eq!(read(&place, ".env"), "THEIRS=1\n");
    assert_eq!(place.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_base_that_is_another_name_of_a_branch_moves_the_checkout_of_that() {
    let place = Place::new("idle", "idle");
    published(&place, "topic", &[("new.txt", "new\n")]);
    place.git(&["branch", "-m", "main", "trunk"]);
    place.git(&["symbolic-ref", "refs/heads/main", "refs/heads/trunk"]);
    place.json(&["pr", "merge", "1"]);
    assert_eq!(place.git(&["status", "--porcelain"]), "");
    assert_eq!(read(&place, "new.txt"), "new\n");
}

#[test]
fn a_base_that_is_being_rebased_is_not_moved_under_it() {
    let place = Place::new("idle", "idle");
    published(&place, "topic", &[("new.txt", "new\n")]);
    place.git(&["switch", "-q", "-c", "side"]);
    write(&place, "README.md", "side\n");
    place.git(&["commit", "-q", "-a", "-m", "side"]);
    place.git(&["switch", "-q", "main"]);
    write(&place, "README.md", "mine\n");
    place.git(&["commit", "-q", "-a", "-m", "mine"]);
    let mut rebase = place.command(Path::new("git"));
    assert!(
        !rebase
            .args(["rebase", "-q", "side"])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(place.refused(&["pr", "merge", "1"]), "BRANCH_IN_USE");
    // Which puts the branch back to where it was, whatever it has become.
    place.git(&["rebase", "--abort"]);
    assert_eq!(state(&place, "1"), "open");
    place.json(&["pr", "merge", "1"]);
    assert_eq!(read(&place, "new.txt"), "new\n");
}

#[test]
fn a_checkout_that_is_out_of_reach_is_not_left_behind() {
    let place = Place::new("idle", "idle");
    published(&place, "topic", &[("new.txt", "new\n")]);
    place.git(&["checkout", "-q", "--detach"]);
    let (drive, away) = (place.path("drive"), place.path("away"));
    let path = drive.to_str().unwrap();
    place.git(&["worktree", "add", "-q", path, "main"]);
    place.git(&["worktree", "lock", path]);
    std::fs::rename(&drive, &away).unwrap();
    assert_eq!(place.refused(&["pr", "merge", "1"]), "BRANCH_IN_USE");
    std::fs::rename(&away, &drive).unwrap();
    assert_eq!(place.git(&["-C", path, "status", "--porcelain"]), "");
    place.json(&["pr", "merge", "1"]);
    assert_eq!(place.git(&["-C", path, "status", "--porcelain"]), "");
    assert!(drive.join("new.txt").exists());
}

#[test]
fn a_base_renamed_after_a_kill_keeps_no_lock_and_no_change() {
    let place = Place::new("idle", "idle");
    published(&place, "topic", &[("new.txt", "new\n")]);
    holding_hook(
        &place,
        "reference-transaction",
        "[ \"$1\" = prepared ] || exit 0\ngrep -q refs/heads/main || exit 0",
    );
    let mut child = place.start(&["pr", "merge", "1"], "");
    place.until("the branch is about to move", || {
        place.path("script/held").exists()
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let_go(&place);
    // The git that was moving it does so.
    place.until("the branch has moved", || {
        place
            .git(&["log", "-1", "--format=%s", "main"])
            .starts_with("Merge")
    });
    std::fs::remove_file(place.path("repo/.git/hooks/reference-transaction")).unwrap();
    place.git(&["branch", "-m", "main", "trunk"]);
    place.until("the next look", || {
        text(&place.codex(&["list"]));
        !place.path("repo/.git/index.lock").exists()
    });
    assert_eq!(place.git(&["status", "--porcelain"]), "");
    assert_eq!(read(&place, "new.txt"), "new\n");
    assert_eq!(state(&place, "1"), "merged");
}

#[test]
fn a_merge_is_done_before_its_hook_runs() {
    let place = Place::new("idle", "idle");
    write(&place, "taken-back.txt", "old\n");
    place.git(&["add", "."]);
    place.git(&["commit", "-q", "-m", "old"]);
    published(
        &place,
        "topic",
        &[
            ("taken-back.txt", "new\n"),
            ("removed.txt", "new\n"),
            ("staged.txt", "new\n"),
        ],
    );
    holding_hook(&place, "post-merge", "");
    let mut child = place.start(&["pr", "merge", "1"], "");
    place.until("the hook", || place.path("script/held").exists());
    assert_eq!(state(&place, "1"), "merged");
    // What comes now is no part of it.
    let later = place.publish("topic", &[("later.txt", "later\n")]);
    assert_eq!(later["structuredContent"]["prNumber"], 2, "{later}");
    // A person does not wait for the hook, and goes on.
    child.kill().unwrap();
    child.wait().unwrap();
    let_go(&place);
    write(&place, "taken-back.txt", "old\n");
    write(&place, "staged.txt", "half done\n");
    place.git(&["add", "taken-back.txt", "staged.txt"]);
    write(&place, "staged.txt", "and more\n");
    std::fs::remove_file(place.path("repo/removed.txt")).unwrap();
    let before = place.git(&["status", "--porcelain"]);
    text(&place.codex(&["list"]));
    assert_eq!(place.git(&["status", "--porcelain"]), before);
    assert_eq!(read(&place, "taken-back.txt"), "old\n");
    assert_eq!(read(&place, "staged.txt"), "and more\n");
    let base = place.git(&["ls-tree", "--name-only", "main"]);
    assert!(!base.contains("later.txt"), "{base}");
    assert_eq!(state(&place, "2"), "open");
}

#[test]
fn a_merge_that_fails_half_way_leaves_a_sparse_checkout_sparse() {
    let place = Place::new("idle", "idle");
    write(&place, ".gitattributes", "*.bin filter=broken\n");
    write(&place, "in/one", "old\n");
    write(&place, "out/one", "old\n");
    place.git(&["add", "."]);
    place.git(&["commit", "-q", "-m", "files"]);
    published(
        &place,
        "topic",
        &[
            ("in/one", "new\n"),
            ("out/one", "new\n"),
            ("in/two.bin", "new\n"),
        ],
    );
    place.git(&["sparse-checkout", "set", "in"]);
    for (key, value) in [("smudge", "false"), ("clean", "cat"), ("required", "true")] {
        place.git(&["config", &format!("filter.broken.{key}"), value]);
    }
    let before = place.git(&["ls-files", "-t"]);
    let merge = place.codex(&["pr", "merge", "1"]);
    assert!(!merge.status.success(), "the filter is broken");
    assert_eq!(place.git(&["status", "--porcelain"]), "");
    assert_eq!(place.git(&["ls-files", "-t"]), before);
    assert!(!place.path("repo/out").exists());
    assert_eq!(read(&place, "in/one"), "old\n");
    assert_eq!(state(&place, "1"), "open");
}

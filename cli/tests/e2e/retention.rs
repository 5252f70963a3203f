//! Old records go by themselves; what is needed, or the only reference to a commit, stays.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::support::env_with_agent;

fn age(path: &Path, days: u64) {
    let time = SystemTime::now() - Duration::from_hours(24 * days);
    File::open(path).unwrap().set_modified(time).unwrap();
}

fn write(path: &Path, days: u64) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "x").unwrap();
    age(path, days);
}

#[test]
fn old_files_and_references_go_and_the_rest_stays() {
    let env = env_with_agent();
    let coder = env.json(&["code", "Live on"]);
    let id = coder["id"].as_str().unwrap();
    let logs = env.state().join("logs");
    // Every command looks, but only once in a while: this is the next time.
    fs::remove_file(env.state().join("retention")).unwrap();
    let (old, new, living) = (
        logs.join("work-old-a1.log"),
        logs.join("work-new-a1.log"),
        logs.join(format!("{id}.log")),
    );
    write(&old, 31);
    write(&new, 29);
    write(&living, 31);
    let turns = logs.join("work-old-a1");
    write(&turns.join("turn-1.jsonl"), 31);
    age(&turns, 31);
    let snapshot = env.state().join("phases/of-nobody");
    fs::create_dir_all(&snapshot).unwrap();
    age(&snapshot, 31);
    env.git(&["update-ref", "refs/codex/reviews/review-old-a1-r1", "main"]);
    let alone = env.git(&["commit-tree", "-p", "main", "-m", "alone", "main^{tree}"]);
    let alone = alone.trim();
    env.git(&["update-ref", "refs/codex/reviews/review-old-a1-r2", alone]);
    env.git(&[
        "update-ref",
        "refs/codex/reviews/review-old-a1-r1.2",
        "main",
    ]);
    env.git(&["update-ref", "refs/codex/pull/7/head", "main"]);

    env.json(&["list"]);
    assert!(!old.exists() && !turns.exists() && !snapshot.exists());
    assert!(new.exists() && living.exists());
    let refs = env.git(&["for-each-ref", "--format=%(refname)", "refs/codex"]);
    let refs: Vec<&str> = refs.lines().collect();
    assert_eq!(
        refs,
        [
            // No row says that this pull request is over.
            "refs/codex/pull/7/head",
            // Nothing else leads to its commit.
            "refs/codex/reviews/review-old-a1-r2",
        ]
    );

    write(&old, 31);
    env.json(&["list"]);
    assert!(old.exists(), "it was looked a moment ago");

    let checks = env.json(&["doctor"]);
    let check = checks
        .as_array()
        .unwrap()
        .iter()
        .find(|check| check["name"] == "retention")
        .unwrap();
    let message = check["message"].as_str().unwrap();
    assert!(
        message.contains("(kept 90 days, at most 200000 events)"),
        "{message}"
    );
}

#[test]
fn a_repository_does_not_decide_what_is_kept() {
    let env = env_with_agent();
    let settings = env.repository().join(".claude-codex/config.toml");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    fs::write(&settings, "[retention]\nfileDays = 1\n").unwrap();
    let log = env.state().join("logs/work-new-a1.log");
    write(&log, 20);
    env.json(&["list"]);
    assert!(log.exists());
}

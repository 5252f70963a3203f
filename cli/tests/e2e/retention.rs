//! Old records go by themselves; what is needed, or the only reference to a commit, stays.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::support::Place;

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
    let place = Place::new();
    let coder = place.json(&["code", "Live on"]);
    let id = coder["id"].as_str().unwrap();
    let logs = place.state().join("logs");
    // Every command looks, but only once in a while: this is the next time.
    fs::remove_file(place.state().join("retention")).unwrap();
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
    let snapshot = place.state().join("phases/of-nobody");
    fs::create_dir_all(&snapshot).unwrap();
    age(&snapshot, 31);
    place.git(&["update-ref", "refs/codex/reviews/review-old-a1-r1", "main"]);
    let alone = place.git(&["commit-tree", "-p", "main", "-m", "alone", "main^{tree}"]);
    let alone = alone.trim();
    place.git(&["update-ref", "refs/codex/reviews/review-old-a1-r2", alone]);
    place.git(&[
        "update-ref",
        "refs/codex/reviews/review-old-a1-r1.2",
        "main",
    ]);
    place.git(&["update-ref", "refs/codex/pull/7/head", "main"]);

    place.json(&["list"]);
    assert!(!old.exists() && !turns.exists() && !snapshot.exists());
    assert!(new.exists() && living.exists());
    let refs = place.git(&["for-each-ref", "--format=%(refname)", "refs/codex"]);
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
    place.json(&["list"]);
    assert!(old.exists(), "it was looked a moment ago");

    let checks = place.json(&["doctor"]);
    let check = checks
        .as_array()
        .unwrap()
        .iter()
        .find(|check| check["name"] == "retention")
        .unwrap();
    let message = check["message"].as_str().unwrap();
    assert!(
        message.contains("(kept 90 days, at most 200000 calls)"),
        "{message}"
    );
}

#[test]
fn a_repository_does_not_decide_what_is_kept() {
    let place = Place::new();
    let settings = place.repository().join(".claude-codex/config.toml");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    fs::write(&settings, "[retention]\nfileDays = 1\n").unwrap();
    let log = place.state().join("logs/work-new-a1.log");
    write(&log, 20);
    place.json(&["list"]);
    assert!(log.exists());
}

//! Fingerprints of a tree, and time limits.

use std::time::Instant;

use crate::codebase::now;
use crate::support::Repo;
use analysis::{Budget, Depth, codebase, fingerprint};

#[test]
fn a_fingerprint_changes_with_the_tree() {
    let repo = Repo::init();
    let mut seen = vec![fingerprint(repo.path(), &Budget::for_depth(Depth::Shallow))];
    let mut changed = |what: &str| {
        let next = fingerprint(repo.path(), &Budget::for_depth(Depth::Shallow));
        assert!(!seen.contains(&next), "{what}");
        assert_eq!(
            next,
            fingerprint(repo.path(), &Budget::for_depth(Depth::Shallow)),
            "{what}"
        );
        seen.push(next);
    };
    repo.write("a.rs", "fn a() {}\n");
    changed("untracked");
    repo.commit("Ann", 1_600_000_000);
    changed("commit");
    repo.write("a.rs", "fn b() {}\n");
    changed("change");
    repo.write("a.rs", "fn c() { }\n");
    changed("another change");
    repo.git(&["add", "-A"]);
    changed("staged");
    repo.write("deep/x/y.txt", "1");
    changed("untracked in a folder");
    repo.write("deep/x/y.txt", "22");
    changed("untracked changed");
    let plain = Repo::new();
    assert_ne!(
        fingerprint(plain.path(), &Budget::for_depth(Depth::Shallow)),
        fingerprint(plain.path(), &Budget::for_depth(Depth::Shallow))
    );
}

#[test]
fn a_struck_deadline_is_told() {
    let repo = Repo::init();
    repo.write("src/main.rs", "fn main() {}\n")
        .commit("Ann", now());
    for depth in [Depth::Shallow, Depth::Medium, Depth::Deep] {
        let mut budget = Budget::for_depth(depth);
        budget.deadline = Instant::now();
        let report = codebase(repo.path(), depth, &budget).unwrap();
        assert!(
            report.incomplete.iter().any(|part| part.what == "files"),
            "{depth:?}"
        );
        assert_eq!(
            depth > Depth::Shallow,
            report.incomplete.iter().any(|part| part.what == "history"),
            "{depth:?}"
        );
    }
}

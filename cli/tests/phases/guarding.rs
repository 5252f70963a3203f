//! The guard: which edits it refuses, and where paths lead.

use std::os::unix::fs::symlink;

use serde_json::json;
use shared::model::{FileKind, Phase};

use crate::support::{LIBRARY, Place, SESSION, context};

#[test]
fn every_phase_holds_back_what_is_not_for_it() {
    let place = Place::scripted();
    let files = [
        (FileKind::Production, "src/new.rs"),
        (FileKind::Test, "tests/new.rs"),
        (FileKind::Documentation, "docs/spec.md"),
        (FileKind::Configuration, "Cargo.toml"),
        (FileKind::Other, "data.bin"),
        (FileKind::Guard, ".claude/settings.json"),
        (FileKind::Guard, ".claude-codex/tdd.json"),
    ];
    // Without a phase nothing is held back.
    for (_, name) in files {
        assert_eq!(place.write_denied(name, "x"), None);
    }
    for &phase in Phase::ALL.iter().filter(|phase| **phase != Phase::Done) {
        place.begin(phase);
        for (kind, name) in files {
            let path = place.repo().join(name);
            for (tool, input) in [
                (
                    "Write",
                    json!({ "file_path": path, "content": "fn x() {}" }),
                ),
                (
                    "Edit",
                    json!({ "file_path": path, "old_string": "a", "new_string": "b" }),
                ),
                ("MultiEdit", json!({ "file_path": path, "edits": [] })),
                (
                    "NotebookEdit",
                    json!({ "notebook_path": path, "new_source": "" }),
                ),
                ("Read", json!({ "file_path": path })),
            ] {
                let denied = place.denied(tool, &input);
                // An edit of a Rust file that can't be followed may touch either.
                let unclear = ["Edit", "NotebookEdit"].contains(&tool)
                    && (kind, phase) == (FileKind::Production, Phase::Interfaces);
                // One that changes nothing touches nothing.
                let empty =
                    tool == "MultiEdit" && kind == FileKind::Production && phase == Phase::Tests;
                let expected = (!phase.allows(kind) && tool != "Read" && !empty) || unclear;
                assert_eq!(
                    denied.is_some(),
                    expected,
                    "{tool} {name} in {phase}: {denied:?}"
                );
            }
        }
    }
    let reason = {
        place.begin(Phase::Tests);
        place.write_denied("src/new.rs", "pub fn x() {}").unwrap()
    };
    for part in [
        "phase 3 of 4 (tests)",
        "src/new.rs",
        "production code",
        "/tdd confirm tests",
    ] {
        assert!(reason.contains(part), "{reason}");
    }
}

#[test]
fn tests_inside_a_rust_file_are_tests() {
    let place = Place::scripted();
    let path = place.repo().join("src/lib.rs");
    let edit = |old: &str, new: &str| {
        place.denied(
            "Edit",
            &json!({ "file_path": path, "old_string": old, "new_string": new }),
        )
    };
    place.begin(Phase::Tests);
    assert_eq!(edit("add(1, 1), 2", "add(1, 2), 3"), None);
    assert!(edit("a + b", "a - b").is_some());
    assert_eq!(
        place.write_denied("src/lib.rs", &LIBRARY.replace("adds", "sums")),
        None
    );
    assert!(
        place
            .write_denied("src/lib.rs", "pub fn add() {}\n")
            .is_some()
    );
    let many = json!({ "file_path": path, "edits": [
        { "old_string": "fn adds", "new_string": "fn sums" },
        { "old_string": "a + b", "new_string": "b + a" },
    ]});
    assert!(place.denied("MultiEdit", &many).is_some());
    place.begin(Phase::Interfaces);
    assert!(edit("add(1, 1), 2", "add(1, 2), 3").is_some());
    assert_eq!(edit("a + b", "unimplemented!()"), None);
    // What isn't there can't be judged.
    assert!(edit("no such text", "x").is_some());
}

#[test]
fn a_path_is_judged_by_where_it_leads() {
    let place = Place::scripted();
    place.write("docs/a.md", "x");
    symlink("../src/lib.rs", place.repo().join("docs/link.md")).unwrap();
    symlink("../src/new.rs", place.repo().join("docs/dangling.md")).unwrap();
    symlink(place.repo().join("src"), place.path("tools/elsewhere")).unwrap();
    place.git(&["worktree", "add", "-q", "../other", "-b", "other"]);
    place.begin(Phase::Requirements);
    assert_eq!(place.write_denied("docs/a.md", "y"), None);
    for (path, denied) in [
        ("docs/link.md", true),
        ("docs/dangling.md", true),
        ("docs/../src/lib.rs", true),
        ("./src//lib.rs", true),
        ("../tools/elsewhere/lib.rs", true),
        // Another worktree of the repository falls under the same phase.
        ("../other/src/lib.rs", true),
        ("../other/README.md", false),
        ("../other/.claude/settings.json", true),
        // Elsewhere is nobody's business.
        ("../tools/x.rs", false),
        ("../home/.claude/settings.json", true),
        ("../home/.claude/tdd-override.json", true),
        ("../state/codex.db", true),
        (".git/hooks/pre-commit", true),
        (".git/info/exclude", true),
    ] {
        let given = json!({ "file_path": path, "content": "x" });
        assert_eq!(place.denied("Write", &given).is_some(), denied, "{path}");
        let absolute = json!({ "file_path": place.repo().join(path), "content": "x" });
        assert_eq!(place.denied("Write", &absolute).is_some(), denied, "{path}");
    }
}

#[test]
fn sessions_and_worktrees_never_share_a_phase() {
    let place = Place::scripted();
    place.begin(Phase::Requirements);
    let other = "11111111-2222-3333-4444-555555555555";
    let write = json!({ "tool_name": "Write", "tool_input": { "file_path": place.repo().join("src/x.rs"), "content": "x" } });
    assert!(!place.hook_of(SESSION, "PreToolUse", &write).is_null());
    assert!(place.hook_of(other, "PreToolUse", &write).is_null());
    let begun = place.hook_of(
        other,
        "UserPromptSubmit",
        &json!({ "prompt": "/tdd start tests" }),
    );
    assert!(begun["systemMessage"].is_string(), "{begun}");
    assert_eq!(place.phase(), Phase::Requirements);
    // An end of one leaves the other alone.
    place.hook_of(
        other,
        "SessionEnd",
        &json!({ "reason": "prompt_input_exit" }),
    );
    assert_eq!(place.phase(), Phase::Requirements);
    place.hook("SessionEnd", &json!({ "reason": "prompt_input_exit" }));
    assert!(
        !place.codex(&["phase", "status"]).status.success(),
        "it has ended"
    );
    // Taken up again, it is where it was.
    let answer = place.hook("SessionStart", &json!({ "source": "resume" }));
    assert!(
        context(&answer).unwrap().contains("phase 1 of 4"),
        "{answer}"
    );
    assert!(place.codex(&["phase", "status"]).status.success());
    // What is stopped leaves nothing behind.
    place.prompt("/tdd stop");
    place.hook_of(other, "UserPromptSubmit", &json!({ "prompt": "/tdd stop" }));
    let left: Vec<_> = std::fs::read_dir(place.path("state/phases"))
        .unwrap()
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_monorepo_has_a_profile_for_each_project() {
    let place = Place::with(&[
        ("web/package.json", "{}"),
        ("web/src/a.js", ""),
        ("api/go.mod", "module x\n"),
        ("api/a.go", "package x\n"),
    ]);
    let refused = place.prompt("/tdd start");
    assert!(
        refused["reason"]
            .as_str()
            .unwrap()
            .contains("no kind of project"),
        "{refused}"
    );
    place.write("package.json", "{}");
    place.begin(Phase::Tests);
    assert!(place.write_denied("web/src/b.js", "").is_some());
    assert_eq!(place.write_denied("web/src/b.test.js", ""), None);
    assert!(place.write_denied("api/b.go", "").is_some());
    assert_eq!(place.write_denied("api/b_test.go", ""), None);
}

#[test]
fn without_a_profile_there_are_no_phases_unless_a_default_says_so() {
    let mut place = Place::with(&[("a.txt", "x")]);
    assert_eq!(place.prompt("/tdd start")["decision"], "block");
    assert_eq!(place.row(), None);
    place.set("TDD_DEFAULT_PROFILE", "cobol");
    let refused = place.prompt("/tdd start");
    assert!(
        refused["reason"].as_str().unwrap().contains("cobol"),
        "{refused}"
    );
    place.set("TDD_DEFAULT_PROFILE", "pytest");
    place.begin(Phase::Tests);
    assert!(place.write_denied("a.py", "").is_some());
    assert_eq!(place.write_denied("test_a.py", ""), None);
}

//! The guard: which edits it refuses, and where paths lead.

use std::os::unix::fs::symlink;

use serde_json::json;
use shared::model::{FileKind, Phase};
use tests::phase_env::{LIBRARY, PhaseEnv, SESSION, context};

#[test]
fn every_phase_holds_back_what_is_not_for_it() {
    let env = PhaseEnv::scripted();
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
        assert_eq!(env.write_denied(name, "x"), None);
    }
    for &phase in Phase::ALL.iter().filter(|phase| **phase != Phase::Done) {
        env.begin(phase);
        for (kind, name) in files {
            let path = env.repository().join(name);
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
                let denied = env.denied(tool, &input);
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
        env.begin(Phase::Tests);
        env.write_denied("src/new.rs", "pub fn x() {}").unwrap()
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
    let env = PhaseEnv::scripted();
    let path = env.repository().join("src/lib.rs");
    let edit = |old: &str, new: &str| {
        env.denied(
            "Edit",
            &json!({ "file_path": path, "old_string": old, "new_string": new }),
        )
    };
    env.begin(Phase::Tests);
    assert_eq!(edit("add(1, 1), 2", "add(1, 2), 3"), None);
    assert!(edit("a + b", "a - b").is_some());
    assert_eq!(
        env.write_denied("src/lib.rs", &LIBRARY.replace("adds", "sums")),
        None
    );
    assert!(
        env.write_denied("src/lib.rs", "pub fn add() {}\n")
            .is_some()
    );
    let many = json!({ "file_path": path, "edits": [
        { "old_string": "fn adds", "new_string": "fn sums" },
        { "old_string": "a + b", "new_string": "b + a" },
    ]});
    assert!(env.denied("MultiEdit", &many).is_some());
    env.begin(Phase::Interfaces);
    assert!(edit("add(1, 1), 2", "add(1, 2), 3").is_some());
    assert_eq!(edit("a + b", "unimplemented!()"), None);
    // What isn't there can't be judged.
    assert!(edit("no such text", "x").is_some());
}

#[test]
fn a_path_is_judged_by_where_it_leads() {
    let env = PhaseEnv::scripted();
    env.write("docs/a.md", "x");
    symlink("../src/lib.rs", env.repository().join("docs/link.md")).unwrap();
    symlink("../src/new.rs", env.repository().join("docs/dangling.md")).unwrap();
    symlink(env.repository().join("src"), env.path("tools/elsewhere")).unwrap();
    env.git(&["worktree", "add", "-q", "../other", "-b", "other"]);
    env.begin(Phase::Requirements);
    assert_eq!(env.write_denied("docs/a.md", "y"), None);
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
        assert_eq!(env.denied("Write", &given).is_some(), denied, "{path}");
        let absolute = json!({ "file_path": env.repository().join(path), "content": "x" });
        assert_eq!(env.denied("Write", &absolute).is_some(), denied, "{path}");
    }
}

#[test]
fn sessions_and_worktrees_never_share_a_phase() {
    let env = PhaseEnv::scripted();
    env.begin(Phase::Requirements);
    let other = "11111111-2222-3333-4444-555555555555";
    let write = json!({ "tool_name": "Write", "tool_input": { "file_path": env.repository().join("src/x.rs"), "content": "x" } });
    assert!(!env.hook_of(SESSION, "PreToolUse", &write).is_null());
    assert!(env.hook_of(other, "PreToolUse", &write).is_null());
    let begun = env.hook_of(
        other,
        "UserPromptSubmit",
        &json!({ "prompt": "/tdd start tests" }),
    );
    assert!(begun["systemMessage"].is_string(), "{begun}");
    assert_eq!(env.phase(), Phase::Requirements);
    // An end of one leaves the other alone.
    env.hook_of(
        other,
        "SessionEnd",
        &json!({ "reason": "prompt_input_exit" }),
    );
    assert_eq!(env.phase(), Phase::Requirements);
    env.hook("SessionEnd", &json!({ "reason": "prompt_input_exit" }));
    assert!(
        !env.codex(&["phase", "status"]).status.success(),
        "it has ended"
    );
    // Taken up again, it is where it was.
    let answer = env.hook("SessionStart", &json!({ "source": "resume" }));
    assert!(
        context(&answer).unwrap().contains("phase 1 of 4"),
        "{answer}"
    );
    assert!(env.codex(&["phase", "status"]).status.success());
    // What is stopped leaves nothing behind.
    env.prompt("/tdd stop");
    env.hook_of(other, "UserPromptSubmit", &json!({ "prompt": "/tdd stop" }));
    let left: Vec<_> = std::fs::read_dir(env.path("state/phases"))
        .unwrap()
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_monorepo_has_a_profile_for_each_project() {
    let env = PhaseEnv::with(&[
        ("web/package.json", "{}"),
        ("web/src/a.js", ""),
        ("api/go.mod", "module x\n"),
        ("api/a.go", "package x\n"),
    ]);
    let refused = env.prompt("/tdd start");
    assert!(
        refused["reason"]
            .as_str()
            .unwrap()
            .contains("no known kind of project"),
        "{refused}"
    );
    env.write("package.json", "{}");
    env.begin(Phase::Tests);
    assert!(env.write_denied("web/src/b.js", "").is_some());
    assert_eq!(env.write_denied("web/src/b.test.js", ""), None);
    assert!(env.write_denied("api/b.go", "").is_some());
    assert_eq!(env.write_denied("api/b_test.go", ""), None);
}

#[test]
fn without_a_profile_there_are_no_phases_unless_a_default_says_so() {
    let mut env = PhaseEnv::with(&[("a.txt", "x")]);
    assert_eq!(env.prompt("/tdd start")["decision"], "block");
    assert_eq!(env.row(), None);
    env.set("TDD_DEFAULT_PROFILE", "cobol");
    let refused = env.prompt("/tdd start");
    assert!(
        refused["reason"].as_str().unwrap().contains("cobol"),
        "{refused}"
    );
    env.set("TDD_DEFAULT_PROFILE", "pytest");
    env.begin(Phase::Tests);
    assert!(env.write_denied("a.py", "").is_some());
    assert_eq!(env.write_denied("test_a.py", ""), None);
}

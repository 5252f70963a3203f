//! Approved tests stay approved: in the implementation phase a changed, deleted, emptied or skipped test is not done.

use serde_json::Value;
use shared::model::Phase;
use tests::phase_env::{LIBRARY, PhaseEnv};

const TESTS: &str = "tests/all.rs";

fn ran(passed: u32, failed: u32, ignored: u32) -> String {
    let word = if failed == 0 { "ok" } else { "FAILED" };
    format!(
        "test result: {word}. {passed} passed; {failed} failed; {ignored} ignored; 0 measured\n"
    )
}

/// Two tests were confirmed, one of which failed.
fn confirmed() -> PhaseEnv {
    let env = PhaseEnv::scripted();
    env.begin(Phase::Tests);
    env.script_tool("test", &ran(1, 1, 0), 101);
    env.prompt("/tdd confirm tests");
    env.blocked(false);
    assert_eq!(env.phase(), Phase::Implementation);
    env.script_tool("test", &ran(2, 0, 0), 0);
    env
}

fn told(answer: &Value) -> &str {
    answer["systemMessage"].as_str().unwrap_or_default()
}

#[test]
fn a_test_that_is_deleted_or_changed_waits_for_the_person() {
    for line in [
        "rm tests/all.rs",
        "true > tests/all.rs",
        "sed -i 's/#.test./#[test] #[ignore]/' tests/all.rs",
        "git mv tests/all.rs tests/other.rs",
    ] {
        let env = confirmed();
        let before = env.read(TESTS);
        env.bash(line);
        let reason = env.blocked(false);
        assert!(
            reason.contains(TESTS) && reason.contains("/tdd accept"),
            "{line}: {reason}"
        );
        let passed = env.stop(true);
        assert!(passed["decision"].is_null(), "{passed}");
        assert!(told(&passed).contains("-#[test]"), "{line}: {passed}");
        assert_eq!(env.phase(), Phase::Implementation, "{line}");
        // Either way out leads on.
        if line.starts_with("rm") {
            assert!(env.codex(&["phase", "restore"]).status.success());
            assert_eq!(env.read(TESTS), before);
        } else {
            env.prompt("/tdd accept");
        }
        env.stop(false);
        assert_eq!(env.phase(), Phase::Done, "{line}");
    }
}

#[test]
fn a_test_inside_a_source_file_waits_for_the_person_too() {
    let env = confirmed();
    env.write("src/lib.rs", &LIBRARY.replace("a + b", "b + a"));
    let changed = LIBRARY.replace("a + b", "b + a").replace(", 2)", ", 3)");
    env.write("src/lib.rs", &changed);
    assert!(env.blocked(false).contains("src/lib.rs"));
    // What it holds of the implementation is not undone.
    assert!(env.codex(&["phase", "restore"]).status.success());
    assert_eq!(env.read("src/lib.rs"), changed);
    env.write("src/lib.rs", &changed.replace(", 3)", ", 2)"));
    env.stop(false);
    assert_eq!(env.phase(), Phase::Done);
}

#[test]
fn new_tests_need_no_confirmation() {
    let env = confirmed();
    env.write("tests/more.rs", "#[test]\nfn more() {}\n");
    env.stop(false);
    assert_eq!(env.phase(), Phase::Done);
}

#[test]
fn what_did_not_run_is_not_green() {
    for (output, words) in [
        (ran(0, 0, 2), "no test ran"),
        (ran(0, 0, 0), "no test ran"),
        (ran(1, 0, 1), "1 instead of 2"),
    ] {
        let env = confirmed();
        env.script_tool("test", &output, 0);
        let reason = env.blocked(false);
        assert!(reason.contains(words), "{reason}");
        assert_eq!(env.phase(), Phase::Implementation);
    }
    let env = confirmed();
    env.script_tool("test", &ran(1, 0, 1), 0);
    env.prompt("/tdd accept");
    env.stop(false);
    assert_eq!(env.phase(), Phase::Done, "the person accepts fewer");
}

#[test]
fn tests_of_node_that_are_gone_or_skipped_are_not_green() {
    let env = PhaseEnv::with(&[("package.json", "{}"), ("index.js", "")]);
    env.begin(Phase::Implementation);
    let reason = env.blocked(false);
    assert!(reason.contains("no test ran"), "{reason}");
    env.write(
        "test/a.test.js",
        "require('node:test')('x', { skip: true }, () => { throw 1 })\n",
    );
    let reason = env.blocked(true);
    assert!(reason.contains("no test ran"), "{reason}");
    env.write("test/a.test.js", "require('node:test')('x', () => {})\n");
    env.stop(true);
    assert_eq!(env.phase(), Phase::Done);
}

//! From phase to phase: what a person says, what the end of a turn finds, and what agents are told.

use std::time::{Duration, Instant};

use serde_json::json;
use shared::model::Phase;
use tests::phase_env::{LIBRARY, PhaseEnv, SESSION, context};

use crate::PROGRAM;

#[test]
fn all_the_way_from_requirements_to_done() {
    let env = PhaseEnv::scripted();
    let begun = env.prompt("/tdd start");
    assert!(context(&begun).unwrap().contains("phase 1 of 4"), "{begun}");
    assert!(
        begun["systemMessage"].as_str().unwrap().contains("cargo"),
        "{begun}"
    );

    // Only the person's word is missing: the agent is told to ask for it, once.
    let asked = env.blocked(false);
    assert!(asked.contains("/tdd confirm requirements"), "{asked}");
    let passed = env.stop(true);
    assert_eq!(passed["decision"], json!(null), "{passed}");
    assert!(
        passed["systemMessage"]
            .as_str()
            .unwrap()
            .contains("waiting for you"),
        "{passed}"
    );
    assert!(
        env.stop(false)["decision"].is_null(),
        "it asks again and again"
    );

    // Requirements need nothing else: it moves on at once.
    let confirmed = env.prompt("/tdd confirm requirements");
    assert!(
        context(&confirmed).unwrap().contains("phase 2 of 4"),
        "{confirmed}"
    );
    assert_eq!(env.phase(), Phase::Interfaces);

    // Interfaces have to compile, whatever the person says.
    env.script_tool(
        "compile",
        "noise\nerror[E0425]: cannot find value `x`\n",
        101,
    );
    env.write("src/lib.rs", &LIBRARY.replace("a + b", "x"));
    let told = env.edited("src/lib.rs").unwrap();
    assert!(
        told.contains("does not compile") && told.contains("E0425") && !told.contains("noise"),
        "{told}"
    );
    let confirmed = env.prompt("/tdd confirm interfaces");
    assert!(
        context(&confirmed).unwrap().contains("end your turn"),
        "{confirmed}"
    );
    let missing = env.blocked(false);
    assert!(missing.contains("E0425"), "{missing}");
    assert_eq!(env.phase(), Phase::Interfaces);
    env.script_tool("compile", "", 0);
    env.write("src/lib.rs", &LIBRARY.replace("a + b", "todo!()"));
    assert_eq!(env.edited("src/lib.rs"), None);
    let next = env.blocked(true);
    assert!(next.contains("phase 3 of 4"), "{next}");
    assert_eq!(env.phase(), Phase::Tests);

    // Tests have to fail, and for the right reason.
    env.prompt("/tdd confirm tests");
    let missing = env.blocked(false);
    assert!(missing.contains("no test fails"), "{missing}");
    env.script_tool("test", "called `Option::unwrap()` on a `None` value", 101);
    let missing = env.blocked(true);
    assert!(missing.contains("no test ran and failed"), "{missing}");
    env.script_tool(
        "test",
        "error[E0599]: no method\nerror: could not compile",
        101,
    );
    let missing = env.blocked(true);
    assert!(missing.contains("do not compile"), "{missing}");
    env.script_tool(
        "test",
        "---- adds stdout ----\nassertion `left == right` failed",
        101,
    );
    // In this phase a failing test is what is wanted.
    assert_eq!(env.edited("tests/all.rs"), None);
    let next = env.blocked(true);
    assert!(next.contains("phase 4 of 4"), "{next}");
    assert_eq!(env.phase(), Phase::Implementation);

    // Every edit is tested, and the turn ends when all is green.
    let told = env.edited("src/lib.rs").unwrap();
    assert!(
        told.contains("tests fail") && told.contains("---- adds"),
        "{told}"
    );
    assert_eq!(env.edited("README.md"), None);
    let missing = env.blocked(false);
    assert!(missing.contains("---- adds"), "{missing}");
    env.script_tool("test", "ok", 0);
    let done = env.stop(true);
    assert!(done["decision"].is_null(), "{done}");
    assert!(
        done["systemMessage"]
            .as_str()
            .unwrap()
            .contains("all tests pass"),
        "{done}"
    );
    assert_eq!(env.phase(), Phase::Done);
    assert_eq!(env.write_denied("src/lib.rs", ""), None);
    assert!(env.stop(false).is_null());
}

#[test]
fn what_does_not_fit_is_told_and_changes_nothing() {
    let env = PhaseEnv::scripted();
    for said in [
        "/tdd confirm requirements",
        "/tdd status",
        "/tdd accept",
        "/tdd stop",
    ] {
        let answer = env.prompt(said);
        assert_eq!(answer["decision"], "block", "{answer}");
        assert!(
            answer["reason"].as_str().unwrap().contains("no TDD phase"),
            "{answer}"
        );
    }
    assert!(env.prompt("hello").is_null());
    env.begin(Phase::Requirements);
    let answer = env.prompt("/tdd confirm tests");
    assert!(
        answer["reason"]
            .as_str()
            .unwrap()
            .contains("nothing was confirmed"),
        "{answer}"
    );
    let answer = env.prompt("/tdd confirm everything");
    assert!(
        answer["reason"]
            .as_str()
            .unwrap()
            .contains("/tdd confirm requirements|"),
        "{answer}"
    );
    let row = env.row().unwrap();
    assert_eq!((row.phase, row.confirmed_at), (Phase::Requirements, None));
    let answer = env.prompt("/tdd status");
    assert!(
        answer["reason"].as_str().unwrap().contains("phase 1 of 4"),
        "{answer}"
    );
    let answer = env.prompt("/tdd stop");
    assert!(
        answer["reason"].as_str().unwrap().contains("have ended"),
        "{answer}"
    );
    assert_eq!(env.row(), None);
}

#[test]
fn it_gives_in_at_claude_codes_own_limit() {
    let mut env = PhaseEnv::scripted();
    env.begin(Phase::Implementation);
    env.script_tool("test", "---- a stdout ----\nassertion failed", 101);
    for round in 0..8 {
        env.blocked(round > 0);
    }
    let passed = env.stop(true);
    assert!(passed["decision"].is_null(), "{passed}");
    assert!(
        passed["systemMessage"]
            .as_str()
            .unwrap()
            .contains("8 times"),
        "{passed}"
    );
    assert_eq!(env.phase(), Phase::Implementation);
    // The next turn is counted anew.
    env.blocked(false);
    env.set("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "2");
    env.blocked(false);
    env.blocked(true);
    assert!(env.stop(true)["decision"].is_null());
}

#[test]
fn a_program_that_is_missing_holds_nobody_back() {
    let env = PhaseEnv::scripted();
    env.write(
        ".claude-codex/tdd.json",
        r#"{"profile":"cargo","compileCommand":["no-such-compiler"],"testCommand":["no-such-runner"]}"#,
    );
    env.begin(Phase::Interfaces);
    let told = env.edited("src/lib.rs").unwrap();
    assert!(
        told.contains("could not be checked") && told.contains("no-such-compiler"),
        "{told}"
    );
    env.prompt("/tdd confirm interfaces");
    let answer = env.stop(false);
    assert!(
        answer["systemMessage"]
            .as_str()
            .unwrap()
            .contains("Not checked"),
        "{answer}"
    );
    assert_eq!(env.phase(), Phase::Tests);
    env.begin(Phase::Implementation);
    let answer = env.stop(false);
    assert!(answer["decision"].is_null(), "{answer}");
    assert_eq!(env.phase(), Phase::Implementation);
}

#[test]
fn a_check_has_a_time_limit_and_a_newer_one_ends_it() {
    let env = PhaseEnv::scripted();
    let (started, survived) = (env.path("tools/started"), env.path("tools/survived"));
    let slow = format!(
        "echo x >> '{}'; sleep 30; touch '{}'",
        started.display(),
        survived.display()
    );
    env.write(
        ".claude-codex/tdd.json",
        &json!({"profile": "cargo", "compileCommand": ["sh", "-c", slow], "timeLimitSeconds": 20})
            .to_string(),
    );
    env.begin(Phase::Interfaces);
    let payload = env.payload(
        SESSION,
        "PostToolUse",
        &json!({
        "tool_name": "Edit", "tool_input": { "file_path": env.repository().join("src/lib.rs") } }),
    );
    let began = Instant::now();
    let first = env.start_hook("PostToolUse", payload.to_string().as_bytes());
    let deadline = Instant::now() + Duration::from_secs(20);
    while !started.exists() {
        assert!(Instant::now() < deadline, "the check did not begin");
        std::thread::sleep(Duration::from_millis(10));
    }
    env.write(
        ".claude-codex/tdd.json",
        &json!({"profile": "cargo", "compileCommand": ["sh", "-c", "sleep 30"], "timeLimitSeconds": 1}).to_string(),
    );
    let told = env.edited("src/lib.rs").unwrap();
    assert!(told.contains("did not finish within 1 s"), "{told}");
    let output = first.wait_with_output().unwrap();
    assert!(
        output.stdout.is_empty(),
        "what is out of date is told: {output:?}"
    );
    assert!(
        began.elapsed() < Duration::from_secs(19),
        "it was not ended"
    );
    assert!(!survived.exists());
}

#[test]
fn a_cleared_conversation_stays_in_its_phase() {
    let env = PhaseEnv::scripted();
    env.begin(Phase::Tests);
    env.hook("SessionEnd", &json!({ "reason": "clear" }));
    let next = "99999999-2222-3333-4444-555555555555";
    let answer = env.hook_of(next, "SessionStart", &json!({ "source": "clear" }));
    assert!(
        context(&answer).unwrap().contains("phase 3 of 4"),
        "{answer}"
    );
    let rows = env.store().read_now(|r| r.phases_of_session(next)).unwrap();
    assert_eq!(rows[0].phase, Phase::Tests);
    // Another session that begins there is not concerned.
    let other = "88888888-2222-3333-4444-555555555555";
    assert!(
        env.hook_of(other, "SessionStart", &json!({ "source": "startup" }))
            .is_null()
    );
}

#[test]
fn the_shell_says_and_does_the_same() {
    let env = PhaseEnv::scripted();
    let none = env.codex(&["phase", "status", "--json"]);
    assert_eq!(none.status.code(), Some(1));
    env.begin(Phase::Tests);
    env.write("src/lib.rs", "pub fn broken() {}\n");
    let status = env.codex(&["phase", "status", "--json"]);
    let status: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!(
        (&status["phase"], &status["session"]),
        (&json!("tests"), &json!(SESSION))
    );
    assert_eq!(status["violations"][0]["path"], "src/lib.rs");
    let restored = env.codex(&["phase", "restore"]);
    assert!(restored.status.success(), "{restored:?}");
    assert_eq!(env.read("src/lib.rs"), LIBRARY);
    let text = String::from_utf8(env.codex(&["phase", "status"]).stdout).unwrap();
    assert!(
        text.contains("3 of 4") && !text.contains("undone"),
        "{text}"
    );
    assert_eq!(
        env.codex(&["phase", "confirm", "implementation"])
            .status
            .code(),
        Some(2)
    );

    // A person at a terminal may confirm. `script` gives one; nothing of Claude Code is above it.
    let line = format!("{PROGRAM} phase confirm tests");
    let typed = env
        .command("script")
        .args(["-qec", &line, "/dev/null"])
        .output();
    let Ok(typed) = typed else {
        eprintln!("SKIPPED: `script` is not installed");
        return;
    };
    if below_claude() {
        eprintln!("SKIPPED: this test itself runs below Claude Code");
        return;
    }
    assert!(typed.status.success(), "{typed:?}");
    assert!(env.row().unwrap().confirmed_at.is_some());
}

fn below_claude() -> bool {
    let own = shared::process::ancestors(std::process::id());
    own.iter().any(|ancestor| {
        ancestor.name == "claude"
            || shared::process::variable_of(ancestor.pid, "CLAUDECODE").is_some()
    })
}

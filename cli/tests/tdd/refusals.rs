//! What is refused, before anything is made.

use std::os::unix::fs::PermissionsExt;

use crate::tdd_env::TddEnv;

/// Asserts that a run is refused with a code, and that nothing was made.
fn refused(env: &TddEnv, spec: &str, more: &[&str], code: &str) -> String {
    let args = [&["tdd", spec, "--json"], more].concat();
    let output = env.codex(&args);
    assert!(!output.status.success());
    assert!(output.stdout.is_empty());
    let error: serde_json::Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(error["code"], code, "{error}");
    if code == "INVALID_ARGUMENTS" {
        assert_eq!(output.status.code(), Some(2));
    }
    assert!(env.runs().is_empty());
    assert!(env.git(&["branch", "--list", "tdd/*"]).is_empty());
    assert!(!env.path(".codex-worktrees").exists());
    error["message"].as_str().unwrap().to_owned()
}

#[test]
fn specifications_that_can_not_be_worked_from() {
    let env = TddEnv::new("work", "approve");
    let path = env.path("bad.md");
    let name = path.to_str().unwrap();
    let bad = |message: &str| {
        let said = refused(&env, name, &[], "INVALID_ARGUMENTS");
        assert!(said.contains(message), "{said}");
    };
    bad("does not exist");
    std::fs::create_dir(&path).unwrap();
    bad("is not a file");
    std::fs::remove_dir(&path).unwrap();
    for (bytes, message) in [
        (Vec::new(), "is empty"),
        (b" \n\n".to_vec(), "is empty"),
        (b"a\0b".to_vec(), "is not text"),
        (b"caf\xe9".to_vec(), "is not UTF-8"),
        (vec![b'x'; 300_000], "is larger than 256 KiB"),
    ] {
        std::fs::write(&path, bytes).unwrap();
        bad(message);
    }
    std::fs::write(&path, "fine").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&path).is_ok() {
        eprintln!("SKIPPED: this user reads everything");
    } else {
        bad("permission denied");
    }
}

#[test]
fn places_and_programs_that_are_not_ready() {
    let mut env = TddEnv::new("work", "approve");
    let spec = env.spec();
    env.git(&["branch", "taken"]);
    refused(&env, &spec, &["--branch-name", "taken"], "BRANCH_EXISTS");
    refused(
        &env,
        &spec,
        &["--branch-name", "-x..y"],
        "INVALID_ARGUMENTS",
    );
    env.git(&["checkout", "-q", "--detach"]);
    env.git(&["commit", "-q", "--allow-empty", "-m", "On no branch"]);
    refused(&env, &spec, &[], "NO_BRANCH");
    env.git(&["checkout", "-q", "main"]);
    env.set("CODEX_RESOURCES_MAX_CONCURRENT_INSTANCES", "0");
    refused(&env, &spec, &[], "INSTANCE_LIMIT_REACHED");
    env.set("CODEX_AGENT_COMMAND", "");
    env.set("CODEX_CLAUDE", "/no/such/claude");
    refused(&env, &spec, &[], "CLAUDE_MISSING");
}

#[test]
fn runs_that_there_are_not() {
    let env = TddEnv::new("work", "approve");
    for args in [
        &["tdd", "show", "20260728-123456-abcdef"],
        &["tdd", "resume", "20260728-123456-abcdef"],
    ] {
        assert_eq!(env.refused(args), "TDD_RUN_NOT_FOUND");
    }
    assert_eq!(env.json(&["tdd", "list"]), serde_json::json!([]));
}

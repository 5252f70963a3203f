//! What is refused, before anything is made.

use std::os::unix::fs::PermissionsExt;

use crate::lab::Lab;

/// Asserts that a run is refused with a code, and that nothing was made.
fn refused(lab: &Lab, spec: &str, more: &[&str], code: &str) -> String {
    let args = [&["tdd", spec, "--json"], more].concat();
    let output = lab.place.codex(&args);
    assert!(!output.status.success());
    assert!(output.stdout.is_empty());
    let error: serde_json::Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(error["code"], code, "{error}");
    if code == "INVALID_ARGUMENTS" {
        assert_eq!(output.status.code(), Some(2));
    }
    assert!(lab.runs().is_empty());
    assert!(lab.place.git(&["branch", "--list", "tdd/*"]).is_empty());
    assert!(!lab.place.path(".codex-worktrees").exists());
    error["message"].as_str().unwrap().to_owned()
}

#[test]
fn specifications_that_can_not_be_worked_from() {
    let lab = Lab::new("work", "approve");
    let path = lab.place.path("bad.md");
    let name = path.to_str().unwrap();
    let bad = |message: &str| {
        let said = refused(&lab, name, &[], "INVALID_ARGUMENTS");
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
    let mut lab = Lab::new("work", "approve");
    let spec = lab.spec();
    lab.place.git(&["branch", "taken"]);
    refused(&lab, &spec, &["--branch-name", "taken"], "BRANCH_EXISTS");
    refused(
        &lab,
        &spec,
        &["--branch-name", "-x..y"],
        "INVALID_ARGUMENTS",
    );
    lab.place.git(&["checkout", "-q", "--detach"]);
    refused(&lab, &spec, &[], "NO_BRANCH");
    lab.place.git(&["checkout", "-q", "main"]);
    lab.place
        .set("CODEX_RESOURCES_MAX_CONCURRENT_INSTANCES", "0");
    refused(&lab, &spec, &[], "INSTANCE_LIMIT_REACHED");
    lab.place.set("CODEX_AGENT_COMMAND", "");
    lab.place.set("CODEX_CLAUDE", "/no/such/claude");
    refused(&lab, &spec, &[], "CLAUDE_MISSING");
}

#[test]
fn runs_that_there_are_not() {
    let lab = Lab::new("work", "approve");
    for args in [
        &["tdd", "show", "20260728-123456-abcdef"],
        &["tdd", "resume", "20260728-123456-abcdef"],
    ] {
        assert_eq!(lab.place.refused(args), "TDD_RUN_NOT_FOUND");
    }
    assert_eq!(lab.place.json(&["tdd", "list"]), serde_json::json!([]));
}

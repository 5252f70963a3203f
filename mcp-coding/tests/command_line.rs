//! The binary as a command. (That this test exists also makes cargo build the binary for the others.)

#![expect(
    clippy::unwrap_used,
    reason = "a test fails by panicking, also in its helper functions"
)]

use std::process::Command;

fn run(argument: &str) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_mcp-coding"))
        .arg(argument)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn help_says_how_to_register_it() {
    let (code, stdout, _) = run("--help");
    assert_eq!(code, Some(0));
    assert!(
        stdout.contains("claude mcp add codex-coding -- mcp-coding"),
        "{stdout}"
    );
}

#[test]
fn version_is_the_package_version() {
    let (code, stdout, _) = run("--version");
    assert_eq!(code, Some(0));
    assert_eq!(
        stdout,
        concat!("mcp-coding ", env!("CARGO_PKG_VERSION"), "\n")
    );
}

#[test]
fn wrong_usage_is_told_on_stderr() {
    let (code, stdout, stderr) = run("--no-such-flag");
    assert_eq!(code, Some(2));
    assert_eq!(stdout, "");
    assert!(stderr.contains("--no-such-flag"), "{stderr}");
}

//! What each server must do as a command.

use std::path::Path;
use std::process::Command;

use crate::Server;

fn run(program: &Path, argument: &str) -> (Option<i32>, String, String) {
    let output = Command::new(program).arg(argument).output();
    let output = output.unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

/// Checks that `--help` says how to register the server, that `--version` is the package's, and that
/// wrong usage is told on standard error.
pub fn check_command_line(server: Server) {
    let program = &server.path();
    let name = server.name();
    let role = name.trim_start_matches("mcp-");
    let (code, stdout, _) = run(program, "--help");
    assert_eq!(code, Some(0));
    let registration = format!("claude mcp add --scope user codex-{role} -- {name}");
    assert!(stdout.contains(&registration), "{stdout}");

    let (code, stdout, _) = run(program, "--version");
    assert_eq!(code, Some(0));
    assert_eq!(stdout, format!("{name} {}\n", env!("CARGO_PKG_VERSION")));

    let (code, stdout, stderr) = run(program, "--no-such-flag");
    assert_eq!(code, Some(2));
    assert_eq!(stdout, "");
    assert!(stderr.contains("--no-such-flag"), "{stderr}");
}

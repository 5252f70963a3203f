//! The binary as a command. (That this test exists also makes cargo build the binary for the others.)

use std::path::Path;

#[test]
fn help_version_and_wrong_usage() {
    let program = Path::new(env!("CARGO_BIN_EXE_mcp-coding"));
    tests::check_command_line(tests::Server::Coding, program);
}

//! The binary as a command.

use tests::{Server, check_command_line};

#[test]
fn help_version_and_wrong_usage() {
    check_command_line(Server::Coding);
}

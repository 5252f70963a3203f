//! Prints the import graph of a repository as JSON: what `scripts/accuracy` compares with other tools.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use analysis::{Budget, Depth, architecture};

fn main() -> ExitCode {
    let Some(root) = std::env::args_os().nth(1).map(PathBuf::from) else {
        return ExitCode::from(2);
    };
    let Ok(report) = architecture(&root, Depth::Medium, &Budget::for_depth(Depth::Medium)) else {
        return ExitCode::FAILURE;
    };
    let Ok(text) = serde_json::to_string(&report.graph) else {
        return ExitCode::FAILURE;
    };
    match writeln!(std::io::stdout(), "{text}") {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

//! `claude-codex pr diff`

use std::fmt::Write;
use std::io::{self, IsTerminal};

use anstyle::Style;
use serde_json::json;
use shared::workflow;

use crate::command_context;
use crate::failure::Failure;
use crate::output::{BAD, BOLD, GOOD, NAME, Output, PLAIN};
use crate::text::harmless;

/// The longest diff that is printed.
const MAX_DIFF_BYTES: usize = 20 << 20;

pub(super) async fn diff(number: u64, output: Output) -> Result<(), Failure> {
    let context = command_context::open(output).await?;
    let diff = workflow::pull_diff(&context, number, MAX_DIFF_BYTES).await?;
    if output.is_json() {
        return output.document(&json!({ "number": number, "diff": diff }));
    }
    if !io::stdout().is_terminal() {
        // For another program, such as `git apply`: byte for byte.
        return output.raw(&diff);
    }
    output.print(&styled_diff(&diff))
}

/// Returns a diff made harmless, with colours.
pub(crate) fn styled_diff(diff: &str) -> String {
    let mut text = String::new();
    for line in diff.lines() {
        let style = line_style(line);
        // `harmless` would turn a tab into a single space.
        let line = harmless(&line.replace('\t', "    "));
        let _ = writeln!(text, "{style}{line}{style:#}");
    }
    text
}

fn line_style(line: &str) -> Style {
    match line.as_bytes() {
        [b'd', b'i', b'f', b'f', b' ', ..] | [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => {
            BOLD
        }
        [b'@', b'@', ..] => NAME,
        [b'+', ..] => GOOD,
        [b'-', ..] => BAD,
        _ => PLAIN,
    }
}

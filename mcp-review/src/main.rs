//! The review agent's MCP server, over stdio.

use std::process::ExitCode;

use clap::Parser;

/// Serve the tools of a review agent over MCP on standard input and output
///
/// Claude Code starts this server. This registers it for all your repositories:
///
/// claude mcp add --scope user codex-review -- mcp-review
#[derive(Debug, Parser)]
#[command(name = "mcp-review", version)]
struct Arguments {}

fn main() -> ExitCode {
    Arguments::parse();
    mcp_kit::serve(mcp_review::definition())
}

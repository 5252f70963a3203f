//! The coding agent's MCP server, over stdio.

use std::process::ExitCode;

use clap::Parser;

/// Serve the tools of a coding agent over MCP on standard input and output
///
/// Claude Code starts this server. This registers it for all your repositories:
///
/// claude mcp add --scope user codex-coding -- mcp-coding
#[derive(Debug, Parser)]
#[command(name = "mcp-coding", version)]
struct Arguments {}

fn main() -> ExitCode {
    Arguments::parse();
    mcp_kit::serve(mcp_coding::definition())
}

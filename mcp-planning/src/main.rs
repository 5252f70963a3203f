//! The planning agent's MCP server, over stdio.

use std::process::ExitCode;

use clap::Parser;

/// Serve the tools of a planning agent over MCP on standard input and output
///
/// Claude Code starts this server; register it with
/// `claude mcp add codex-planning -- mcp-planning`.
#[derive(Debug, Parser)]
#[command(name = "mcp-planning", version)]
struct Arguments {}

fn main() -> ExitCode {
    Arguments::parse();
    mcp_kit::serve(mcp_planning::definition())
}

//! Launch specification: everything that the files and the command line of an agent depend on.

use std::path::Path;

use uuid::Uuid;

use super::environment::Environment;
use super::hooks::HookName;
use super::permissions::PermissionOptions;
use crate::model::{InstanceKind as Role, SessionMode};

/// All that a launch depends on.
#[derive(Debug, Clone)]
pub struct LaunchSpec<'a> {
    pub role: Role,
    pub instance: &'a str,
    pub program: Program<'a>,
    pub session: Session,
    pub session_mode: SessionMode,
    /// Absolute. Not in the worktree: nothing here is to be committed.
    pub directory: &'a Path,
    pub worktree: &'a Path,
    /// The role's instructions, rendered.
    pub instructions: &'a str,
    /// What to do, the first message; empty: none.
    pub task: &'a str,
    /// The agent's own MCP server.
    pub server: &'a Path,
    pub server_environment: &'a Environment,
    /// The program that answers hooks (`<program> hook <Event>`).
    pub hook_program: &'a Path,
    /// More variables for the agent, such as `CODEX_STATE_DIR`.
    pub own_environment: &'a Environment,
}

/// What to start.
#[derive(Debug, Clone)]
pub enum Program<'a> {
    Claude(ClaudeOptions<'a>),
    /// Shell words from the configuration.
    Other {
        command: &'a str,
    },
}

#[derive(Debug, Clone)]
pub struct ClaudeOptions<'a> {
    pub program: &'a Path,
    pub model: Option<&'a str>,
    /// Leaves out the user's other MCP servers.
    pub strict_mcp: bool,
    /// Lets the agent use the servers of the repository's `.mcp.json`; else they are left out unasked.
    pub project_servers: bool,
    pub permissions: &'a PermissionOptions,
    pub hooks: &'a [HookName],
}

/// A Claude Code session to begin, or to take up again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Session {
    New(Uuid),
    Resume(Uuid),
}

//! Kinds of agents: coding, review and planning, and the MCP server of each.

use crate::closed_enum;

closed_enum!(
    /// What an agent is for.
    InstanceKind, "kind of agent" {
        Coding = "coding",
        Review = "review",
        Planning = "planning",
    }
);

impl InstanceKind {
    /// Returns the name of the MCP server that agents of this kind speak to.
    pub const fn server_name(self) -> &'static str {
        match self {
            Self::Coding => "mcp-coding",
            Self::Review => "mcp-review",
            Self::Planning => "mcp-planning",
        }
    }

    /// Returns the name under which that server is registered in Claude Code.
    pub const fn registered_name(self) -> &'static str {
        match self {
            Self::Coding => "codex-coding",
            Self::Review => "codex-review",
            Self::Planning => "codex-planning",
        }
    }
}

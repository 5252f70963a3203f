//! One agent at work.

use std::path::PathBuf;

use serde::Serialize;

use super::{InstanceId, Status, TaskId};
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

closed_enum!(
    /// How an instance came to be.
    Origin, "origin" {
        /// We made its worktree, session and process.
        Launched = "launched",
        /// A person's own session called a tool.
        Adopted = "adopted",
    }
);

closed_enum!(
    /// The steps of a launch, in order. Each is recorded before it is taken.
    LaunchStep, "launch step" {
        Row = "row",
        Worktree = "worktree",
        Files = "files",
        Session = "session",
        Ready = "ready",
    }
);

/// One agent at work, or that was. Its JSON is what `--json` prints.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Instance {
    pub id: InstanceId,
    #[serde(rename = "type")]
    pub kind: InstanceKind,
    pub status: Status,
    #[serde(skip)]
    pub status_before: Option<Status>,
    pub origin: Origin,
    pub repository: PathBuf,
    pub worktree_path: PathBuf,
    pub branch_name: Option<String>,
    pub base_branch: String,
    #[serde(skip)]
    pub base_commit: Option<String>,
    pub tmux_session: Option<String>,
    /// The socket of the tmux server that has its session; `None` in rows of older releases.
    #[serde(skip)]
    pub tmux_socket: Option<String>,
    #[serde(skip)]
    pub tmux_pane: Option<String>,
    /// A random mark of its last start, which its session and its processes carry.
    #[serde(skip)]
    pub launch_id: Option<String>,
    /// The process in the pane that was made for it; for adopted sessions: the Claude Code that started the server.
    #[serde(skip)]
    pub agent: Option<ProcessMark>,
    /// When it was last started, by a clock that can't be set.
    #[serde(skip)]
    pub started: Option<BootTime>,
    pub claude_session_id: Option<String>,
    pub issue_number: Option<u64>,
    pub task_id: Option<TaskId>,
    pub parent_instance_id: Option<InstanceId>,
    pub prompt: String,
    pub require_review: bool,
    pub max_reviews: u32,
    pub pr_number: Option<u64>,
    pub pr_url: Option<String>,
    #[serde(skip)]
    pub launch_step: LaunchStep,
    #[serde(skip)]
    pub owner: Option<ProcessMark>,
    #[serde(skip)]
    pub server: Option<ProcessMark>,
    pub note: Option<String>,
    pub created_at: String,
    pub last_activity: String,
    pub status_since: String,
    pub completed_at: Option<String>,
}

/// A process, told apart from a later one with the same number by when it began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessMark {
    pub pid: u32,
    pub started: String,
}

/// A reading of a clock that can't be set and stands still while the machine sleeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BootTime {
    /// The boot that the clock counts from.
    pub boot: String,
    pub seconds: i64,
}

impl BootTime {
    /// Returns the seconds from an earlier reading to this one, if they are of the same boot.
    pub fn since(&self, earlier: &Self) -> Option<i64> {
        (self.boot == earlier.boot).then(|| self.seconds.saturating_sub(earlier.seconds))
    }
}

//! Instances: one agent, running or ended, as a row of `instances`.

use std::path::PathBuf;

use serde::Serialize;

use super::{InstanceId, InstanceKind, Note, Status, TaskId, Timestamp};
use crate::closed_enum;

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
    /// How an agent takes its turns.
    SessionMode, "session mode" {
        /// In a terminal, at whose prompt a person can type.
        Interactive = "interactive",
        /// One process for each turn (`claude -p`), with the prompt as its standard input: agents of TDD runs.
        Headless = "headless",
    }
);

closed_enum!(
    /// How an agent's request to do something beyond its permission rules is answered.
    #[derive(Default)]
    PermissionMode, "permission mode" {
        /// Claude Code's dialog opens and waits for a person.
        #[default]
        Practical = "practical",
        /// It is refused, and the agent goes on without.
        DontAsk = "dontAsk",
        /// Everything is allowed. Claude Code refuses this to root.
        Bypass = "bypass",
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
    #[serde(skip)]
    pub session_mode: SessionMode,
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
    pub note: Note,
    pub created_at: Timestamp,
    pub last_activity: Timestamp,
    pub status_since: Timestamp,
    pub completed_at: Option<Timestamp>,
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

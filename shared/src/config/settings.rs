//! Every setting, its type and its default. A key that is not here does not exist.

use serde::{Deserialize, Serialize};

use crate::model::{PermissionMode, Price, closed_enum};

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct Settings {
    pub coding: CodingSettings,
    pub review: ReviewSettings,
    pub planning: PlanningSettings,
    pub resources: ResourceSettings,
    pub agent: AgentSettings,
    pub forge: ForgeSettings,
    pub tmux: TmuxSettings,
    pub dashboard: DashboardSettings,
    pub notify: NotifySettings,
    pub retention: RetentionSettings,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct CodingSettings {
    /// Whether a coder must be reviewed before it may make a pull request.
    pub require_review: bool,
    /// What branch names begin with.
    pub branch_prefix: String,
}

impl Default for CodingSettings {
    fn default() -> Self {
        Self {
            require_review: false,
            branch_prefix: "codex/".to_owned(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct ReviewSettings {
    /// How many rounds a coder gets.
    pub max_review_cycles: u32,
    /// Minutes after which a reviewer without a verdict is given up.
    pub timeout_minutes: u64,
    /// Whether commits that a reviewer made reach the coder.
    pub preserve_changes: bool,
    /// Whether a reviewer may edit files.
    pub may_edit: bool,
}

impl Default for ReviewSettings {
    fn default() -> Self {
        Self {
            max_review_cycles: 3,
            timeout_minutes: 60,
            preserve_changes: true,
            may_edit: false,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct PlanningSettings {
    /// Whether `create_task` also opens an issue when not told.
    pub create_issues: bool,
    /// How many issues one planner may open.
    pub max_issues_per_plan: u32,
    /// What an issue says; {{description}}, {{priority}} and {{estimate}} are filled in.
    pub issue_template: String,
}

impl Default for PlanningSettings {
    fn default() -> Self {
        Self {
            create_issues: false,
            max_issues_per_plan: 20,
            issue_template: "{{description}}\n\nPriority: {{priority}}. Estimate: {{estimate}}.\n"
                .to_owned(),
        }
    }
}

closed_enum!(
    /// When the worktree of an ended agent is removed.
    Cleanup, "cleanup policy" {
        /// As soon as it has ended and nothing would be lost.
        Auto = "auto",
        /// Only by `claude-codex clean`.
        Manual = "manual",
        /// By any command, `cleanupAfterHours` after it ended.
        Scheduled = "scheduled",
    }
);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct ResourceSettings {
    /// How many agents may be at work at once.
    pub max_concurrent_instances: u32,
    /// Hours after which an agent is ended.
    pub execution_timeout_hours: u64,
    pub cleanup: Cleanup,
    pub cleanup_after_hours: u64,
    /// Folder for worktrees; relative to the repository's parent. Empty: `.codex-worktrees`.
    pub worktree_root: String,
}

impl Default for ResourceSettings {
    fn default() -> Self {
        Self {
            max_concurrent_instances: 10,
            execution_timeout_hours: 24,
            cleanup: Cleanup::Auto,
            cleanup_after_hours: 24,
            worktree_root: ".codex-worktrees".to_owned(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct AgentSettings {
    /// Another agent program, as shell words; empty: Claude Code.
    pub command: String,
    /// The claude binary; empty: the one on PATH.
    pub claude: String,
    /// Model name handed to Claude Code; empty: its own default.
    pub model: String,
    pub coding_permissions: PermissionMode,
    pub review_permissions: PermissionMode,
    pub planning_permissions: PermissionMode,
    /// Permission rules added to every agent's list, such as `Bash(docker compose:*)`.
    pub allow: Vec<String>,
    /// Permission rules that no agent gets past.
    pub deny: Vec<String>,
    /// Prices for cost estimates, before those that are built in: a model (or how its name begins), then dollars per million
    /// tokens of input and output, and optionally of cache writes (5 minutes, 1 hour) and reads.
    pub prices: Vec<Price>,
    /// Seconds that a launch waits for an agent to report that it is up; one that ends in this time has failed.
    /// 0: does not wait.
    pub start_timeout_seconds: u64,
}

impl Default for AgentSettings {
    fn default() -> Self {
        Self {
            command: String::new(),
            claude: String::new(),
            model: String::new(),
            coding_permissions: PermissionMode::Practical,
            review_permissions: PermissionMode::Practical,
            planning_permissions: PermissionMode::Practical,
            allow: Vec::new(),
            deny: Vec::new(),
            prices: Vec::new(),
            start_timeout_seconds: 3,
        }
    }
}

closed_enum!(
    /// Where pull requests and issues live.
    ForgeKind, "forge" {
        /// GitHub when origin is there and a token is at hand, else local.
        Auto = "auto",
        Github = "github",
        Local = "local",
    }
);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct ForgeSettings {
    pub kind: ForgeKind,
    /// The remote that is pushed to.
    pub remote: String,
}

impl Default for ForgeSettings {
    fn default() -> Self {
        Self {
            kind: ForgeKind::Auto,
            remote: "origin".to_owned(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct TmuxSettings {
    /// Name of the private socket (`tmux -L`).
    pub socket: String,
}

impl Default for TmuxSettings {
    fn default() -> Self {
        Self {
            socket: "claude-codex".to_owned(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct DashboardSettings {
    /// Port that it listens on; 0: any that is free.
    pub port: u16,
    /// Seconds between two looks at pull requests, those on GitHub too, while it is up; 0: never.
    pub sync_seconds: u64,
    /// File with the secret of the GitHub webhook; empty: webhooks are not taken.
    pub webhook_secret_file: String,
}

impl Default for DashboardSettings {
    fn default() -> Self {
        Self {
            port: 4620,
            sync_seconds: 60,
            webhook_secret_file: String::new(),
        }
    }
}

/// How a person hears, outside the page, that an agent needs them. Only their own settings count, never a repository's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct NotifySettings {
    /// Program and arguments, run for each event, which it reads as JSON on standard input; empty: none.
    pub command: Vec<String>,
    /// URL to which each event is posted as JSON; empty: none.
    pub webhook: String,
    /// Whether terminals that are attached to agents show a line.
    pub tmux: bool,
    /// Whether `list --watch` rings the terminal's bell.
    pub bell: bool,
}

impl NotifySettings {
    /// Tells whether anything is to be sent.
    pub fn is_wanted(&self) -> bool {
        !self.command.is_empty() || !self.webhook.is_empty() || self.tmux
    }
}

impl Default for NotifySettings {
    fn default() -> Self {
        Self {
            command: Vec::new(),
            webhook: String::new(),
            tmux: false,
            bell: true,
        }
    }
}

/// How long records are kept. Only what no living agent, open pull request or open task needs is ever deleted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct RetentionSettings {
    /// Days that the record of calls is kept; 0: for ever.
    pub event_days: u32,
    /// How many calls are kept on record at most; 0: any number.
    pub max_events: u32,
    /// Days that delivered messages, last screens, turns of TDD runs and answers from GitHub are kept; 0: for ever.
    pub message_days: u32,
    /// Days that logs, turn records, agent files and snapshots of ended agents are kept; 0: for ever.
    pub file_days: u32,
    /// Megabytes that those may take together, the oldest go first; 0: any number.
    pub max_file_megabytes: u32,
    /// Days after its end that a pull request's own reference is kept; 0: for ever.
    pub ref_days: u32,
}

impl Default for RetentionSettings {
    fn default() -> Self {
        Self {
            event_days: 90,
            max_events: 200_000,
            message_days: 90,
            file_days: 30,
            max_file_megabytes: 2_000,
            ref_days: 90,
        }
    }
}

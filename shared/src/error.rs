//! The boundary error: a stable code, a message, a hint and details.
//!
//! It stands between the primitives and `workflow`: it imports the primitives' own error enums, and its `From` impls are the
//! one place that decides their code and hint. No primitive imports it. Tools reply `{code, message, hint, details}`, and the
//! command line prints the same. docs/errors.md explains every code.

mod forge;
mod git;
mod way_on;

use serde::Serialize;
use serde_json::{Value, json};

use crate::agent::AgentError;
use crate::config::ConfigError;
use crate::model::closed_enum;
use crate::model::secrets::{value_without_secrets, without_secrets};
use crate::model::{IllegalTransition, Instance, InstanceId, InvalidId, PullState};
use crate::store::StoreError;
use crate::tmux::TmuxError;

pub(crate) use self::way_on::way_on;

closed_enum!(
    /// What kind of failure it is. Codes are stable: scripts and agents match on them.
    Code, "error code" {
        ConfigInvalid = "CONFIG_INVALID",
        DatabaseBusy = "DATABASE_BUSY",
        DatabaseCorrupt = "DATABASE_CORRUPT",
        DatabaseMoved = "DATABASE_MOVED",
        DatabaseNewer = "DATABASE_NEWER",
        DatabaseUnavailable = "DATABASE_UNAVAILABLE",
        DatabaseReadOnly = "DATABASE_READ_ONLY",
        DiskFull = "DISK_FULL",
        AgentFailed = "AGENT_FAILED",
        AmbiguousId = "AMBIGUOUS_ID",
        AnotherSession = "ANOTHER_SESSION",
        AnalysisNotFound = "ANALYSIS_NOT_FOUND",
        BranchExists = "BRANCH_EXISTS",
        BranchInUse = "BRANCH_IN_USE",
        BranchMerged = "BRANCH_MERGED",
        BranchNotFound = "BRANCH_NOT_FOUND",
        ClaudeMissing = "CLAUDE_MISSING",
        ClaudeTooOld = "CLAUDE_TOO_OLD",
        GitFailed = "GIT_FAILED",
        GitMissing = "GIT_MISSING",
        GitTooOld = "GIT_TOO_OLD",
        AddressInUse = "ADDRESS_IN_USE",
        ControlTaken = "CONTROL_TAKEN",
        DialogChanged = "DIALOG_CHANGED",
        Forbidden = "FORBIDDEN",
        MethodNotAllowed = "METHOD_NOT_ALLOWED",
        NotFound = "NOT_FOUND",
        ReadOnly = "READ_ONLY",
        TokenRequired = "TOKEN_REQUIRED",
        IllegalState = "ILLEGAL_STATE",
        InstanceNotFound = "INSTANCE_NOT_FOUND",
        Internal = "INTERNAL",
        InvalidArguments = "INVALID_ARGUMENTS",
        IssueLimitReached = "ISSUE_LIMIT_REACHED",
        Cancelled = "CANCELLED",
        ForgeForbidden = "FORGE_FORBIDDEN",
        ForgeInvalid = "FORGE_INVALID",
        ForgeNotConfigured = "FORGE_NOT_CONFIGURED",
        ForgeNotFound = "FORGE_NOT_FOUND",
        ForgeRateLimited = "FORGE_RATE_LIMITED",
        ForgeUnauthorized = "FORGE_UNAUTHORIZED",
        ForgeUnavailable = "FORGE_UNAVAILABLE",
        ForgeUncertain = "FORGE_UNCERTAIN",
        BaseNotFound = "BASE_NOT_FOUND",
        BranchProtected = "BRANCH_PROTECTED",
        HeadNotFound = "HEAD_NOT_FOUND",
        MergeConflict = "MERGE_CONFLICT",
        NotMergeable = "NOT_MERGEABLE",
        NothingToPublish = "NOTHING_TO_PUBLISH",
        PullRequestExists = "PULL_REQUEST_EXISTS",
        InstanceLimitReached = "INSTANCE_LIMIT_REACHED",
        NoBranch = "NO_BRANCH",
        NotARepository = "NOT_A_REPOSITORY",
        NotAvailable = "NOT_AVAILABLE",
        ReviewPending = "REVIEW_PENDING",
        AgentEnded = "AGENT_ENDED",
        NothingToReview = "NOTHING_TO_REVIEW",
        PullRequestNotFound = "PULL_REQUEST_NOT_FOUND",
        PullRequestNotOpen = "PULL_REQUEST_NOT_OPEN",
        PullRequestOutdated = "PULL_REQUEST_OUTDATED",
        PushDeclinedByHook = "PUSH_DECLINED_BY_HOOK",
        PushForbidden = "PUSH_FORBIDDEN",
        PushNotFastForward = "PUSH_NOT_FAST_FORWARD",
        PushProtected = "PUSH_PROTECTED",
        PushRejected = "PUSH_REJECTED",
        PushUnauthorized = "PUSH_UNAUTHORIZED",
        RemoteNotFound = "REMOTE_NOT_FOUND",
        RemoteUnreachable = "REMOTE_UNREACHABLE",
        ReviewDecided = "REVIEW_DECIDED",
        ReviewLimitReached = "REVIEW_LIMIT_REACHED",
        ReviewOutdated = "REVIEW_OUTDATED",
        ReviewRequired = "REVIEW_REQUIRED",
        RepositoryUntrusted = "REPOSITORY_UNTRUSTED",
        RepositoryEmpty = "REPOSITORY_EMPTY",
        RepositoryNotFound = "REPOSITORY_NOT_FOUND",
        ServerMissing = "SERVER_MISSING",
        TaskNotFound = "TASK_NOT_FOUND",
        TaskNotReady = "TASK_NOT_READY",
        TddRunNotFound = "TDD_RUN_NOT_FOUND",
        TmuxFailed = "TMUX_FAILED",
        TmuxMissing = "TMUX_MISSING",
        TmuxSessionNotFound = "TMUX_SESSION_NOT_FOUND",
        TmuxTooOld = "TMUX_TOO_OLD",
        WorktreeDirty = "WORKTREE_DIRTY",
        WorktreePathTaken = "WORKTREE_PATH_TAKEN",
    }
);

/// A failure, ready to be shown.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    pub code: Code,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Box<Value>>,
}

impl Error {
    /// Takes out what is a secret of the environment.
    #[must_use]
    pub fn without_secrets(mut self) -> Self {
        self.message = without_secrets(&self.message).into_owned();
        self.hint = self.hint.map(|hint| without_secrets(&hint).into_owned());
        self.details = self
            .details
            .map(|details| Box::new(value_without_secrets(*details)));
        self
    }

    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hint: None,
            details: None,
        }
    }

    /// Says what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    fn maybe_hint(self, hint: &str) -> Self {
        if hint.is_empty() {
            self
        } else {
            self.hint(hint)
        }
    }

    /// Adds data for machines.
    #[must_use]
    pub fn details(mut self, details: Value) -> Self {
        self.details = Some(Box::new(details));
        self
    }

    /// Says that an argument can't be used, and why.
    pub fn argument(name: &str, problem: impl std::fmt::Display) -> Self {
        Self::new(Code::InvalidArguments, format!("`{name}` {problem}"))
            .details(json!({ "argument": name }))
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        let message = error.to_string();
        match error {
            StoreError::Corrupt { .. } | StoreError::Damaged { .. } | StoreError::Emptied { .. } | StoreError::LogAlone { .. } => {
                Self::new(Code::DatabaseCorrupt, message).hint(
                    "`claude-codex restore FILE` puts a backup in its place, `claude-codex restore --empty` a new database; both keep what is there under another name. `claude-codex doctor` names the file.",
                )
            }
            StoreError::Foreign => Self::new(Code::DatabaseCorrupt, message)
                .hint("Name another file in CODEX_DB, or another folder in CODEX_STATE_DIR. `claude-codex doctor` names the file."),
            StoreError::BadBackup { .. } => Self::new(Code::DatabaseCorrupt, message)
                .hint("Choose another backup; nothing was changed."),
            StoreError::NotAFile { .. } => Self::new(Code::DatabaseUnavailable, message)
                .hint("Move the folder away, or name a file in CODEX_DB."),
            StoreError::Exists { .. } => Self::new(Code::InvalidArguments, message)
                .hint("Name another file, or replace it with --force; nothing was changed."),
            StoreError::InUse { .. } => Self::new(Code::InvalidArguments, message)
                .hint("Name another file; nothing was changed."),
            StoreError::File { .. } => Self::new(Code::DatabaseUnavailable, message)
                .hint("Check that the folder can be written and has space; the database is as it was."),
            StoreError::TooNew { .. } => Self::new(Code::DatabaseNewer, message).hint(
                "Update Claude Codex: a newer version of it has used this database. Or give this version a database of its own: name it in CODEX_DB, or `claude-codex restore FILE` with a backup from before; that keeps the newer one under another name.",
            ),
            StoreError::ReadOnly { .. } => Self::new(Code::DatabaseReadOnly, message).hint(
                "Make the state folder and the files in it writable for this user, or set CODEX_STATE_DIR to one that is.",
            ),
            StoreError::Full { .. } => {
                Self::new(Code::DiskFull, message).hint("Free some space, then call again; nothing was changed.")
            }
            StoreError::Busy { .. } => Self::new(Code::DatabaseBusy, message)
                .hint("Call again in a moment; nothing was changed."),
            StoreError::Moved => Self::new(Code::DatabaseMoved, message)
                .hint("Call again: the database that has the name now is opened. What only the old file held is not in it."),
            StoreError::Folder { .. } | StoreError::CannotOpen { .. } => {
                Self::new(Code::DatabaseUnavailable, message)
                    .hint("Make the state folder and the database in it readable and writable for this user, or set CODEX_STATE_DIR to a folder that can be made and written.")
            }
            StoreError::Io { .. } => Self::new(Code::DatabaseUnavailable, message)
                .hint("Check the quota and the file system of the state folder, then call again; nothing was changed."),
            StoreError::Sql { .. } | StoreError::ShuttingDown | StoreError::Thread { .. } | StoreError::IdTaken { .. } => {
                Self::new(Code::Internal, message)
            }
            StoreError::Illegal { illegal, instance } => Self::illegal(&illegal, &instance),
            StoreError::StatusChanged { .. } => Self::new(Code::IllegalState, message)
                .hint("Somebody else was faster. Look at what it is now, and call again if it is still wanted."),
            StoreError::InstanceNotFound { .. } => Self::new(Code::InstanceNotFound, message)
                .hint("`claude-codex list --all` shows every instance."),
            StoreError::TddRunNotFound { .. } => Self::new(Code::TddRunNotFound, message)
                .hint("`claude-codex tdd list` shows every run."),
            StoreError::TaskNotFound { .. } => Self::new(Code::TaskNotFound, message).hint(
                "Read the resource codex://tasks, or run `claude-codex tasks`, for the tasks that exist.",
            ),
            StoreError::TaskNotReady { .. } => Self::new(Code::TaskNotReady, message)
                .hint("`claude-codex tasks --ready` lists what can be started."),
            StoreError::TooManyInstances { .. } => Self::new(Code::InstanceLimitReached, message)
                .hint("`claude-codex list` shows them: stop one, or raise resources.maxConcurrentInstances."),
            StoreError::ReviewPending { .. } => Self::new(Code::ReviewPending, message)
                .hint("Wait for its verdict; it arrives by itself."),
            StoreError::NothingPending { .. } => {
                Self::argument("feedback", "is empty, and no comments are pending")
                    .hint("Say what is to be changed.")
            }
            StoreError::PullRequestNotFound { .. } => Self::new(Code::PullRequestNotFound, message)
                .hint("`claude-codex pr list --state all` shows those that there are."),
            StoreError::PullRequestState { number, state } => {
                Self::new(Code::PullRequestNotOpen, message)
                    .hint(match state {
                        PullState::Open => "Nothing was changed.".to_owned(),
                        PullState::Closed => format!("`claude-codex pr reopen {number}` opens it again."),
                        PullState::Merged => "Nothing was changed. What is merged stays so.".to_owned(),
                    })
                    .details(json!({ "state": state }))
            }
            StoreError::PullRequestMerging { .. } => Self::new(Code::PullRequestNotOpen, message)
                .hint("Call again in a moment: what is new then becomes a pull request of its own."),
            StoreError::PullRequestOpen { .. } => Self::new(Code::PullRequestExists, message)
                .hint("Close that one first; a branch has one open pull request."),
        }
    }
}

impl Error {
    /// Refuses a move that an agent's status does not have, and says how it goes on from there.
    pub(crate) fn illegal(illegal: &IllegalTransition, instance: &Instance) -> Self {
        Self::new(Code::IllegalState, illegal.to_string())
            .hint(way_on(instance))
            .details(json!({ "status": illegal.status }))
    }
}

impl From<InvalidId> for Error {
    fn from(error: InvalidId) -> Self {
        Self::new(Code::InvalidArguments, error.to_string())
    }
}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        let hint = error.hint();
        let error = Self::new(Code::ConfigInvalid, error.to_string());
        match hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }
}

impl From<TmuxError> for Error {
    fn from(error: TmuxError) -> Self {
        let message = error.to_string();
        // The session of an agent has its id; another is a person's.
        if let TmuxError::SessionMissing { session } = &error
            && session.parse::<InstanceId>().is_ok()
        {
            return Self::new(Code::TmuxSessionNotFound, message).hint(format!(
                "Its session has ended. `claude-codex show {session}` says what became of it."
            ));
        }
        let (code, hint) = match &error {
            TmuxError::NotInstalled { .. } => (
                Code::TmuxMissing,
                "Install tmux, for instance with `apt install tmux` or `brew install tmux`.",
            ),
            TmuxError::TooOld { .. } => (Code::TmuxTooOld, "Update tmux."),
            TmuxError::SessionMissing { .. } => {
                (Code::TmuxSessionNotFound, "Its session has ended.")
            }
            TmuxError::SessionExists { .. } => (
                Code::TmuxFailed,
                "`claude-codex doctor` names sessions that belong to no agent.",
            ),
            TmuxError::InvalidName { .. }
            | TmuxError::EmptyCommand
            | TmuxError::InvalidVariable { .. }
            | TmuxError::CommandTooLong { .. }
            | TmuxError::InvalidDirectory { .. }
            | TmuxError::EmptyText
            | TmuxError::UnsafeText { .. }
            | TmuxError::UnsafeLogPath { .. }
            | TmuxError::Write { .. }
            | TmuxError::ServerLost { .. }
            | TmuxError::Failed { .. }
            | TmuxError::UnexpectedOutput { .. }
            | TmuxError::Process { .. } => (Code::TmuxFailed, ""),
        };
        Self::new(code, message).maybe_hint(hint)
    }
}

impl From<AgentError> for Error {
    fn from(error: AgentError) -> Self {
        let message = error.to_string();
        let (code, hint) = match &error {
            AgentError::ClaudeMissing | AgentError::NotExecutable { .. } => (
                Code::ClaudeMissing,
                "Install Claude Code (`npm install -g @anthropic-ai/claude-code`), or name it in CODEX_CLAUDE.",
            ),
            AgentError::TooOld { .. } => (
                Code::ClaudeTooOld,
                "Update it (`claude update`), or name another one in CODEX_CLAUDE.",
            ),
            AgentError::BypassAsRoot => (
                Code::ConfigInvalid,
                "Run as another user, or choose another permission mode.",
            ),
            AgentError::CommandWords { .. } | AgentError::CommandEmpty => (
                Code::ConfigInvalid,
                "Correct agent.command or CODEX_AGENT_COMMAND.",
            ),
            AgentError::CommandMissing { .. } => (
                Code::AgentFailed,
                "Install it, or correct agent.command or CODEX_AGENT_COMMAND; without them Claude Code is started.",
            ),
            AgentError::CommandNotExecutable { .. } => (
                Code::AgentFailed,
                "Make it executable (`chmod +x`), or correct agent.command or CODEX_AGENT_COMMAND; without them Claude Code is started.",
            ),
            AgentError::UnknownPlaceholder { .. } | AgentError::OpenPlaceholder { .. } => (
                Code::ConfigInvalid,
                "Correct the template in .claude-codex/prompts/.",
            ),
            AgentError::Corrupt { .. } | AgentError::Shape { .. } => (
                Code::AgentFailed,
                "Repair the file by hand; Claude Code itself cannot use it as it is.",
            ),
            AgentError::Write { .. }
            | AgentError::Read { .. }
            | AgentError::NotUtf8 { .. }
            | AgentError::NotAbsolute { .. }
            | AgentError::Process(_)
            | AgentError::UnknownVersion { .. } => (Code::AgentFailed, ""),
        };
        Self::new(code, message).maybe_hint(hint)
    }
}

//! Store errors, by what a person can do about them.

use std::path::{Path, PathBuf};

use rusqlite::{ErrorCode, ffi};

use crate::model::{IllegalTransition, Instance, InstanceId, PullState, TaskId, TaskStatus};

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("cannot prepare the folder {path}: {source}")]
    Folder {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("the file is not a Claude Codex database, or it is damaged: {source}")]
    Corrupt { source: rusqlite::Error },
    #[error("the database cannot be written: {source}")]
    ReadOnly { source: rusqlite::Error },
    #[error("the disk is full: {source}")]
    Full { source: rusqlite::Error },
    #[error("another process kept the database locked for too long: {source}")]
    Busy { source: rusqlite::Error },
    #[error("the database cannot be opened: {source}")]
    CannotOpen { source: rusqlite::Error },
    #[error("the database cannot be read or written: {source}")]
    Io { source: rusqlite::Error },
    #[error("the database is damaged: {}", problems.join("; "))]
    Damaged { problems: Vec<String> },
    #[error("the database {path} is empty: something has emptied it")]
    Emptied { path: PathBuf },
    #[error("the database {path} is missing, but its log is there")]
    LogAlone { path: PathBuf },
    #[error("{path} is a folder, and should be the database")]
    NotAFile { path: PathBuf },
    #[error("the file is a database of another program")]
    Foreign,
    #[error("{path} is no backup that can be restored: {problem}")]
    BadBackup { path: PathBuf, problem: String },
    #[error("{path} exists already")]
    Exists { path: PathBuf },
    #[error("{path} belongs to the database that is in use")]
    InUse { path: PathBuf },
    #[error("cannot {action} {path}: {source}")]
    File {
        action: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("the database has version {found}, this program knows versions up to {supported}")]
    TooNew { found: i64, supported: i64 },
    #[error("the database failed: {source}")]
    Sql { source: rusqlite::Error },
    #[error(
        "the database file was deleted or replaced while the change was being made; nothing was written"
    )]
    Moved,
    #[error("the process is shutting down")]
    ShuttingDown,
    #[error("cannot start a thread for the database: {source}")]
    Thread { source: std::io::Error },

    #[error("{illegal}")]
    Illegal {
        illegal: IllegalTransition,
        instance: Box<Instance>,
    },
    #[error("`{id}` is no longer {expected}; nothing was changed")]
    StatusChanged { id: String, expected: String },
    #[error("there is no instance `{id}`")]
    InstanceNotFound { id: InstanceId },
    #[error("there is no TDD run `{id}`")]
    TddRunNotFound { id: InstanceId },
    #[error("there is no task `{id}` in this repository")]
    TaskNotFound { id: TaskId },
    #[error("task `{id}` can't be started: it is {status}, or waits for tasks that are not done")]
    TaskNotReady { id: TaskId, status: TaskStatus },
    #[error("`{id}` is taken")]
    IdTaken { id: InstanceId },
    #[error("{live} agents are at work, and the limit is {limit}")]
    TooManyInstances { live: u32, limit: u32 },
    #[error("a review of `{coder}` is under way already")]
    ReviewPending { coder: InstanceId },
    #[error("no comments on the work of `{coder}` are pending")]
    NothingPending { coder: InstanceId },
    #[error("there is no pull request {number} in this repository")]
    PullRequestNotFound { number: u64 },
    #[error("pull request {number} is {state}")]
    PullRequestState { number: u64, state: PullState },
    #[error("pull request {number} is open for the same branch")]
    PullRequestOpen { number: u64 },
    #[error("pull request {number} is just being merged")]
    PullRequestMerging { number: u64 },
}

impl StoreError {
    /// Says which file something could not be done with.
    pub(super) fn file(action: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self::File {
            action,
            path: path.to_owned(),
            source,
        }
    }

    /// Returns what the library said, if it is at the bottom of this.
    pub(super) fn sqlite(&self) -> Option<ffi::Error> {
        match self {
            Self::Corrupt { source }
            | Self::ReadOnly { source }
            | Self::Full { source }
            | Self::Busy { source }
            | Self::CannotOpen { source }
            | Self::Io { source }
            | Self::Sql { source } => source.sqlite_error().copied(),
            Self::Folder { .. }
            | Self::Damaged { .. }
            | Self::Emptied { .. }
            | Self::LogAlone { .. }
            | Self::NotAFile { .. }
            | Self::Foreign
            | Self::BadBackup { .. }
            | Self::Exists { .. }
            | Self::InUse { .. }
            | Self::File { .. }
            | Self::TooNew { .. }
            | Self::Moved
            | Self::ShuttingDown
            | Self::Thread { .. }
            | Self::Illegal { .. }
            | Self::StatusChanged { .. }
            | Self::InstanceNotFound { .. }
            | Self::TddRunNotFound { .. }
            | Self::TaskNotFound { .. }
            | Self::TaskNotReady { .. }
            | Self::IdTaken { .. }
            | Self::TooManyInstances { .. }
            | Self::ReviewPending { .. }
            | Self::NothingPending { .. }
            | Self::PullRequestNotFound { .. }
            | Self::PullRequestState { .. }
            | Self::PullRequestOpen { .. }
            | Self::PullRequestMerging { .. } => None,
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(source: rusqlite::Error) -> Self {
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Corrupt { source },
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Self::ReadOnly { source },
            Some(ErrorCode::DiskFull) => Self::Full { source },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { source },
            Some(ErrorCode::CannotOpen) => Self::CannotOpen { source },
            Some(ErrorCode::SystemIoFailure) => Self::Io { source },
            _ => Self::Sql { source },
        }
    }
}

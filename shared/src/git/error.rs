//! `GitError`: how git fails, in kinds that a caller can act on.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::oid::Oid;
use super::version::Version;
use crate::process::ProcessError;

#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("{} is not inside a git repository", path.display())]
    NotARepository { path: PathBuf },
    #[error(
        "git refuses {}: it belongs to another user (see safe.directory in git's documentation)",
        path.display()
    )]
    DubiousOwnership { path: PathBuf },
    #[error("{} is a repository among the files of another one", path.display())]
    AmongFiles { path: PathBuf },
    #[error("git {found} is too old, {minimum} or newer is needed")]
    TooOld { found: Version, minimum: Version },
    #[error("the repository at {} has no commits yet", path.display())]
    EmptyRepository { path: PathBuf },
    #[error("there is no commit `{revision}`")]
    RevisionNotFound { revision: String },
    #[error("`{name}` is not a valid {kind} name")]
    InvalidName { kind: NameKind, name: String },
    #[error("`{base}` and `{head}` have no common history")]
    NoCommonHistory { base: Oid, head: Oid },
    #[error("a branch named `{name}` already exists")]
    BranchExists { name: String },
    #[error("there is no branch `{name}`")]
    BranchNotFound { name: String },
    #[error("branch `{name}` is checked out at {}", at.display())]
    BranchCheckedOut { name: String, at: PathBuf },
    #[error("branch `{name}` can't be moved: {use_of} {}", at.display())]
    BranchInUse {
        name: String,
        use_of: BranchUse,
        at: PathBuf,
    },
    #[error("branch `{name}` is at {actual}, not at {expected}")]
    BranchMoved {
        name: String,
        expected: Oid,
        actual: Oid,
    },
    #[error("{} already exists", path.display())]
    PathTaken { path: PathBuf },
    #[error("{} cannot be the path of a worktree: it must be absolute and not end in white space", path.display())]
    InvalidPath { path: PathBuf },
    #[error("{} is not a linked worktree of this repository", path.display())]
    NotALinkedWorktree { path: PathBuf },
    #[error("worktree {} is locked: {reason}", path.display())]
    WorktreeLocked { path: PathBuf, reason: String },
    #[error("worktree {} has changes that are not committed", path.display())]
    WorktreeDirty { path: PathBuf },
    #[error("files that git does not track are in the way in {}: {}", worktree.display(), files.join(", "))]
    FilesInTheWay {
        worktree: PathBuf,
        /// The first of them.
        files: Vec<String>,
    },
    #[error("another process kept {} locked for {} s", path.display(), waited.as_secs())]
    LockTimeout { path: PathBuf, waited: Duration },
    #[error("{cause}; removing the unfinished worktree {} failed too: {undo}", path.display())]
    LeftBehind {
        path: PathBuf,
        cause: Box<GitError>,
        #[source]
        undo: Box<GitError>,
    },
    #[error("the caller gave up before `{operation}` was done")]
    Cancelled { operation: &'static str },
    #[error("the push was rejected ({reason}): {detail}")]
    PushRejected {
        reason: RejectReason,
        detail: String,
    },
    #[error("this account may not push to remote `{remote}`: {detail}")]
    PushForbidden { remote: String, detail: String },
    #[error("the two sides change the same places in {}", files.join(", "))]
    Conflict {
        /// The first of them.
        files: Vec<String>,
    },
    #[error("a rebase of {count} commits is more than the {most} that are possible")]
    TooManyCommits { count: usize, most: usize },
    #[error("a rebase would lose what a merge commit of the branch changed")]
    RebaseLosesMerge,
    #[error("another git is at work in {}: {} exists", worktree.display(), lock.display())]
    IndexLocked { worktree: PathBuf, lock: PathBuf },
    #[error("remote `{remote}` did not accept the credentials: {detail}")]
    AuthenticationFailed { remote: String, detail: String },
    #[error("remote `{remote}` cannot be reached: {detail}")]
    RemoteUnreachable { remote: String, detail: String },
    #[error("there is no remote `{remote}`: {detail}")]
    RemoteNotFound { remote: String, detail: String },
    #[error("`git {operation}` failed{}: {stderr}", status.map(|code| format!(" with status {code}")).unwrap_or_default())]
    Failed {
        operation: &'static str,
        /// None: ended by a signal.
        status: Option<i32>,
        /// Without secrets and control characters, and bounded.
        stderr: String,
    },
    #[error("`git {operation}` answered something unexpected: {}", found.escape_debug())]
    UnexpectedOutput {
        operation: &'static str,
        found: String,
    },
    #[error(transparent)]
    Process { source: ProcessError },
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        action: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("`{operation}` stopped without an answer: {source}")]
    Task {
        operation: &'static str,
        source: tokio::task::JoinError,
    },
}

impl GitError {
    /// Reports output that git should not have given, shortened.
    pub(super) fn unexpected(operation: &'static str, found: &[u8]) -> Self {
        Self::UnexpectedOutput {
            operation,
            found: String::from_utf8_lossy(&found[..found.len().min(200)]).into_owned(),
        }
    }

    /// Names what was done to which file when an I/O error came.
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io {
            action,
            path: path.to_owned(),
            source,
        }
    }
}

/// The kinds of names that git gives rules for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameKind {
    Branch,
    Reference,
    Revision,
    Remote,
    ConfigKey,
    Url,
}

impl std::fmt::Display for NameKind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Branch => "branch",
            Self::Reference => "reference",
            Self::Revision => "revision",
            Self::Remote => "remote",
            Self::ConfigKey => "configuration key",
            Self::Url => "URL",
        })
    }
}

/// What a worktree does with a branch that must not move meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BranchUse {
    /// When that ends, or is given up, git sets the branch to what it was about to be, or had been.
    Rebase,
    /// Its files can't follow.
    OutOfReach,
}

impl std::fmt::Display for BranchUse {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Rebase => "it is being rebased in",
            Self::OutOfReach => "it is checked out in a locked worktree that is not there:",
        })
    }
}

/// Why a remote, or a hook on the way to it, did not take a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RejectReason {
    /// The remote branch has commits that the pushed one lacks.
    NonFastForward,
    /// A hook, here or on the remote, refused.
    Hook,
    /// The branch is protected by a rule of the forge.
    Protected,
    /// A submodule has commits that none of its remotes has, and the person's settings ask for that to be checked.
    Submodule,
    Other,
}

impl std::fmt::Display for RejectReason {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::NonFastForward => "the remote branch has other commits",
            Self::Hook => "a hook declined it",
            Self::Protected => "the branch is protected",
            Self::Submodule => "commits of a submodule are on none of its remotes",
            Self::Other => "the remote declined it",
        })
    }
}

//! Error conversion: codes and hints for failures of git.

use super::{Code, Error};
use crate::git::{BranchUse, GitError, RejectReason};
use crate::process::ProcessError;

impl From<GitError> for Error {
    fn from(error: GitError) -> Self {
        use GitError as G;
        let message = error.to_string();
        let (code, hint) = match &error {
            G::NotARepository { .. } => (
                Code::NotARepository,
                "Go into a git repository, or make one with `git init`.",
            ),
            G::DubiousOwnership { .. } => (
                Code::NotARepository,
                "If you trust it, run `git config --global --add safe.directory PATH`.",
            ),
            G::AmongFiles { .. } => (
                Code::RepositoryUntrusted,
                "A clone can bring such a folder along, with settings and hooks that run programs. If it is yours, work in a worktree of it (`git worktree add`), or move it elsewhere.",
            ),
            G::EmptyRepository { .. } => (
                Code::RepositoryEmpty,
                "Make a first commit: `git commit --allow-empty -m start`.",
            ),
            G::TooOld { .. } => (Code::GitTooOld, "Update git."),
            G::RevisionNotFound { .. } | G::BranchNotFound { .. } => (
                Code::BranchNotFound,
                "`git branch --all` lists what there is; `git fetch` may bring it.",
            ),
            G::InvalidName { .. } => (Code::InvalidArguments, "Choose another name."),
            G::BranchExists { .. } => (
                Code::BranchExists,
                "Choose another name with --branch, or delete the old branch.",
            ),
            G::BranchCheckedOut { .. } => (
                Code::BranchExists,
                "Choose another branch, or leave it in the other worktree first.",
            ),
            G::PathTaken { .. } | G::InvalidPath { .. } => (
                Code::WorktreePathTaken,
                "Move it away, or set resources.worktreeRoot to another folder.",
            ),
            G::NotALinkedWorktree { .. } => (
                Code::WorktreePathTaken,
                "If the repository was moved, `git worktree repair` with that path mends it. Else save what you need from the folder and move it away.",
            ),
            G::WorktreeDirty { .. } => (Code::WorktreeDirty, "Commit or stash the changes first."),
            G::FilesInTheWay { .. } => (
                Code::WorktreeDirty,
                "Nothing was changed. Move them away, then try again.",
            ),
            G::BranchInUse { use_of, .. } => (Code::BranchInUse, how_to_free_branch(*use_of)),
            G::LockTimeout { .. } | G::BranchMoved { .. } => {
                (Code::GitFailed, "Try again in a moment.")
            }
            G::Conflict { .. } => (
                Code::MergeConflict,
                "Nothing was changed. Merge the base branch into the work with `git merge`, resolve the conflict and commit.",
            ),
            G::TooManyCommits { .. } | G::RebaseLosesMerge => (
                Code::GitFailed,
                "Nothing was changed. Merge with `--method merge` or `--method squash` instead.",
            ),
            G::IndexLocked { .. } => (
                Code::GitFailed,
                "Nothing was changed. Try again when it is done; if no git is running there, remove that file.",
            ),
            G::PushRejected { reason, .. } => push_rejected(*reason),
            G::PushForbidden { .. } => (
                Code::PushForbidden,
                "Ask for write access, or use a token with it (`contents: write`). To publish from a fork, add it as a remote and set forge.remote to its name.",
            ),
            G::AuthenticationFailed { .. } => (
                Code::PushUnauthorized,
                "The token or key is missing, wrong or expired: set GITHUB_TOKEN to a valid one, or run `gh auth login`.",
            ),
            G::RemoteUnreachable { .. } => (
                Code::RemoteUnreachable,
                "Check the network and the remote's address (`git remote -v`), then try again.",
            ),
            G::RemoteNotFound { .. } => (
                Code::RemoteNotFound,
                "Check the remote's address (`git remote -v`), that the repository exists, and that this account may see it.",
            ),
            G::Cancelled { .. } => (Code::Cancelled, ""),
            G::Process {
                source: ProcessError::NotFound { .. },
            } => (Code::GitMissing, "Install git."),
            G::Process { .. }
            | G::NoCommonHistory { .. }
            | G::WorktreeLocked { .. }
            | G::LeftBehind { .. }
            | G::Failed { .. }
            | G::UnexpectedOutput { .. }
            | G::Io { .. }
            | G::Task { .. } => (Code::GitFailed, ""),
        };
        Self::new(code, message).maybe_hint(hint)
    }
}

fn push_rejected(reason: RejectReason) -> (Code, &'static str) {
    match reason {
        RejectReason::NonFastForward => (
            Code::PushNotFastForward,
            "Somebody else has pushed to this branch. Fetch it, merge or rebase, then try again; nothing is pushed by force.",
        ),
        RejectReason::Hook => (
            Code::PushDeclinedByHook,
            "Do what the hook asks for, commit, then try again.",
        ),
        RejectReason::Protected => (
            Code::PushProtected,
            "Rules of the repository forbid pushes to this branch. Work on a branch with another name, or ask whoever set the rule.",
        ),
        RejectReason::Submodule => (
            Code::PushRejected,
            "Push the submodule's commits first (`git -C PATH push origin HEAD:refs/heads/NAME`), then try again. push.recurseSubmodules or submodule.recurse asks for this.",
        ),
        RejectReason::Other => (
            Code::PushRejected,
            "The message says what the remote objects to.",
        ),
    }
}

fn how_to_free_branch(use_of: BranchUse) -> &'static str {
    match use_of {
        BranchUse::Rebase => {
            "Nothing was changed. End the rebase there (`git rebase --continue` or `--abort`), then try again."
        }
        BranchUse::OutOfReach => {
            "Nothing was changed. Bring the worktree back, or forget it: `git worktree unlock PATH`, then `git worktree prune`."
        }
    }
}

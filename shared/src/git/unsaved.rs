//! What would be lost if a worktree and its branch were deleted.

use std::path::{Path, PathBuf};

use super::command::Call;
use super::discovery::{Repository, path_of_line};
use super::error::GitError;
use super::history::{Commit, LOG_FORMAT, parse_log};
use super::names::{Oid, check_branch};
use super::refs::Head;
use super::status::{Entry, Status};
use super::submodules::SubmoduleWork;
use crate::process::Finished;

const SHOWN_ENTRIES: usize = 20;
const SHOWN_COMMITS: usize = 20;
/// Where else a commit may be kept.
const ELSEWHERE: [&str; 4] = ["--branches", "--remotes", "--tags", "--glob=refs/codex"];
/// References that each worktree has for itself; they are deleted with it.
const OWN_REFERENCES: [&str; 3] = [
    "--glob=refs/worktree",
    "--glob=refs/bisect",
    "--glob=refs/rewritten",
];

/// Stashes are not among it: they belong to the repository and outlive the worktree. Neither are
/// commits that only a reflog leads to: whoever amended or reset has given them up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsavedWork {
    /// How many files or untracked directories are not committed.
    pub uncommitted: usize,
    /// The first of them.
    pub entries: Vec<Entry>,
    /// There are also more untracked files than could be listed.
    pub untracked_left_out: bool,
    /// How many commits nothing else leads to.
    pub commits: usize,
    /// The newest of them.
    pub newest_commits: Vec<Commit>,
    /// What was begun and not finished.
    pub operation: Option<Operation>,
    pub submodules: Vec<SubmoduleWork>,
    /// The commit that was checked out.
    pub commit: Option<Oid>,
}

impl UnsavedWork {
    /// Tells whether the worktree and its branch can go without loss.
    pub fn is_nothing(&self) -> bool {
        self.uncommitted == 0
            && !self.untracked_left_out
            && self.commits == 0
            && self.operation.is_none()
            && self.submodules.is_empty()
    }
}

/// An operation of git that waits for someone to go on with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Merge,
    Rebase,
    CherryPick,
    Revert,
    Bisect,
}

pub(super) fn parse_count(output: &[u8]) -> Result<usize, GitError> {
    std::str::from_utf8(output)
        .ok()
        .and_then(|text| text.trim().parse().ok())
        .ok_or_else(|| GitError::unexpected("rev-list", output))
}

impl Repository {
    /// Finds what would be lost with the worktree and its branch.
    ///
    /// Commits are safe if another local branch, a remote-tracking branch, a tag or `refs/codex/*`
    /// leads to them. `own_branch` names a branch that is to go too although it may not be checked
    /// out at the moment, as in the middle of a rebase.
    pub async fn unsaved_work(
        &self,
        worktree: &Path,
        own_branch: Option<&str>,
    ) -> Result<UnsavedWork, GitError> {
        own_branch.map(check_branch).transpose()?;
        let git_dir = self.git_dir(worktree).await?;
        let (status, submodules) = tokio::try_join!(
            self.status_without_submodules(worktree, SHOWN_ENTRIES),
            self.submodule_work(worktree, &git_dir)
        )?;
        let (commits, newest_commits) = self
            .commits_only_here(worktree, &status, own_branch)
            .await?;
        Ok(UnsavedWork {
            uncommitted: status.total,
            entries: status.entries,
            untracked_left_out: status.untracked_left_out,
            commits,
            newest_commits,
            operation: operation_in(&git_dir),
            submodules,
            commit: status.commit,
        })
    }

    /// Counts the commits of a branch that nothing else leads to.
    pub async fn commits_only_on(&self, branch: &str) -> Result<usize, GitError> {
        check_branch(branch)?;
        let counted = self
            .call("rev-list")
            .arg("--count")
            .arg(format!("refs/heads/{branch}"))
            .arg("--not")
            .arg(format!("--exclude={branch}"))
            .args(ELSEWHERE)
            .arg("--");
        parse_count(&over_all_references(&counted).await?.stdout)
    }

    async fn commits_only_here(
        &self,
        worktree: &Path,
        status: &Status,
        own_branch: Option<&str>,
    ) -> Result<(usize, Vec<Commit>), GitError> {
        let mut range = Vec::new();
        if status.commit.is_some() {
            range.push("HEAD".to_owned());
        }
        if let Some(name) = own_branch
            && self.branch_exists(name).await?
        {
            range.push(format!("refs/heads/{name}"));
        }
        range.extend(OWN_REFERENCES.map(str::to_owned));
        range.push("--not".to_owned());
        let checked_out = match &status.head {
            Head::Branch(name) | Head::Unborn(name) => Some(name.as_str()),
            Head::Detached(_) => None,
        };
        range.extend(
            checked_out
                .into_iter()
                .chain(own_branch)
                .map(|name| format!("--exclude={name}")),
        );
        range.extend(ELSEWHERE.map(str::to_owned));
        range.push("--".to_owned());
        let counted = self
            .call_in(worktree, "rev-list")
            .arg("--count")
            .args(&range);
        let count = parse_count(&over_all_references(&counted).await?.stdout)?;
        if count == 0 {
            return Ok((0, Vec::new()));
        }
        let log = self
            .call_in(worktree, "log")
            .args(LOG_FORMAT)
            .arg(format!("--max-count={SHOWN_COMMITS}"))
            .args(&range);
        Ok((count, parse_log(&over_all_references(&log).await?.stdout)?))
    }

    /// Returns the git directory of one worktree.
    pub(super) async fn git_dir(&self, worktree: &Path) -> Result<PathBuf, GitError> {
        let answer = self
            .call_in(worktree, "rev-parse")
            .args(["--path-format=absolute", "--git-dir"])
            .success()
            .await?;
        Ok(path_of_line(&answer.stdout))
    }
}

/// Runs a call that reads all references. One that is deleted between being listed and being read,
/// as when many agents end at once, makes git fail; then it is asked again.
async fn over_all_references(call: &Call<'_>) -> Result<Finished, GitError> {
    const ATTEMPTS: u32 = 10;
    let mut attempt = 1;
    loop {
        match call.success().await {
            Err(GitError::Failed { stderr, .. })
                if attempt < ATTEMPTS && stderr.contains("bad object") =>
            {
                attempt += 1;
            }
            outcome => return outcome,
        }
    }
}

/// Finds what was begun in a worktree and not finished.
fn operation_in(git_dir: &Path) -> Option<Operation> {
    let signs = [
        ("rebase-merge", Operation::Rebase),
        ("rebase-apply", Operation::Rebase),
        ("MERGE_HEAD", Operation::Merge),
        ("CHERRY_PICK_HEAD", Operation::CherryPick),
        ("REVERT_HEAD", Operation::Revert),
        ("BISECT_LOG", Operation::Bisect),
    ];
    signs
        .into_iter()
        .find(|(name, _)| git_dir.join(name).exists())
        .map(|(_, operation)| operation)
}

//! Advances a branch (compare-and-swap) and the worktrees that have it checked out, so that another process can finish the move.
//!
//! The order makes that possible: the index of every such worktree is locked, `read-tree` is tried as a dry run, the
//! branch moves by compare-and-swap, the files follow. If the process is killed before the branch has moved, nothing has changed; if
//! later, the next process to take the merge lock moves the files. The lock files carry our mark, so that they are not
//! mistaken for the locks of a person's git.

use std::path::PathBuf;
use std::time::Duration;

use super::discovery::Repository;
use super::error::{BranchUse, GitError};
use super::lock::WorktreeLock;
use super::moving_checkout::{MovingCheckout, is_locked_by_us, remove_lock_of_ours};
use super::names::check_branch;
use super::oid::Oid;
use super::paths::path_of_line;

/// How long a merge waits for those before it.
const MERGE_LOCK_TIMEOUT: Duration = Duration::from_mins(5);
const LOCK_FILE: &str = "claude-codex-merge.lock";

/// The lock that serialises the merges of one repository; held while it lives.
#[derive(Debug)]
pub struct MergeLock {
    lock: WorktreeLock,
}

/// How an interrupted move ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resumed {
    /// The branch had moved, and the worktrees have followed.
    Finished,
    /// The branch had not moved; its locks were removed.
    NotBegun,
}

/// Worktrees that have followed their branch; their indexes are locked until this is dropped.
///
/// A record of the move that is written before then is written before any other git can continue from it.
#[derive(Debug, Default)]
pub struct MovedCheckouts<'a> {
    checkouts: Vec<MovingCheckout<'a>>,
}

impl MovedCheckouts<'_> {
    /// Unlocks the worktrees, and runs in each the hook that `git merge` would have run.
    pub async fn release(self) -> Result<(), GitError> {
        for checkout in &self.checkouts {
            checkout.unlock_index();
        }
        for checkout in &self.checkouts {
            checkout.run_hook().await?;
        }
        Ok(())
    }
}

impl Drop for MovedCheckouts<'_> {
    fn drop(&mut self) {
        for checkout in &self.checkouts {
            checkout.unlock_index();
        }
    }
}

impl Repository {
    /// Waits for the merge lock.
    pub async fn lock_merges(&self) -> Result<MergeLock, GitError> {
        let lock = self.lock_file(LOCK_FILE, MERGE_LOCK_TIMEOUT).await?;
        Ok(MergeLock { lock })
    }

    /// Takes the merge lock if it is free.
    pub async fn try_lock_merges(&self) -> Result<Option<MergeLock>, GitError> {
        match self.lock_file(LOCK_FILE, Duration::ZERO).await {
            Ok(lock) => Ok(Some(MergeLock { lock })),
            Err(GitError::LockTimeout { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Moves a branch that is where it was seen, with the worktrees that have it checked out.
    ///
    /// Changes there that are not committed are kept; if they are in the way, nothing moves.
    pub async fn advance<'a>(
        &'a self,
        merges: &'a MergeLock,
        branch: &str,
        from: &Oid,
        to: &Oid,
    ) -> Result<MovedCheckouts<'a>, GitError> {
        let branch = &self.branch_behind(branch).await?;
        self.refuse_in_use(branch).await?;
        let mut locked = MovedCheckouts::default();
        for checkout in self.checkouts(merges, branch).await? {
            checkout.lock_index().await?;
            locked.checkouts.push(checkout);
        }
        for checkout in &locked.checkouts {
            checkout.prepare().await?;
            checkout.read_tree(from, to, true).await?;
            checkout.refuse_ignored(from, to).await?;
        }
        self.compare_and_swap(merges, branch, from, to).await?;
        for (moved, checkout) in locked.checkouts.iter().enumerate() {
            let Err(error) = checkout.read_tree(from, to, false).await else {
                checkout.use_next_index()?;
                continue;
            };
            // A file has changed since the dry run: the checkouts that have moved are moved back.
            for earlier in &locked.checkouts[..=moved] {
                earlier.move_files(to, from).await?;
            }
            self.compare_and_swap(merges, branch, to, from).await?;
            return Err(error);
        }
        Ok(locked)
    }

    /// Finishes a move whose process has died, or removes the locks it has left.
    pub async fn resume_advance(
        &self,
        merges: &MergeLock,
        branch: &str,
        from: &Oid,
        to: &Oid,
    ) -> Result<Resumed, GitError> {
        let branch = &self.branch_behind(branch).await?;
        let tip = self.read_ref(&format!("refs/heads/{branch}")).await?;
        let mut resumed = match &tip {
            Some(tip) if self.has(tip, to).await? => Resumed::Finished,
            Some(_) | None => Resumed::NotBegun,
        };
        let mut checkouts = self.checkouts(merges, branch).await?;
        // The branch may have got another name since; what it has checked out has our lock.
        for (git_dir, path) in self.git_dirs() {
            if is_locked_by_us(&git_dir)
                && path.is_dir()
                && !checkouts.iter().any(|known| known.path == path)
            {
                checkouts.push(MovingCheckout {
                    repository: self,
                    lock: &merges.lock,
                    path,
                    git_dir,
                });
            }
        }
        for checkout in checkouts {
            checkout.lock_index().await?;
            let locked = MovedCheckouts {
                checkouts: vec![checkout],
            };
            for checkout in &locked.checkouts {
                let head = match self.head_commit(&checkout.path).await {
                    Ok(head) => head,
                    // The branch was deleted.
                    Err(GitError::EmptyRepository { .. }) => continue,
                    Err(error) => return Err(error),
                };
                if self.has(&head, to).await? {
                    checkout.follow(from, &head).await?;
                    resumed = Resumed::Finished;
                }
            }
        }
        Ok(resumed)
    }

    /// Removes the index locks of a merge that is over, whose process died before it had removed them.
    pub fn unlock_merged(&self, _merges: &MergeLock) {
        for (git_dir, _) in self.git_dirs() {
            remove_lock_of_ours(&git_dir);
        }
    }

    /// Tells whether a commit is another, or has it among its ancestors.
    pub(super) async fn has(&self, commit: &Oid, ancestor: &Oid) -> Result<bool, GitError> {
        Ok(self.merge_base_of(commit, ancestor).await?.as_ref() == Some(ancestor))
    }

    /// Returns the branch that moves if this one is moved: itself, or the one that it is another name of.
    async fn branch_behind(&self, branch: &str) -> Result<String, GitError> {
        check_branch(branch)?;
        let meant = self
            .call("symbolic-ref")
            .args(["--quiet", &format!("refs/heads/{branch}")])
            .run()
            .await?;
        let meant = meant.stdout_text();
        let meant = meant.trim_end().strip_prefix("refs/heads/");
        Ok(meant.unwrap_or(branch).to_owned())
    }

    /// Refuses a branch that a worktree can't have moved under it, as `git branch --force` does.
    async fn refuse_in_use(&self, branch: &str) -> Result<(), GitError> {
        let in_use = |use_of, at| GitError::BranchInUse {
            name: branch.to_owned(),
            use_of,
            at,
        };
        for (git_dir, path) in self.git_dirs() {
            let rebased = ["rebase-merge", "rebase-apply"]
                .iter()
                .filter_map(|state| {
                    std::fs::read_to_string(git_dir.join(state).join("head-name")).ok()
                })
                .any(|name| name.trim_end().strip_prefix("refs/heads/") == Some(branch));
            if rebased {
                return Err(in_use(BranchUse::Rebase, path));
            }
        }
        let mut worktrees = self.worktrees().await?.into_iter();
        let away = worktrees.find(|worktree| {
            worktree.branch.as_deref() == Some(branch)
                && worktree.locked.is_some()
                && !worktree.path.is_dir()
        });
        match away {
            Some(worktree) => Err(in_use(BranchUse::OutOfReach, worktree.path)),
            None => Ok(()),
        }
    }

    /// Lists the git directory of every worktree with the worktree itself, as far as they can be read.
    fn git_dirs(&self) -> Vec<(PathBuf, PathBuf)> {
        let mut found = vec![(self.common_dir().to_owned(), self.root().to_owned())];
        let linked = std::fs::read_dir(self.common_dir().join("worktrees"));
        for entry in linked.into_iter().flatten().flatten() {
            let git_dir = entry.path();
            // The path of the worktree's `.git`, which may be relative to this folder.
            let Ok(link) = std::fs::read(git_dir.join("gitdir")) else {
                continue;
            };
            if let Some(path) = git_dir.join(path_of_line(&link)).parent() {
                found.push((git_dir, path.to_owned()));
            }
        }
        found
    }

    async fn checkouts<'a>(
        &'a self,
        merges: &'a MergeLock,
        branch: &str,
    ) -> Result<Vec<MovingCheckout<'a>>, GitError> {
        check_branch(branch)?;
        let mut found = Vec::new();
        for worktree in self.worktrees().await? {
            if worktree.branch.as_deref() == Some(branch) && worktree.path.is_dir() {
                found.push(MovingCheckout {
                    git_dir: self.git_dir(&worktree.path).await?,
                    repository: self,
                    lock: &merges.lock,
                    path: worktree.path,
                });
            }
        }
        Ok(found)
    }

    async fn compare_and_swap(
        &self,
        merges: &MergeLock,
        branch: &str,
        from: &Oid,
        to: &Oid,
    ) -> Result<(), GitError> {
        let reference = format!("refs/heads/{branch}");
        let call = self
            .call("update-ref")
            .args(["-m", "claude-codex: merge"])
            .args(["--", &reference, to.as_str(), from.as_str()])
            .writes()
            .holding(&merges.lock);
        let finished = call.run().await?;
        if finished.status.success() {
            return Ok(());
        }
        let name = branch.to_owned();
        match self.read_ref(&reference).await? {
            Some(actual) if actual != *from => Err(GitError::BranchMoved {
                name,
                expected: from.clone(),
                actual,
            }),
            Some(_) => Err(call.failure(&finished)),
            None => Err(GitError::BranchNotFound { name }),
        }
    }
}

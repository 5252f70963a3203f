//! Moves a branch, and the worktrees that have it checked out, as one step that others can finish.
//!
//! The order makes that possible: the index of every such worktree is locked, the move is tried
//! without doing it, the branch moves (by compare-and-swap), the files follow. Killed before the
//! branch has moved, nothing has changed; after that, whoever comes next moves the files on. The
//! lock files say that they are ours, so that they are not taken for those of a person's git.

use std::time::Duration;

use super::discovery::Repository;
use super::error::GitError;
use super::lock::WorktreeLock;
use super::moving_checkout::MovingCheckout;
use super::names::{Oid, check_branch};

/// How long a merge waits for its turn.
const TURN: Duration = Duration::from_mins(5);
const LOCK_FILE: &str = "claude-codex-merge.lock";
/// Merges of one repository take turns; held by whoever's turn it is.
#[derive(Debug)]
pub struct MergeTurn {
    lock: WorktreeLock,
}

/// How far an interrupted move had got, and so what became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resumed {
    /// The branch had moved, and the worktrees have followed.
    Finished,
    /// The branch had not moved; nothing is left of it.
    NotBegun,
}

impl Repository {
    /// Waits for the turn to merge.
    pub async fn merge_turn(&self) -> Result<MergeTurn, GitError> {
        let lock = self.lock_file(LOCK_FILE, TURN).await?;
        Ok(MergeTurn { lock })
    }

    /// Takes the turn to merge if nobody has it.
    pub async fn merge_turn_now(&self) -> Result<Option<MergeTurn>, GitError> {
        match self.lock_file(LOCK_FILE, Duration::ZERO).await {
            Ok(lock) => Ok(Some(MergeTurn { lock })),
            Err(GitError::LockTimeout { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Moves a branch that is where it was seen, with the worktrees that have it checked out.
    ///
    /// Changes there that are not committed are kept; if they are in the way, nothing moves.
    pub async fn advance(
        &self,
        turn: &MergeTurn,
        branch: &str,
        from: &Oid,
        to: &Oid,
    ) -> Result<(), GitError> {
        let mut locked = Vec::new();
        let outcome = self
            .advance_locking(turn, branch, from, to, &mut locked)
            .await;
        for checkout in &locked {
            checkout.unlock_index();
        }
        outcome
    }

    async fn advance_locking<'a>(
        &'a self,
        turn: &'a MergeTurn,
        branch: &str,
        from: &Oid,
        to: &Oid,
        locked: &mut Vec<MovingCheckout<'a>>,
    ) -> Result<(), GitError> {
        for checkout in self.checkouts(turn, branch).await? {
            checkout.lock_index().await?;
            locked.push(checkout);
        }
        for checkout in locked.iter() {
            checkout.prepare().await?;
            checkout.read_tree(from, to, true).await?;
        }
        self.compare_and_swap(turn, branch, from, to).await?;
        for (moved, checkout) in locked.iter().enumerate() {
            let Err(error) = checkout.read_tree(from, to, false).await else {
                checkout.use_next_index()?;
                continue;
            };
            // Something was faster than the look before. Back to where it was, as far as it got.
            for earlier in &locked[..=moved] {
                earlier.move_files(to, from).await?;
            }
            self.compare_and_swap(turn, branch, to, from).await?;
            return Err(error);
        }
        for checkout in locked.iter() {
            checkout.unlock_index();
            checkout.run_hook().await?;
        }
        Ok(())
    }

    /// Finishes a move whose process has died, or takes away what it has left.
    pub async fn resume_advance(
        &self,
        turn: &MergeTurn,
        branch: &str,
        from: &Oid,
        to: &Oid,
    ) -> Result<Resumed, GitError> {
        let tip = self.read_ref(&format!("refs/heads/{branch}")).await?;
        let moved_to = match tip {
            Some(tip) if self.merge_base_of(&tip, to).await?.as_ref() == Some(to) => Some(tip),
            Some(_) | None => None,
        };
        for checkout in self.checkouts(turn, branch).await? {
            checkout.lock_index().await?;
            let followed = match &moved_to {
                Some(tip) => checkout.follow(from, tip).await,
                None => Ok(()),
            };
            checkout.unlock_index();
            followed?;
        }
        Ok(if moved_to.is_some() {
            Resumed::Finished
        } else {
            Resumed::NotBegun
        })
    }

    async fn checkouts<'a>(
        &'a self,
        turn: &'a MergeTurn,
        branch: &str,
    ) -> Result<Vec<MovingCheckout<'a>>, GitError> {
        check_branch(branch)?;
        let mut found = Vec::new();
        for worktree in self.worktrees().await? {
            if worktree.branch.as_deref() == Some(branch) && worktree.path.is_dir() {
                found.push(MovingCheckout {
                    git_dir: self.git_dir(&worktree.path).await?,
                    repository: self,
                    lock: &turn.lock,
                    path: worktree.path,
                });
            }
        }
        Ok(found)
    }

    async fn compare_and_swap(
        &self,
        turn: &MergeTurn,
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
            .holding(&turn.lock);
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

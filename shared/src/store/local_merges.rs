//! Merges of the built-in forge that are under way, at most one in each repository.

use rusqlite::{OptionalExtension, Row, params};

use super::{NOW, Reader, StoreError, Writer};
use crate::model::{PullRequest, PullState};

/// What a merge is about to do, so that somebody else can finish it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalMerge {
    pub repository: String,
    pub number: u64,
    pub base_branch: String,
    /// Where the base branch is before and after.
    pub old_commit: String,
    pub new_commit: String,
}

fn local_merge(row: &Row<'_>) -> rusqlite::Result<LocalMerge> {
    Ok(LocalMerge {
        repository: row.get("repository")?,
        number: row.get("number")?,
        base_branch: row.get("base_branch")?,
        old_commit: row.get("old_commit")?,
        new_commit: row.get("new_commit")?,
    })
}

impl Reader<'_> {
    /// Returns the merge that was begun in a repository.
    pub fn local_merge(&self, repository: &str) -> Result<Option<LocalMerge>, StoreError> {
        Ok(self
            .connection
            .prepare_cached("SELECT * FROM local_merges WHERE repository = ?1")?
            .query_row([repository], local_merge)
            .optional()?)
    }

    /// Returns the merges that were begun anywhere, the oldest first.
    pub fn local_merges(&self, limit: usize) -> Result<Vec<LocalMerge>, StoreError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT * FROM local_merges ORDER BY begun_at LIMIT ?1")?;
        let rows = statement
            .query_map([limit], local_merge)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }
}

impl Writer<'_> {
    /// Records a merge before it is taken; false if the pull request is no longer open with that head.
    pub fn begin_local_merge(&self, merge: &LocalMerge, head: &str) -> Result<bool, StoreError> {
        let pull = self.pull_request(&merge.repository, merge.number)?;
        if pull.state != PullState::Open || pull.head_commit != head {
            return Ok(false);
        }
        self.connection
            .prepare_cached(&format!(
                "INSERT INTO local_merges (
                     repository, number, base_branch, old_commit, new_commit, begun_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, {NOW})"
            ))?
            .execute(params![
                merge.repository,
                merge.number,
                merge.base_branch,
                merge.old_commit,
                merge.new_commit,
            ])?;
        Ok(true)
    }

    /// Marks the pull request of a merge as merged: the base branch has it, whatever was said of it meanwhile.
    ///
    /// The merge itself is recorded until its worktrees are unlocked.
    pub fn mark_locally_merged(&self, merge: &LocalMerge) -> Result<PullRequest, StoreError> {
        self.connection
            .prepare_cached(&format!(
                "UPDATE pull_requests SET state = 'merged', merge_commit = ?3, merged_at = {NOW},
                     updated_at = {NOW}
                 WHERE repository = ?1 AND number = ?2 AND state <> 'merged'"
            ))?
            .execute(params![merge.repository, merge.number, merge.new_commit])?;
        self.pull_request(&merge.repository, merge.number)
    }

    /// Forgets a merge that is over, or was not taken.
    pub fn forget_local_merge(&self, repository: &str) -> Result<(), StoreError> {
        self.connection
            .prepare_cached("DELETE FROM local_merges WHERE repository = ?1")?
            .execute([repository])?;
        Ok(())
    }
}

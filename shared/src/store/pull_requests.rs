//! Pull requests of the built-in forge, numbered per repository.

use rusqlite::{OptionalExtension, Row, params};

use super::row::{parsed, parsed_option};
use super::{NOW, Reader, StoreError, Writer};
use crate::model::pull_request::local_url;
use crate::model::{InstanceId, NewPullRequest, PullRequest, PullState};

fn pull_request(row: &Row<'_>) -> rusqlite::Result<PullRequest> {
    let number = row.get("number")?;
    Ok(PullRequest {
        number,
        url: local_url(&row.get::<_, String>("repository")?, number),
        title: row.get("title")?,
        body: row.get("body")?,
        state: parsed(row, "state")?,
        draft: row.get("draft")?,
        head_branch: row.get("head_branch")?,
        base_branch: row.get("base_branch")?,
        head_commit: row.get("head_commit")?,
        merge_commit: row.get("merge_commit")?,
        created_at: parsed(row, "created_at")?,
        updated_at: parsed(row, "updated_at")?,
        merged_at: parsed_option(row, "merged_at")?,
        mergeable: None,
    })
}

impl Reader<'_> {
    /// Returns one pull request of a repository.
    pub fn pull_request(&self, repository: &str, number: u64) -> Result<PullRequest, StoreError> {
        self.connection
            .prepare_cached("SELECT * FROM pull_requests WHERE repository = ?1 AND number = ?2")?
            .query_row(params![repository, number], pull_request)
            .optional()?
            .ok_or(StoreError::PullRequestNotFound { number })
    }

    /// Returns the open pull request of a branch.
    pub fn open_pull_request(
        &self,
        repository: &str,
        head_branch: &str,
    ) -> Result<Option<PullRequest>, StoreError> {
        Ok(self
            .connection
            .prepare_cached(
                "SELECT * FROM pull_requests
                 WHERE repository = ?1 AND head_branch = ?2 AND state = 'open'",
            )?
            .query_row(params![repository, head_branch], pull_request)
            .optional()?)
    }

    /// Returns the pull request that has brought a commit of a branch into its base.
    pub fn merged_pull_request(
        &self,
        repository: &str,
        new: &NewPullRequest,
        head_commit: &str,
    ) -> Result<Option<PullRequest>, StoreError> {
        Ok(self
            .connection
            .prepare_cached(
                "SELECT * FROM pull_requests
                 WHERE repository = ?1 AND state = 'merged' AND head_branch = ?2 AND base_branch = ?3
                   AND head_commit = ?4
                 ORDER BY number DESC LIMIT 1",
            )?
            .query_row(
                params![repository, new.head_branch, new.base_branch, head_commit],
                pull_request,
            )
            .optional()?)
    }

    /// Returns the newest pull requests of a repository, in one state or in all.
    pub fn pull_requests(
        &self,
        repository: &str,
        state: Option<PullState>,
        limit: usize,
    ) -> Result<Vec<PullRequest>, StoreError> {
        let in_state = match state {
            Some(_) => "state = ?2",
            None => "?2 IS NULL",
        };
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT * FROM pull_requests WHERE repository = ?1 AND {in_state}
             ORDER BY number DESC LIMIT ?3"
        ))?;
        let state = state.map(PullState::as_str);
        let rows = statement
            .query_map(params![repository, state, limit], pull_request)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }
}

impl Writer<'_> {
    /// Opens a pull request under the repository's next number, which is more than `last`.
    pub fn insert_pull_request(
        &self,
        repository: &str,
        new: &NewPullRequest,
        head_commit: &str,
        instance: &InstanceId,
        last: u64,
    ) -> Result<PullRequest, StoreError> {
        self.refuse_second(repository, &new.head_branch)?;
        let number: u64 = self
            .connection
            .prepare_cached(
                "SELECT max(coalesce(max(number), 0), ?2) + 1 FROM pull_requests WHERE repository = ?1",
            )?
            .query_row(params![repository, last], |row| row.get(0))?;
        self.connection
            .prepare_cached(&format!(
                "INSERT INTO pull_requests (
                     repository, number, title, body, state, draft, head_branch, base_branch,
                     head_commit, instance_id, created_at, updated_at)
                 VALUES (?1, ?2, ?3, ?4, 'open', ?5, ?6, ?7, ?8, ?9, {NOW}, {NOW})"
            ))?
            .execute(params![
                repository,
                number,
                new.title,
                new.body,
                new.draft,
                new.head_branch,
                new.base_branch,
                head_commit,
                instance.as_str(),
            ])?;
        self.pull_request(repository, number)
    }

    /// Changes what an open pull request says, and the commit it stands for; not while that is being merged.
    pub fn update_pull_request(
        &self,
        repository: &str,
        number: u64,
        new: &NewPullRequest,
        head_commit: &str,
        instance: &InstanceId,
    ) -> Result<PullRequest, StoreError> {
        self.refuse_merging(repository, number)?;
        self.connection
            .prepare_cached(&format!(
                "UPDATE pull_requests SET title = ?3, body = ?4, draft = ?5, base_branch = ?6,
                     head_commit = ?7, instance_id = ?8, updated_at = {NOW}
                 WHERE repository = ?1 AND number = ?2 AND state = 'open'"
            ))?
            .execute(params![
                repository,
                number,
                new.title,
                new.body,
                new.draft,
                new.base_branch,
                head_commit,
                instance.as_str(),
            ])?;
        self.expect_state(repository, number, PullState::Open)
    }

    /// Moves an open pull request from one head to another, not while it is being merged; `None` if it has another head by now.
    pub fn move_pull_request(
        &self,
        repository: &str,
        number: u64,
        from: &str,
        to: &str,
    ) -> Result<Option<PullRequest>, StoreError> {
        self.refuse_merging(repository, number)?;
        let moved = self
            .connection
            .prepare_cached(&format!(
                "UPDATE pull_requests SET head_commit = ?4, updated_at = {NOW}
                 WHERE repository = ?1 AND number = ?2 AND state = 'open' AND head_commit = ?3"
            ))?
            .execute(params![repository, number, from, to])?;
        let now = self.expect_state(repository, number, PullState::Open)?;
        Ok((moved == 1).then_some(now))
    }

    /// Gives an open pull request another text.
    pub fn set_pull_request_body(
        &self,
        repository: &str,
        number: u64,
        body: &str,
    ) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(&format!(
                "UPDATE pull_requests SET body = ?3, updated_at = {NOW}
                 WHERE repository = ?1 AND number = ?2 AND state = 'open' AND body <> ?3"
            ))?
            .execute(params![repository, number, body])?;
        Ok(())
    }

    /// Closes an open pull request; one that is closed already stays so.
    pub fn close_pull_request(
        &self,
        repository: &str,
        number: u64,
    ) -> Result<PullRequest, StoreError> {
        self.connection
            .prepare_cached(&format!(
                "UPDATE pull_requests SET state = 'closed', updated_at = {NOW}
                 WHERE repository = ?1 AND number = ?2 AND state = 'open'"
            ))?
            .execute(params![repository, number])?;
        self.expect_state(repository, number, PullState::Closed)
    }

    /// Opens a closed pull request again, unless its branch has another open one.
    pub fn reopen_pull_request(
        &self,
        repository: &str,
        number: u64,
    ) -> Result<PullRequest, StoreError> {
        let found = self.pull_request(repository, number)?;
        if found.state == PullState::Closed {
            self.refuse_second(repository, &found.head_branch)?;
        }
        self.connection
            .prepare_cached(&format!(
                "UPDATE pull_requests SET state = 'open', updated_at = {NOW}
                 WHERE repository = ?1 AND number = ?2 AND state = 'closed'"
            ))?
            .execute(params![repository, number])?;
        self.expect_state(repository, number, PullState::Open)
    }

    /// Records that an open pull request was merged, and as which commit; a second time changes nothing.
    ///
    /// Neither does this if we are merging it: then it is merged once its worktrees have followed.
    pub fn merge_pull_request(
        &self,
        repository: &str,
        number: u64,
        merge_commit: &str,
    ) -> Result<PullRequest, StoreError> {
        if self.is_merging(repository, number)? {
            return self.pull_request(repository, number);
        }
        self.connection
            .prepare_cached(&format!(
                "UPDATE pull_requests SET state = 'merged', merge_commit = ?3, merged_at = {NOW},
                     updated_at = {NOW}
                 WHERE repository = ?1 AND number = ?2 AND state = 'open'"
            ))?
            .execute(params![repository, number, merge_commit])?;
        self.expect_state(repository, number, PullState::Merged)
    }

    fn is_merging(&self, repository: &str, number: u64) -> Result<bool, StoreError> {
        let merging = self.local_merge(repository)?;
        Ok(merging.is_some_and(|merge| merge.number == number))
    }

    fn refuse_merging(&self, repository: &str, number: u64) -> Result<(), StoreError> {
        if self.is_merging(repository, number)? {
            Err(StoreError::PullRequestMerging { number })
        } else {
            Ok(())
        }
    }

    fn refuse_second(&self, repository: &str, head_branch: &str) -> Result<(), StoreError> {
        match self.open_pull_request(repository, head_branch)? {
            None => Ok(()),
            Some(open) => Err(StoreError::PullRequestOpen {
                number: open.number,
            }),
        }
    }

    fn expect_state(
        &self,
        repository: &str,
        number: u64,
        wanted: PullState,
    ) -> Result<PullRequest, StoreError> {
        let found = self.pull_request(repository, number)?;
        if found.state == wanted {
            Ok(found)
        } else {
            Err(StoreError::PullRequestState {
                number,
                state: found.state,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{LocalMerge, Store};
    use super::*;

    fn new(branch: &str) -> NewPullRequest {
        NewPullRequest {
            title: "t".to_owned(),
            body: "b".to_owned(),
            head_branch: branch.to_owned(),
            base_branch: "main".to_owned(),
            draft: true,
        }
    }

    fn with_store(test: impl FnOnce(&Writer<'_>) -> Result<(), StoreError>) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("db")).unwrap();
        store.write_now(test).unwrap();
    }

    fn open(writer: &Writer<'_>, repository: &str, branch: &str) -> Result<u64, StoreError> {
        // Foreign keys are checked: no such instance is an error of its own.
        writer
            .connection
            .execute_batch("PRAGMA defer_foreign_keys = ON")?;
        let opened = writer.insert_pull_request(
            repository,
            &new(branch),
            "c1",
            &"work-x-a1".parse().unwrap(),
            0,
        );
        opened.map(|pull| pull.number)
    }

    #[test]
    fn numbers_count_up_within_each_repository() {
        with_store(|w| {
            assert_eq!(open(w, "/a", "one")?, 1);
            assert_eq!(open(w, "/a", "two")?, 2);
            assert_eq!(open(w, "/b", "one")?, 1);
            assert!(matches!(
                open(w, "/a", "two"),
                Err(StoreError::PullRequestOpen { number: 2 })
            ));
            w.close_pull_request("/a", 2)?;
            assert_eq!(open(w, "/a", "two")?, 3);
            assert!(matches!(
                w.reopen_pull_request("/a", 2),
                Err(StoreError::PullRequestOpen { number: 3 })
            ));
            let numbers: Vec<_> = w.pull_requests("/a", Some(PullState::Open), 9)?;
            let numbers: Vec<_> = numbers.iter().map(|pull| pull.number).collect();
            assert_eq!(numbers, [3, 1]);
            w.connection
                .execute("/* all */ DELETE FROM pull_requests", [])?;
            Ok(())
        });
    }

    #[test]
    fn what_is_merged_stays_merged() {
        with_store(|w| {
            open(w, "/a", "one")?;
            assert_eq!(w.close_pull_request("/a", 1)?.state, PullState::Closed);
            assert!(matches!(
                w.merge_pull_request("/a", 1, "c2"),
                Err(StoreError::PullRequestState {
                    number: 1,
                    state: PullState::Closed
                })
            ));
            assert_eq!(w.reopen_pull_request("/a", 1)?.state, PullState::Open);
            let merged = w.merge_pull_request("/a", 1, "c2")?;
            assert_eq!(merged.merge_commit.as_deref(), Some("c2"));
            assert_eq!(w.merge_pull_request("/a", 1, "c3")?, merged);
            for refused in [
                w.close_pull_request("/a", 1),
                w.reopen_pull_request("/a", 1),
                w.update_pull_request("/a", 1, &new("one"), "c9", &"work-x-a1".parse().unwrap()),
            ] {
                assert!(matches!(refused, Err(StoreError::PullRequestState { .. })));
            }
            assert!(matches!(
                w.pull_request("/a", 7),
                Err(StoreError::PullRequestNotFound { number: 7 })
            ));
            w.connection
                .execute("/* all */ DELETE FROM pull_requests", [])?;
            Ok(())
        });
    }

    #[test]
    fn a_head_moves_only_from_where_it_was_seen() {
        with_store(|w| {
            open(w, "/a", "one")?;
            assert_eq!(w.move_pull_request("/a", 1, "c0", "c2")?, None);
            let moved = w.move_pull_request("/a", 1, "c1", "c2")?;
            assert_eq!(moved.map(|pull| pull.head_commit).as_deref(), Some("c2"));
            w.close_pull_request("/a", 1)?;
            assert!(matches!(
                w.move_pull_request("/a", 1, "c2", "c3"),
                Err(StoreError::PullRequestState { .. })
            ));
            w.connection
                .execute("/* all */ DELETE FROM pull_requests", [])?;
            Ok(())
        });
    }

    #[test]
    fn what_is_being_merged_is_what_was_seen_and_stays_so() {
        with_store(|w| {
            open(w, "/a", "one")?;
            let merge = LocalMerge {
                repository: "/a".to_owned(),
                number: 1,
                base_branch: "main".to_owned(),
                old_commit: "b1".to_owned(),
                new_commit: "b2".to_owned(),
            };
            assert!(!w.begin_local_merge(&merge, "c0")?, "another head");
            assert_eq!(w.local_merge("/a")?, None);
            assert!(w.begin_local_merge(&merge, "c1")?);
            let coder = "work-x-a1".parse().unwrap();
            assert!(matches!(
                w.update_pull_request("/a", 1, &new("one"), "c2", &coder),
                Err(StoreError::PullRequestMerging { number: 1 })
            ));
            assert!(matches!(
                w.move_pull_request("/a", 1, "c1", "c2"),
                Err(StoreError::PullRequestMerging { number: 1 })
            ));
            let seen = w.merge_pull_request("/a", 1, "b2")?;
            assert_eq!(
                seen.state,
                PullState::Open,
                "its worktrees have not followed"
            );
            assert_eq!(w.mark_locally_merged(&merge)?.head_commit, "c1");
            assert!(w.local_merge("/a")?.is_some(), "its worktrees are locked");
            w.forget_local_merge("/a")?;
            assert!(!w.begin_local_merge(&merge, "c1")?, "merged");
            let merged = w.merged_pull_request("/a", &new("one"), "c1")?;
            assert_eq!(merged.map(|pull| pull.number), Some(1));
            assert_eq!(w.merged_pull_request("/a", &new("one"), "c2")?, None);
            w.connection
                .execute("/* all */ DELETE FROM pull_requests", [])?;
            Ok(())
        });
    }
}

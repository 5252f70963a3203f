//! Standings of pull requests (`pull_standings`): conflicts, commits behind the base and the branch, as last computed or heard.

use std::collections::HashMap;

use rusqlite::{OptionalExtension, Row, params};

use super::instances::LIVE;
use super::row::{json, parsed};
use super::{Reader, StoreError, Writer};
use crate::model::{BaseProblem, Instance, InstanceId, Mergeable, Status};

/// How a pull request stands, between two commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullStanding {
    pub repository: String,
    /// Whether it is of the built-in forge.
    pub is_local: bool,
    pub number: u64,
    /// Where the base was, or was last if it is gone. None on GitHub, which does not say.
    pub base_commit: Option<String>,
    pub head_commit: String,
    /// Where its branch is; none if there is none here.
    pub branch_commit: Option<String>,
    pub mergeable: Mergeable,
    /// Files in which a merge conflicts; GitHub names none.
    pub conflicts: Vec<String>,
    /// Commits of the base that the head lacks; none if unknown.
    pub behind: Option<usize>,
    /// Commits of the branch that the head lacks.
    pub new_commits: usize,
}

impl PullStanding {
    /// Tells whether somebody has to do something before it can be merged.
    pub fn is_stuck(&self) -> bool {
        self.mergeable == Mergeable::Conflicting
            || self.new_commits > 0
            || self.base_problem().is_some()
    }

    /// Tells what is wrong with the base. The built-in forge always knows whether there is a conflict if there is a base,
    /// and how far behind the head is if the two have common history.
    pub fn base_problem(&self) -> Option<BaseProblem> {
        match (self.is_local, self.mergeable) {
            (true, Mergeable::Unknown) => Some(BaseProblem::Gone),
            (true, Mergeable::Conflicting) if self.behind.is_none() => {
                Some(BaseProblem::NoCommonHistory)
            }
            _ => None,
        }
    }
}

/// An open pull request of the built-in forge, and between which commits its standing was computed last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenPull {
    pub repository: String,
    pub number: u64,
    pub base_branch: String,
    pub head_branch: String,
    pub head_commit: String,
    pub seen: Option<SeenCommits>,
}

/// Between which commits a standing was computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenCommits {
    pub base: Option<String>,
    pub head: String,
    pub branch: Option<String>,
    /// The base was gone already; its commit is where it was last.
    pub base_is_gone: bool,
}

fn standing(row: &Row<'_>) -> rusqlite::Result<PullStanding> {
    Ok(PullStanding {
        repository: row.get("repository")?,
        is_local: row.get("is_local")?,
        number: row.get("number")?,
        base_commit: row.get("base_commit")?,
        head_commit: row.get("head_commit")?,
        branch_commit: row.get("branch_commit")?,
        mergeable: parsed(row, "mergeable")?,
        conflicts: json(row, "conflicts")?,
        behind: row.get("behind")?,
        new_commits: row.get("new_commits")?,
    })
}

fn open_pull(row: &Row<'_>) -> rusqlite::Result<OpenPull> {
    let head: Option<String> = row.get("seen_head")?;
    let (base, branch) = (row.get("seen_base")?, row.get("seen_branch")?);
    let base_is_gone = row.get("base_is_gone")?;
    Ok(OpenPull {
        repository: row.get("repository")?,
        number: row.get("number")?,
        base_branch: row.get("base_branch")?,
        head_branch: row.get("head_branch")?,
        head_commit: row.get("head_commit")?,
        seen: head.map(|head| SeenCommits {
            base,
            head,
            branch,
            base_is_gone,
        }),
    })
}

impl Reader<'_> {
    /// Returns how a pull request stood when that was last computed or heard.
    pub fn pull_standing(
        &self,
        repository: &str,
        is_local: bool,
        number: u64,
    ) -> Result<Option<PullStanding>, StoreError> {
        Ok(self
            .connection
            .prepare_cached(
                "SELECT * FROM pull_standings WHERE repository = ?1 AND is_local = ?2 AND number = ?3",
            )?
            .query_row(params![repository, is_local, number], standing)
            .optional()?)
    }

    /// Returns the open pull requests of the built-in forge in all repositories, those of one repository together.
    pub fn open_pulls(&self, limit: usize) -> Result<Vec<OpenPull>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT p.repository, p.number, p.base_branch, p.head_branch, p.head_commit,
                 s.base_commit AS seen_base, s.head_commit AS seen_head, s.branch_commit AS seen_branch,
                 s.mergeable IS 'unknown' AS base_is_gone
             FROM pull_requests AS p INDEXED BY pull_requests_open_head
             LEFT JOIN pull_standings AS s
               ON s.repository = p.repository AND s.is_local = 1 AND s.number = p.number
             WHERE p.state = 'open' ORDER BY p.repository LIMIT ?1",
        )?;
        let rows = statement
            .query_map([limit], open_pull)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Returns how the open pull requests of these agents stand, as last computed for their present heads, or heard of GitHub.
    /// An agent that has ended no longer answers for one that another agent has taken over.
    pub fn standings_of(
        &self,
        of: &[Instance],
    ) -> Result<HashMap<InstanceId, PullStanding>, StoreError> {
        let rests = |one: &&Instance| {
            one.pr_url.is_some()
                && !one.status.is_live()
                && !matches!(one.status, Status::PrMerged | Status::PrClosed)
        };
        let published = of.iter().filter(rests);
        let ids: Vec<&str> = published.map(|one| one.id.as_str()).collect();
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT i.id AS key, s.* FROM json_each(?1) AS wanted
             JOIN instances AS i ON i.id = wanted.value
             JOIN pull_standings AS s ON s.repository = i.repository
               AND s.is_local = (i.pr_url LIKE 'codex:%') AND s.number = i.pr_number
             LEFT JOIN pull_requests AS p ON p.repository = s.repository AND p.number = s.number
             WHERE (s.is_local = 0 OR (p.state = 'open' AND p.head_commit = s.head_commit))
               AND NOT EXISTS (
                 SELECT 1 FROM instances AS other INDEXED BY instances_by_pull
                 WHERE other.pr_url = i.pr_url AND other.repository = i.repository AND other.id <> i.id
                   AND (other.status IN {LIVE}
                     OR (other.status = 'pr_created') > (i.status = 'pr_created')
                     OR ((other.status = 'pr_created') = (i.status = 'pr_created')
                       AND other.created_at > i.created_at)))"
        ))?;
        let rows = statement
            .query_map([serde_json::json!(ids).to_string()], |row| {
                Ok((parsed(row, "key")?, standing(row)?))
            })?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }
}

impl Writer<'_> {
    /// Replaces how a pull request stands.
    pub fn set_pull_standing(&self, standing: &PullStanding) -> Result<(), StoreError> {
        if !standing.is_stuck() {
            let head = &standing.head_commit;
            self.forget_stuck(&standing.repository, standing.number, head)?;
        }
        self.connection
            .prepare_cached(
                "INSERT OR REPLACE INTO pull_standings (
                     repository, is_local, number, base_commit, head_commit, branch_commit,
                     mergeable, conflicts, behind, new_commits)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )?
            .execute(params![
                standing.repository,
                standing.is_local,
                standing.number,
                standing.base_commit,
                standing.head_commit,
                standing.branch_commit,
                standing.mergeable.as_str(),
                serde_json::json!(standing.conflicts).to_string(),
                standing.behind,
                standing.new_commits,
            ])?;
        Ok(())
    }

    /// Forgets how a pull request stood that is not open any more.
    pub fn forget_pull_standing(
        &self,
        repository: &str,
        is_local: bool,
        number: u64,
    ) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(
                "DELETE FROM pull_standings WHERE repository = ?1 AND is_local = ?2 AND number = ?3",
            )?
            .execute(params![repository, is_local, number])?;
        Ok(())
    }
}

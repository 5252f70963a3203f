//! Standings of pull requests (`pull_standings`): conflicts, commits behind the base and the branch, as last computed.

use std::collections::HashMap;

use rusqlite::{OptionalExtension, Row, params};

use super::row::parsed;
use super::{Reader, StoreError, Writer};
use crate::model::{Instance, InstanceId, Status};

/// How a pull request of the built-in forge stands, between two commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullStanding {
    pub repository: String,
    pub number: u64,
    pub base_commit: String,
    pub head_commit: String,
    /// Files in which a merge conflicts.
    pub conflicts: Vec<String>,
    /// Commits of the base that the head lacks.
    pub behind: usize,
    /// Commits of the branch that the head lacks.
    pub new_commits: usize,
}

fn standing(row: &Row<'_>) -> rusqlite::Result<PullStanding> {
    let conflicts: String = row.get("conflicts")?;
    Ok(PullStanding {
        repository: row.get("repository")?,
        number: row.get("number")?,
        base_commit: row.get("base_commit")?,
        head_commit: row.get("head_commit")?,
        conflicts: serde_json::from_str(&conflicts).unwrap_or_default(),
        behind: row.get("behind")?,
        new_commits: row.get("new_commits")?,
    })
}

impl Reader<'_> {
    /// Returns how a pull request stood when that was last computed.
    pub fn pull_standing(
        &self,
        repository: &str,
        number: u64,
    ) -> Result<Option<PullStanding>, StoreError> {
        Ok(self
            .connection
            .prepare_cached("SELECT * FROM pull_standings WHERE repository = ?1 AND number = ?2")?
            .query_row(params![repository, number], standing)
            .optional()?)
    }
}

impl Reader<'_> {
    /// Returns how the open pull requests of these agents stand, as last computed for their present heads.
    pub fn standings_of(
        &self,
        of: &[Instance],
    ) -> Result<HashMap<InstanceId, PullStanding>, StoreError> {
        let published = of.iter().filter(|one| one.status == Status::PrCreated);
        let ids: Vec<&str> = published.map(|one| one.id.as_str()).collect();
        let mut statement = self.connection.prepare_cached(
            "SELECT i.id AS key, s.* FROM json_each(?1) AS wanted
             JOIN instances AS i ON i.id = wanted.value
             JOIN pull_standings AS s ON s.repository = i.repository AND s.number = i.pr_number
             JOIN pull_requests AS p ON p.repository = s.repository AND p.number = s.number
               AND p.state = 'open' AND p.head_commit = s.head_commit
             WHERE i.pr_url LIKE 'codex:%'",
        )?;
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
        self.connection
            .prepare_cached(
                "INSERT OR REPLACE INTO pull_standings (
                     repository, number, base_commit, head_commit, conflicts, behind, new_commits)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .execute(params![
                standing.repository,
                standing.number,
                standing.base_commit,
                standing.head_commit,
                serde_json::json!(standing.conflicts).to_string(),
                standing.behind,
                standing.new_commits,
            ])?;
        Ok(())
    }
}

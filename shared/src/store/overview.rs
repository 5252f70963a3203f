//! Overview queries for boards: one query each for all agents.

use std::collections::HashMap;

use rusqlite::{Row, named_params, params};

use super::events::event;
use super::instances::{LIVE, instance};
use super::row::parsed;
use super::{EventQuery, EventRow, Reader, StoreError};
use crate::model::{Instance, InstanceId, Status, TaskId, Timestamp, Verdict};

/// What happened to an agent last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastEvent {
    pub name: String,
    pub at: Timestamp,
    pub failed: bool,
}

/// What stands beside the agents of a board.
#[derive(Debug, Clone, Default)]
pub struct Overview {
    pub last_events: HashMap<InstanceId, LastEvent>,
    pub task_titles: HashMap<TaskId, String>,
    /// Who reviews a coder right now.
    pub reviewers: HashMap<InstanceId, InstanceId>,
    /// What the last review of a coder decided.
    pub verdicts: HashMap<InstanceId, Verdict>,
    /// The commit that it was about.
    pub reviewed_commits: HashMap<InstanceId, String>,
}

impl Reader<'_> {
    /// Returns all agents that are not over, and the newest of those that are; oldest first.
    pub fn recent_instances(&self, ended: u32) -> Result<Vec<Instance>, StoreError> {
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT * FROM instances WHERE status IN {LIVE} OR status = 'pr_created'
             UNION ALL
             SELECT * FROM (SELECT * FROM instances INDEXED BY instances_over WHERE status IN
                 ('pr_merged', 'pr_closed', 'completed', 'failed', 'terminated')
                 ORDER BY status_since DESC, id LIMIT ?1)
             ORDER BY created_at, id"
        ))?;
        let rows = statement
            .query_map([ended], instance)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Counts the agents in each status.
    pub fn status_counts(&self) -> Result<HashMap<Status, u32>, StoreError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT status, count(*) AS many FROM instances GROUP BY status")?;
        let rows = statement
            .query_map([], |row| Ok((parsed(row, "status")?, row.get("many")?)))?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Returns what stands beside the given agents.
    pub fn overview(&self, of: &[Instance]) -> Result<Overview, StoreError> {
        let ids: Vec<&str> = of.iter().map(|instance| instance.id.as_str()).collect();
        let ids = serde_json::json!(ids).to_string();
        // The newest event of each by the index on (instance_id, id): one step each, however many there are.
        let last_events = self.pairs(
            "SELECT e.instance_id AS key, e.name, e.created_at, e.error_code IS NOT NULL AS failed
             FROM json_each(:ids) AS wanted JOIN mcp_events AS e
               ON e.id = (SELECT max(id) FROM mcp_events WHERE instance_id = wanted.value)",
            &ids,
            |row| {
                Ok(LastEvent {
                    name: row.get("name")?,
                    at: parsed(row, "created_at")?,
                    failed: row.get("failed")?,
                })
            },
        )?;
        let reviewers = self.pairs(
            "SELECT coding_instance_id AS key, review_instance_id FROM review_feedback
             WHERE verdict = 'pending' AND :ids IS NOT NULL",
            &ids,
            |row| parsed(row, "review_instance_id"),
        )?;
        let titles = self.pairs(
            "SELECT i.id AS key, t.id AS task_id, t.title FROM json_each(:ids) AS wanted
             JOIN instances AS i ON i.id = wanted.value JOIN tasks AS t ON t.id = i.task_id",
            &ids,
            |row| Ok((parsed(row, "task_id")?, row.get("title")?)),
        )?;
        let decided = self.pairs(
            "SELECT r.coding_instance_id AS key, r.verdict, r.commit_id
             FROM json_each(:ids) AS wanted JOIN review_feedback AS r
               ON r.coding_instance_id = wanted.value AND r.verdict IN ('approved', 'changes_requested')
             ORDER BY r.id",
            &ids,
            |row| Ok((parsed(row, "verdict")?, row.get::<_, String>("commit_id")?)),
        )?;
        let (verdicts, reviewed_commits) = decided
            .into_iter()
            .map(|(id, (verdict, commit))| ((id.clone(), verdict), (id, commit)))
            .unzip();
        Ok(Overview {
            verdicts,
            reviewed_commits,
            last_events,
            reviewers,
            task_titles: titles.into_values().collect(),
        })
    }

    fn pairs<T>(
        &self,
        sql: &str,
        ids: &str,
        value: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<HashMap<InstanceId, T>, StoreError> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement
            .query_map(named_params! {":ids": ids}, |row| {
                Ok((parsed(row, "key")?, value(row)?))
            })?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Returns the repositories that anything is known about, by path.
    pub fn repositories(&self) -> Result<Vec<String>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            // From each to the next by the index, however many rows are of one.
            "WITH RECURSIVE
             of_agents (path) AS (
                 SELECT min(repository) FROM instances UNION
                 SELECT (SELECT min(repository) FROM instances WHERE repository > path) FROM of_agents WHERE path <> ''),
             of_tasks (path) AS (
                 SELECT min(repository) FROM tasks UNION
                 SELECT (SELECT min(repository) FROM tasks WHERE repository > path) FROM of_tasks WHERE path <> ''),
             of_pulls (path) AS (
                 SELECT min(repository) FROM pull_requests UNION
                 SELECT (SELECT min(repository) FROM pull_requests WHERE repository > path) FROM of_pulls WHERE path <> '')
             SELECT path FROM of_agents UNION SELECT path FROM of_tasks UNION SELECT path FROM of_pulls ORDER BY path",
        )?;
        let rows = statement
            .query_map([], |row| row.get::<_, Option<String>>(0))?
            .filter_map(Result::transpose)
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Returns the events that are wanted, the newest first.
    pub fn events_before(
        &self,
        query: &EventQuery,
        limit: u32,
    ) -> Result<Vec<EventRow>, StoreError> {
        // One statement for each question, so that each is answered by the index that fits.
        let one = if query.instance.is_some() {
            "instance_id = :instance"
        } else {
            ":instance IS NULL"
        };
        let name = if query.name.is_some() {
            "name = :name"
        } else {
            ":name IS NULL"
        };
        let (index, failed) = match (query.errors_only, &query.instance) {
            (true, None) => ("INDEXED BY mcp_events_failed", "error_code IS NOT NULL"),
            (true, Some(_)) => (
                "INDEXED BY mcp_events_by_instance",
                "error_code IS NOT NULL",
            ),
            (false, Some(_)) => ("INDEXED BY mcp_events_by_instance", "true"),
            (false, None) => ("", "true"),
        };
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT * FROM mcp_events {index} WHERE {one} AND {name} AND {failed} AND id < :before
             ORDER BY id DESC LIMIT :limit"
        ))?;
        let rows = statement
            .query_map(
                named_params! {
                    ":instance": query.instance.as_ref().map(InstanceId::as_str),
                    ":before": query.before.unwrap_or(i64::MAX),
                    ":name": query.name,
                    ":limit": limit,
                },
                event,
            )?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Returns the agents whose pull requests have these addresses, by address.
    pub fn pull_agents(
        &self,
        repository: &str,
        urls: &[String],
    ) -> Result<HashMap<String, InstanceId>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT pr_url, id FROM instances
             WHERE repository = ?1 AND pr_url IN (SELECT value FROM json_each(?2))
             ORDER BY created_at, id",
        )?;
        let rows = statement
            .query_map(
                params![repository, serde_json::json!(urls).to_string()],
                |row| Ok((row.get("pr_url")?, parsed(row, "id")?)),
            )?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Returns the repositories with an agent whose pull request has this address and may still change.
    pub fn repositories_of_pull(&self, url: &str) -> Result<Vec<String>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT DISTINCT repository FROM instances
             WHERE status <> 'pr_merged' AND pr_url = ?1",
        )?;
        let rows = statement
            .query_map([url], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Returns the repositories with pull requests of agents that may still change, on either forge.
    pub fn repositories_to_sync(&self, limit: u32) -> Result<Vec<String>, StoreError> {
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT DISTINCT repository FROM instances
             WHERE (status IN {LIVE} OR status = 'pr_created') AND pr_url IS NOT NULL LIMIT ?1",
        ))?;
        let rows = statement
            .query_map([limit], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }
}

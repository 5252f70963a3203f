//! Retention: what may be deleted because it is old, in small steps, and what is needed still.

use rusqlite::{named_params, params};
use serde::Serialize;

use super::row::parsed_option;
use super::{Reader, StoreError, Writer};
use crate::model::{InstanceId, Timestamp};

/// Rows that one step deletes from one table: a few milliseconds of the write lock.
const MAX_ROWS_PER_STEP: u32 = 500;
/// Events that one step looks at, from the oldest.
const MAX_EVENTS_PER_STEP: u32 = 5_000;

/// Whose records are kept however old they are: the one place that decides it.
///
/// Needed is an agent that lives or is being ended, that has a message still to be taken or a pull request
/// still open, that works or worked on an open task or planned one, or that belongs to a TDD run which goes on; and the
/// coder of a needed reviewer, and the reviewers of a needed coder.
const NEEDED: &str = "
    WITH needed AS (
        SELECT id, parent_instance_id AS parent FROM instances AS agent
        WHERE status NOT IN ('pr_merged', 'pr_closed', 'completed', 'failed', 'terminated')
           OR owner_pid IS NOT NULL
           OR id IN (SELECT instance_id FROM messages WHERE state IN ('owed', 'typed', 'unconfirmed'))
           OR id IN (SELECT instance_id FROM pull_requests INDEXED BY pull_requests_open_head WHERE state = 'open')
           OR id IN (SELECT id FROM tdd_runs WHERE status = 'running')
           OR EXISTS (SELECT 1 FROM tasks WHERE created_by = agent.id AND status IN ('open', 'in_progress'))
           OR EXISTS (SELECT 1 FROM tasks WHERE tasks.id = agent.task_id AND tasks.status IN ('open', 'in_progress'))),
    kept AS (
        SELECT id FROM needed
        UNION SELECT parent FROM needed WHERE parent IS NOT NULL
        UNION SELECT id FROM instances WHERE parent_instance_id IN (SELECT id FROM needed))";

/// How long rows are kept. 0 days, or 0 rows: for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowLimits {
    pub event_days: u32,
    pub max_events: u32,
    pub message_days: u32,
}

/// What the database holds of what grows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Holdings {
    pub events: u64,
    pub oldest_event: Option<Timestamp>,
    pub messages: u64,
    pub oldest_message: Option<Timestamp>,
}

/// An agent and where it works or worked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedAgent {
    pub id: InstanceId,
    pub worktree: std::path::PathBuf,
}

impl Reader<'_> {
    /// Counts what grows.
    pub fn holdings(&self) -> Result<Holdings, StoreError> {
        let one = |sql: &str| self.connection.query_row(sql, [], |row| row.get(0));
        let first = |table: &str| {
            let sql = format!(
                "SELECT (SELECT created_at FROM {table} WHERE rowid = (SELECT min(rowid) FROM {table})) AS first"
            );
            self.connection
                .query_row(&sql, [], |row| parsed_option(row, "first"))
        };
        Ok(Holdings {
            events: one("SELECT count(*) FROM mcp_events")?,
            oldest_event: first("mcp_events")?,
            messages: one("SELECT count(*) FROM messages")?,
            oldest_message: first("messages")?,
        })
    }

    /// Returns the agents whose files must stay: needed ones, and those that did something in the last days.
    pub fn agents_with_files(&self, days: u32) -> Result<Vec<EndedAgent>, StoreError> {
        let mut statement = self.connection.prepare(&format!(
            "{NEEDED}
             SELECT id, worktree_path FROM instances
             WHERE id IN (SELECT id FROM kept)
                OR max(last_activity, status_since) >= strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-' || ?1 || ' days')"
        ))?;
        let rows = statement.query_map([days], ended)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns the agents that a person may bring back with the files they had, if their worktrees stand.
    pub fn resumable_agents(&self) -> Result<Vec<EndedAgent>, StoreError> {
        let mut statement = self.connection.prepare(
            "SELECT id, worktree_path FROM instances
             WHERE origin = 'launched' AND status IN ('failed', 'terminated')",
        )?;
        let rows = statement.query_map([], ended)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns the snapshots that sessions in a TDD phase stand on.
    pub fn phase_snapshots(&self) -> Result<Vec<String>, StoreError> {
        let mut statement = self.connection.prepare("SELECT snapshot FROM tdd_phases")?;
        let rows = statement.query_map([], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns the numbers of a repository's pull requests that were merged or closed so many days ago.
    pub fn pulls_over_for(&self, repository: &str, days: u32) -> Result<Vec<u64>, StoreError> {
        let mut statement = self.connection.prepare(
            "SELECT number FROM pull_requests
             WHERE repository = ?1 AND state <> 'open'
               AND updated_at < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-' || ?2 || ' days')
             ORDER BY number",
        )?;
        let rows = statement.query_map(params![repository, days], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

fn ended(row: &rusqlite::Row<'_>) -> rusqlite::Result<EndedAgent> {
    let worktree: String = row.get("worktree_path")?;
    Ok(EndedAgent {
        id: super::row::parsed(row, "id")?,
        worktree: worktree.into(),
    })
}

impl Writer<'_> {
    /// Deletes some rows that are too old or too many; returns how many, so 0 means that all is done.
    pub fn delete_old_rows(&self, limits: &RowLimits) -> Result<usize, StoreError> {
        let mut deleted = 0;
        deleted += self
            .connection
            .prepare_cached(&format!(
                "{NEEDED}
                 DELETE FROM mcp_events WHERE id IN (
                     SELECT id FROM (SELECT id, instance_id, created_at FROM mcp_events ORDER BY id LIMIT {MAX_EVENTS_PER_STEP})
                     WHERE ((:days > 0 AND created_at < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-' || :days || ' days'))
                            OR (:most > 0 AND id <= (SELECT max(id) FROM mcp_events) - :most))
                       AND (instance_id IS NULL OR instance_id NOT IN (SELECT id FROM kept))
                     LIMIT {MAX_ROWS_PER_STEP})"
            ))?
            .execute(named_params! {":days": limits.event_days, ":most": limits.max_events})?;
        if limits.message_days == 0 {
            return Ok(deleted);
        }
        let days = params![limits.message_days];
        let before = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-' || ?1 || ' days')";
        deleted += self
            .connection
            .prepare_cached(&format!(
                "{NEEDED}
                 DELETE FROM messages WHERE id IN (
                     SELECT id FROM messages INDEXED BY messages_over
                     WHERE state IN ('taken', 'dropped') AND created_at < {before}
                       AND instance_id NOT IN (SELECT id FROM kept)
                     LIMIT {MAX_ROWS_PER_STEP})"
            ))?
            .execute(days)?;
        deleted += self
            .connection
            .prepare_cached(&format!(
                "{NEEDED}
                 DELETE FROM endings WHERE instance_id IN (
                     SELECT instance_id FROM endings INDEXED BY endings_by_time
                     WHERE at < {before} AND instance_id NOT IN (SELECT id FROM kept)
                     LIMIT {MAX_ROWS_PER_STEP})"
            ))?
            .execute(days)?;
        deleted += self
            .connection
            .prepare_cached(&format!(
                "DELETE FROM tdd_responses WHERE id IN (
                     SELECT tdd_responses.id FROM tdd_runs CROSS JOIN tdd_responses ON tdd_runs.id = run_id
                     WHERE status <> 'running' AND updated_at < {before} LIMIT {MAX_ROWS_PER_STEP})"
            ))?
            .execute(days)?;
        // What was heard from GitHub can be asked for again.
        deleted += self
            .connection
            .prepare_cached(&format!(
                "DELETE FROM github_state WHERE resource IN (
                     SELECT resource FROM github_state
                     WHERE updated_at < {before} AND coalesce(retry_at, '') < updated_at LIMIT {MAX_ROWS_PER_STEP})"
            ))?
            .execute(days)?;
        deleted += self
            .connection
            .prepare_cached(&format!(
                "DELETE FROM webhook_deliveries WHERE id IN (
                     SELECT id FROM webhook_deliveries WHERE received_at < {before} LIMIT {MAX_ROWS_PER_STEP})"
            ))?
            .execute(days)?;
        Ok(deleted)
    }
}

#[cfg(test)]
#[path = "retention_tests.rs"]
mod tests;

//! Counting what happened, for graphs.

use rusqlite::params;

use super::row::parsed;
use super::{Reader, StoreError};
use crate::model::{EventSource, MessageState};

/// How often one kind of thing happened, and how long that took.
#[derive(Debug, Clone, PartialEq)]
pub struct EventTotal {
    pub source: EventSource,
    pub server: String,
    pub name: String,
    pub failed: bool,
    pub count: u64,
    pub milliseconds: f64,
}

/// All that happened after some event.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EventTotals {
    pub totals: Vec<EventTotal>,
    /// The last event that is in it.
    pub last: i64,
}

impl Reader<'_> {
    /// Counts the events after the given one.
    pub fn event_totals(&self, after: i64) -> Result<EventTotals, StoreError> {
        let last: i64 = self
            .connection
            .prepare_cached("SELECT coalesce(max(id), 0) FROM mcp_events")?
            .query_row([], |row| row.get(0))?;
        let mut statement = self.connection.prepare_cached(
            "SELECT source, server, name, error_code IS NOT NULL AS failed, count(*) AS many,
                    sum(duration_ms) AS milliseconds
             FROM mcp_events WHERE id > ?1 AND id <= ?2 GROUP BY source, server, name, failed",
        )?;
        let totals = statement
            .query_map(params![after, last], |row| {
                Ok(EventTotal {
                    source: parsed(row, "source")?,
                    server: row.get("server")?,
                    name: row.get("name")?,
                    failed: row.get("failed")?,
                    count: row.get("many")?,
                    milliseconds: row.get("milliseconds")?,
                })
            })?
            .collect::<Result<_, _>>()?;
        Ok(EventTotals {
            totals,
            last: last.max(after),
        })
    }

    /// Counts the messages in each state, and of those that were taken by what proved it.
    pub fn message_totals(&self) -> Result<Vec<(MessageState, Option<String>, u64)>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT state, CASE state WHEN 'taken' THEN taken_by END AS how, count(*) AS many
             FROM messages GROUP BY state, how ORDER BY state, how",
        )?;
        let rows = statement
            .query_map([], |row| {
                Ok((parsed(row, "state")?, row.get("how")?, row.get("many")?))
            })?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Returns how many bytes the database takes, without what waits in its log.
    pub fn database_bytes(&self) -> Result<u64, StoreError> {
        Ok(self
            .connection
            .prepare_cached(
                "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
            )?
            .query_row([], |row| row.get(0))?)
    }
}

//! Totals for metrics: counters that are maintained instead of counted.

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

impl Reader<'_> {
    /// Counts the events that were ever recorded.
    pub fn event_totals(&self) -> Result<Vec<EventTotal>, StoreError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT * FROM event_totals ORDER BY source, server, name, failed")?;
        let totals = statement
            .query_map([], |row| {
                Ok(EventTotal {
                    source: parsed(row, "source")?,
                    server: row.get("server")?,
                    name: row.get("name")?,
                    failed: row.get("failed")?,
                    count: row.get("events")?,
                    milliseconds: row.get("milliseconds")?,
                })
            })?
            .collect::<Result<_, _>>()?;
        Ok(totals)
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

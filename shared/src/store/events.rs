//! Events (`mcp_events`): recorded tool calls and commands, in order.

use rusqlite::{Row, params};
use serde::Serialize;
use serde_json::Value;

use super::row::{json, parsed, parsed_option};
use super::{NOW, Reader, StoreError, Writer};
use crate::model::secrets::redact;
use crate::model::{EventSource, InstanceId, StatusChange, Timestamp};

/// Which events are wanted.
#[derive(Debug, Clone, Default)]
pub struct EventQuery {
    pub instance: Option<InstanceId>,
    pub name: Option<String>,
    pub errors_only: bool,
    /// Only those before this one.
    pub before: Option<i64>,
}

/// An event to be recorded. Secrets are redacted from its JSON when it is written.
#[derive(Debug, Clone)]
pub struct NewEvent {
    pub instance: Option<InstanceId>,
    pub source: EventSource,
    pub server: String,
    pub name: String,
    pub parameters: Value,
    pub result: Option<Value>,
    pub error_code: Option<String>,
    pub status_changes: Vec<StatusChange>,
    pub duration_ms: f64,
}

impl NewEvent {
    /// Makes an event of something that happened by itself, no call or command.
    pub fn system(instance: &InstanceId, name: &str, status_changes: Vec<StatusChange>) -> Self {
        Self {
            instance: Some(instance.clone()),
            source: EventSource::System,
            server: "claude-codex".to_owned(),
            name: name.to_owned(),
            parameters: serde_json::json!({}),
            result: None,
            error_code: None,
            status_changes,
            duration_ms: 0.0,
        }
    }
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EventRow {
    pub id: i64,
    pub instance_id: Option<InstanceId>,
    pub source: EventSource,
    pub server: String,
    pub name: String,
    pub parameters: Value,
    pub result: Option<Value>,
    pub error_code: Option<String>,
    pub status_changes: Vec<StatusChange>,
    pub duration_ms: f64,
    pub created_at: Timestamp,
}

pub(super) fn event(row: &Row<'_>) -> rusqlite::Result<EventRow> {
    let result: Option<String> = row.get("result")?;
    Ok(EventRow {
        id: row.get("id")?,
        instance_id: parsed_option(row, "instance_id")?,
        source: parsed(row, "source")?,
        server: row.get("server")?,
        name: row.get("name")?,
        parameters: json(row, "parameters")?,
        result: result.and_then(|text| serde_json::from_str(&text).ok()),
        error_code: row.get("error_code")?,
        status_changes: json(row, "status_changes")?,
        duration_ms: row.get("duration_ms")?,
        created_at: parsed(row, "created_at")?,
    })
}

impl Reader<'_> {
    /// Returns up to `limit` events after the given one, oldest first; of one instance or of all.
    pub fn events_after(
        &self,
        instance: Option<&InstanceId>,
        after: i64,
        limit: u32,
    ) -> Result<Vec<EventRow>, StoreError> {
        // One statement for each question, so that an agent's own events come by their index.
        let of_one = match instance {
            Some(_) => "instance_id = ?2",
            None => "?2 IS NULL",
        };
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT * FROM mcp_events WHERE id > ?1 AND {of_one} ORDER BY id LIMIT ?3"
        ))?;
        let rows = statement
            .query_map(
                params![after, instance.map(InstanceId::as_str), limit],
                event,
            )?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Returns the newest events, oldest first.
    pub fn latest_events(
        &self,
        instance: Option<&InstanceId>,
        limit: u32,
    ) -> Result<Vec<EventRow>, StoreError> {
        let query = EventQuery {
            instance: instance.cloned(),
            ..EventQuery::default()
        };
        let mut events = self.events_before(&query, limit)?;
        events.reverse();
        Ok(events)
    }
}

impl Writer<'_> {
    /// Records a tool call, which is a sign of life of its agent.
    pub fn record_call(&self, call: &NewEvent) -> Result<(), StoreError> {
        if let Some(instance) = &call.instance {
            self.touch(instance)?;
        }
        self.insert_event(call)
    }

    pub fn insert_event(&self, new: &NewEvent) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(&format!(
                // A row is never refused because its instance is unknown.
                "INSERT INTO mcp_events (instance_id, source, server, name, parameters, result, error_code,
                                         status_changes, duration_ms, created_at)
                 VALUES ((SELECT id FROM instances WHERE id = ?1), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, {NOW})"
            ))?
            .execute(params![
                new.instance.as_ref().map(InstanceId::as_str),
                new.source.as_str(),
                new.server,
                new.name,
                redact(&new.parameters).to_string(),
                new.result.as_ref().map(|result| redact(result).to_string()),
                new.error_code,
                serde_json::json!(new.status_changes).to_string(),
                new.duration_ms,
            ])?;
        self.connection
            .prepare_cached(
                "INSERT INTO event_totals (source, server, name, failed, events, milliseconds)
                 VALUES (?1, ?2, ?3, ?4, 1, ?5)
                 ON CONFLICT (source, server, name, failed) DO UPDATE
                 SET events = events + 1, milliseconds = milliseconds + excluded.milliseconds",
            )?
            .execute(params![
                new.source.as_str(),
                new.server,
                new.name,
                new.error_code.is_some(),
                new.duration_ms,
            ])?;
        Ok(())
    }
}

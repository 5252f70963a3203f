//! Terminal control lease: which person types into an agent's terminal.

use rusqlite::{OptionalExtension, params};

use super::row::parsed;
use super::{NOW, Reader, StoreError, Writer};
use crate::model::{InstanceId, Timestamp};

/// A person who types into an agent's terminal.
#[derive(Debug, Clone, PartialEq)]
pub struct PaneControl {
    /// Known only to them.
    pub lease: String,
    pub holder: String,
    pub until: Timestamp,
    /// For how many more seconds.
    pub seconds_left: f64,
}

impl Reader<'_> {
    /// Returns who has control of an agent's terminal now.
    pub fn pane_control(&self, id: &InstanceId) -> Result<Option<PaneControl>, StoreError> {
        Ok(self
            .connection
            .prepare_cached(&format!(
                "SELECT *, (julianday(until) - julianday('now')) * 86400.0 AS seconds_left
                 FROM pane_control WHERE instance_id = ?1 AND until > {NOW}"
            ))?
            .query_row([id.as_str()], |row| {
                Ok(PaneControl {
                    lease: row.get("lease")?,
                    holder: row.get("holder")?,
                    until: parsed(row, "until")?,
                    seconds_left: row.get("seconds_left")?,
                })
            })
            .optional()?)
    }
}

impl Writer<'_> {
    /// Gives control of a terminal to somebody for some seconds, whoever had it.
    pub fn set_pane_control(
        &self,
        id: &InstanceId,
        lease: &str,
        holder: &str,
        seconds: u32,
    ) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(
                "INSERT INTO pane_control (instance_id, lease, holder, until)
                 VALUES (?1, ?2, ?3, strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+' || ?4 || ' seconds'))
                 ON CONFLICT (instance_id) DO UPDATE
                 SET lease = excluded.lease, holder = excluded.holder, until = excluded.until",
            )?
            .execute(params![id.as_str(), lease, holder, seconds])?;
        Ok(())
    }

    /// Takes control back from whoever has the lease; false if it is not theirs (any more).
    pub fn release_pane_control(&self, id: &InstanceId, lease: &str) -> Result<bool, StoreError> {
        let released = self
            .connection
            .prepare_cached("DELETE FROM pane_control WHERE instance_id = ?1 AND lease = ?2")?
            .execute(params![id.as_str(), lease])?;
        Ok(released == 1)
    }
}

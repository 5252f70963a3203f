//! Text owed to agents, and who is handing it over.

use rusqlite::{OptionalExtension, Row, params};

use super::row::{parsed, parsed_option};
use super::{NOW, Reader, StoreError, Writer};
use crate::model::{InstanceId, Message, MessageId, MessageKind, MessageState, TakenBy};

/// A message to be owed.
#[derive(Debug, Clone)]
pub struct NewMessage {
    pub id: MessageId,
    pub instance: InstanceId,
    pub sender: String,
    pub kind: MessageKind,
    pub body: String,
}

fn message(row: &Row<'_>) -> rusqlite::Result<Message> {
    Ok(Message {
        id: parsed(row, "id")?,
        instance_id: parsed(row, "instance_id")?,
        sender: row.get("sender")?,
        kind: parsed(row, "kind")?,
        body: row.get("body")?,
        state: parsed(row, "state")?,
        taken_by: parsed_option(row, "taken_by")?,
        attempts: row.get("attempts")?,
        waiting_for: row.get("waiting_for")?,
        created_at: row.get("created_at")?,
        typed_at: row.get("typed_at")?,
        taken_at: row.get("taken_at")?,
    })
}

impl Reader<'_> {
    /// Returns all messages to an instance, oldest first.
    pub fn messages(&self, instance: &InstanceId) -> Result<Vec<Message>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT * FROM messages WHERE instance_id = ?1 ORDER BY created_at, rowid",
        )?;
        let rows = statement
            .query_map([instance.as_str()], message)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Returns the oldest message that an instance has not taken yet.
    pub fn next_message(&self, instance: &InstanceId) -> Result<Option<Message>, StoreError> {
        Ok(self
            .connection
            .prepare_cached(
                "SELECT * FROM messages WHERE instance_id = ?1 AND state IN ('owed', 'typed')
                 ORDER BY created_at, rowid LIMIT 1",
            )?
            .query_row([instance.as_str()], message)
            .optional()?)
    }

    /// Returns one message.
    pub fn message(&self, id: &MessageId) -> Result<Option<Message>, StoreError> {
        Ok(self
            .connection
            .prepare_cached("SELECT * FROM messages WHERE id = ?1")?
            .query_row([id.as_str()], message)
            .optional()?)
    }

    /// Returns who has the right to hand a message over, or had it last.
    pub fn lease_holder(&self, id: &MessageId) -> Result<Option<String>, StoreError> {
        Ok(self
            .connection
            .prepare_cached("SELECT lease_holder FROM messages WHERE id = ?1")?
            .query_row([id.as_str()], |row| row.get(0))
            .optional()?
            .flatten())
    }

    /// Tells whether a message was handed over at least so many seconds ago.
    pub fn typed_longer_ago(&self, id: &MessageId, seconds: f64) -> Result<bool, StoreError> {
        Ok(self
            .connection
            .prepare_cached(
                "SELECT 1 FROM messages WHERE id = ?1
                 AND (julianday('now') - julianday(typed_at)) * 86400.0 >= ?2",
            )?
            .exists(params![id.as_str(), seconds])?)
    }
}

impl Writer<'_> {
    /// Owes an agent a text; call it in the transaction that gives the reason.
    pub fn insert_message(&self, new: &NewMessage) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(&format!(
                "INSERT INTO messages (id, instance_id, sender, kind, body, state, created_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, 'owed', {NOW})"
            ))?
            .execute(params![
                new.id.as_str(),
                new.instance.as_str(),
                new.sender,
                new.kind.as_str(),
                new.body,
            ])?;
        Ok(())
    }

    /// Takes the right to hand a message over, for some seconds; false if another has it.
    ///
    /// The right of a holder that is known to be dead, `orphan`, is taken over.
    pub fn lease(
        &self,
        id: &MessageId,
        holder: &str,
        orphan: Option<&str>,
        seconds: u32,
    ) -> Result<bool, StoreError> {
        let leased = self
            .connection
            .prepare_cached(&format!(
                "UPDATE messages SET lease_holder = ?2,
                     lease_until = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+' || ?3 || ' seconds')
                 WHERE id = ?1 AND state IN ('owed', 'typed')
                   AND (lease_holder IS NULL OR lease_holder = ?2 OR lease_holder = ?4 OR lease_until < {NOW})"
            ))?
            .execute(params![id.as_str(), holder, seconds, orphan])?;
        Ok(leased == 1)
    }

    /// Gives the right back and says what the message waits for.
    pub fn release(&self, id: &MessageId, waiting_for: Option<&str>) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(
                "UPDATE messages SET lease_holder = NULL, lease_until = NULL, waiting_for = ?2
                 WHERE id = ?1",
            )?
            .execute(params![id.as_str(), waiting_for])?;
        Ok(())
    }

    /// Records, before it is done, that a message is being handed over, and how.
    ///
    /// False if somebody else has done so, or has the right to.
    pub fn begin_handing_over(
        &self,
        id: &MessageId,
        how: TakenBy,
        holder: &str,
    ) -> Result<bool, StoreError> {
        let begun = self
            .connection
            .prepare_cached(&format!(
                "UPDATE messages SET state = 'typed', taken_by = ?2, typed_at = {NOW},
                     attempts = attempts + 1, waiting_for = NULL
                 WHERE id = ?1 AND state = 'owed'
                   AND (lease_holder IS NULL OR lease_holder = ?3 OR lease_until < {NOW})"
            ))?
            .execute(params![id.as_str(), how.as_str(), holder])?;
        Ok(begun == 1)
    }

    /// Takes a hand-over back that is known not to have happened.
    pub fn owe_again(&self, id: &MessageId) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(
                "UPDATE messages SET state = 'owed', taken_by = NULL, typed_at = NULL,
                     lease_holder = NULL, lease_until = NULL
                 WHERE id = ?1 AND state = 'typed'",
            )?
            .execute([id.as_str()])?;
        Ok(())
    }

    /// Records that the agent has it; false if that was known.
    pub fn taken(&self, id: &MessageId, by: TakenBy) -> Result<bool, StoreError> {
        let changed = self
            .connection
            .prepare_cached(&format!(
                "UPDATE messages SET state = 'taken', taken_by = ?2, taken_at = {NOW},
                     waiting_for = NULL, lease_holder = NULL, lease_until = NULL
                 WHERE id = ?1 AND state IN ('owed', 'typed')"
            ))?
            .execute(params![id.as_str(), by.as_str()])?;
        Ok(changed == 1)
    }

    /// Counts on nobody to take what an agent that has ended for good was owed.
    pub fn drop_messages(&self, instance: &InstanceId) -> Result<(), StoreError> {
        self.connection.execute(
            &format!(
                "UPDATE messages SET state = '{}' WHERE instance_id = ?1 AND state IN ('owed', 'typed')",
                MessageState::Dropped
            ),
            [instance.as_str()],
        )?;
        Ok(())
    }
}

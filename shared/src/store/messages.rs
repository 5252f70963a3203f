//! Messages owed to agents, and the lease of the process that delivers one.

use std::collections::HashMap;

use rusqlite::{OptionalExtension, Row, params};

use super::row::{parsed, parsed_option};
use super::{NOW, Reader, StoreError, Writer};
use crate::model::{
    InstanceId, Message, MessageId, MessageKind, MessageState, TakenBy, WaitReason,
};

/// Longer than one attempt takes; a deliverer that dies blocks the message no longer than this.
pub const LEASE_SECONDS: u32 = 15;

/// True while a lease lasts. One that seems to last longer than any does was written before the clock was set back.
const IN_FORCE: &str = "coalesce(lease_until BETWEEN strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
    AND strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+16 seconds'), 0)";

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
        waiting_for: waiting_for(row)?,
        created_at: parsed(row, "created_at")?,
        typed_at: parsed_option(row, "typed_at")?,
        taken_at: parsed_option(row, "taken_at")?,
    })
}

/// Reads why a message waits. Databases of earlier versions hold sentences here; the next look replaces them.
fn waiting_for(row: &Row<'_>) -> rusqlite::Result<Option<WaitReason>> {
    let word: Option<String> = row.get("waiting_for")?;
    Ok(word.and_then(|word| word.parse().ok()))
}

/// The right to hand one message over. A newer lease on any message of the same agent has a higher epoch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseRow {
    pub holder: Option<String>,
    pub epoch: u64,
    /// The epoch in which the message was typed last.
    pub typed_epoch: u64,
    /// False once it has run out, or claims to last longer than any lease does (the clock was set back).
    pub in_force: bool,
}

impl Reader<'_> {
    /// Returns all messages to an instance, oldest first.
    pub fn messages(&self, instance: &InstanceId) -> Result<Vec<Message>, StoreError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT * FROM messages WHERE instance_id = ?1 ORDER BY rowid")?;
        let rows = statement
            .query_map([instance.as_str()], message)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Returns the message to look at next: the one that was typed, or else the oldest that is owed.
    ///
    /// A typed one may stand in the input box, in the way of any other. By number, not by time: the clock may be set back.
    pub fn next_message(&self, instance: &InstanceId) -> Result<Option<Message>, StoreError> {
        Ok(self
            .connection
            .prepare_cached(
                "SELECT * FROM messages WHERE instance_id = ?1 AND state IN ('owed', 'typed')
                 ORDER BY state = 'typed' DESC, rowid LIMIT 1",
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

    /// Returns where the agent's transcripts ended when a message was first handed over.
    pub fn transcript_ends(&self, id: &MessageId) -> Result<Option<String>, StoreError> {
        let ends = self
            .connection
            .prepare_cached("SELECT transcript_ends FROM messages WHERE id = ?1")?
            .query_row([id.as_str()], |row| row.get(0))
            .optional()?;
        Ok(ends.flatten())
    }

    /// Returns the present lease on a message, or the last one.
    pub fn message_lease(&self, id: &MessageId) -> Result<Option<LeaseRow>, StoreError> {
        Ok(self
            .connection
            .prepare_cached(&format!(
                "SELECT lease_holder, lease_epoch, typed_epoch, lease_holder IS NOT NULL AND {IN_FORCE} AS in_force
                 FROM messages WHERE id = ?1"
            ))?
            .query_row([id.as_str()], |row| {
                Ok(LeaseRow {
                    holder: row.get(0)?,
                    epoch: row.get(1)?,
                    typed_epoch: row.get(2)?,
                    in_force: row.get(3)?,
                })
            })
            .optional()?)
    }

    /// Returns the agents that are owed something.
    pub fn owed_instances(&self) -> Result<Vec<InstanceId>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT DISTINCT instance_id FROM messages WHERE state IN ('owed', 'typed')",
        )?;
        let rows = statement
            .query_map([], |row| parsed(row, "instance_id"))?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Counts the messages of each agent that were typed without proof that it has them.
    pub fn unconfirmed_messages(&self) -> Result<HashMap<InstanceId, u32>, StoreError> {
        self.message_counts(
            "SELECT instance_id, count(*) AS many FROM messages WHERE state = 'unconfirmed'
             GROUP BY instance_id",
        )
    }

    /// Counts the messages of each agent that it has not taken yet.
    pub fn owed_messages(&self) -> Result<HashMap<InstanceId, u32>, StoreError> {
        self.message_counts(
            "SELECT instance_id, count(*) AS many FROM messages WHERE state IN ('owed', 'typed')
             GROUP BY instance_id",
        )
    }

    fn message_counts(&self, sql: &str) -> Result<HashMap<InstanceId, u32>, StoreError> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement
            .query_map([], |row| {
                Ok((parsed(row, "instance_id")?, row.get("many")?))
            })?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Tells whether a message was handed over at least so many seconds ago.
    ///
    /// A time that far in the future counts too: the clock was set back since.
    pub fn typed_before(&self, id: &MessageId, seconds: f64) -> Result<bool, StoreError> {
        Ok(self
            .connection
            .prepare_cached(
                "SELECT 1 FROM messages WHERE id = ?1
                 AND abs(julianday('now') - julianday(typed_at)) * 86400.0 >= ?2",
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
        self.owed.borrow_mut().push(new.instance.clone());
        Ok(())
    }

    /// Takes the right to hand a message over; none if another has it. Returns the fencing token.
    ///
    /// The right of a holder that is known to be dead, `orphan`, is taken over.
    pub fn lease(
        &self,
        id: &MessageId,
        holder: &str,
        orphan: Option<&str>,
    ) -> Result<Option<u64>, StoreError> {
        let free: bool = self
            .connection
            .prepare_cached(&format!(
                "SELECT 1 FROM messages WHERE id = ?1 AND state IN ('owed', 'typed')
                   AND (lease_holder IS NULL OR lease_holder = ?2 OR NOT {IN_FORCE})"
            ))?
            .exists(params![id.as_str(), orphan])?;
        if !free {
            return Ok(None);
        }
        let epoch = self
            .connection
            .prepare_cached(
                "UPDATE instances SET delivery_epoch = delivery_epoch + 1
                 WHERE id = (SELECT instance_id FROM messages WHERE id = ?1)
                 RETURNING delivery_epoch",
            )?
            .query_row([id.as_str()], |row| row.get(0))?;
        self.connection
            .prepare_cached(
                "UPDATE messages SET lease_holder = ?2, lease_epoch = ?3,
                     lease_until = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+' || ?4 || ' seconds')
                 WHERE id = ?1",
            )?
            .execute(params![id.as_str(), holder, epoch, LEASE_SECONDS])?;
        Ok(Some(epoch))
    }

    /// Starts a new epoch of an agent's terminal, which shuts out all deliverers before it.
    pub fn next_delivery_epoch(&self, instance: &InstanceId) -> Result<u64, StoreError> {
        Ok(self
            .connection
            .prepare_cached(
                "UPDATE instances SET delivery_epoch = delivery_epoch + 1 WHERE id = ?1
                 RETURNING delivery_epoch",
            )?
            .query_row([instance.as_str()], |row| row.get(0))?)
    }

    /// Makes the next lease on a message to an agent newer than this epoch; false if it is already.
    pub fn raise_delivery_epoch(
        &self,
        instance: &InstanceId,
        epoch: u64,
    ) -> Result<bool, StoreError> {
        let raised = self
            .connection
            .prepare_cached(
                "UPDATE instances SET delivery_epoch = ?2 WHERE id = ?1 AND delivery_epoch < ?2",
            )?
            .execute(params![instance.as_str(), epoch])?;
        Ok(raised == 1)
    }

    /// Says what a message waits for, and gives the lease of this epoch back.
    ///
    /// Without an epoch, the lease of another stays as it is.
    pub fn wait(
        &self,
        id: &MessageId,
        epoch: Option<u64>,
        reason: WaitReason,
    ) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(
                "UPDATE messages SET waiting_for = ?3,
                     lease_holder = CASE lease_epoch WHEN ?2 THEN NULL ELSE lease_holder END
                 WHERE id = ?1 AND state IN ('owed', 'typed')",
            )?
            .execute(params![id.as_str(), epoch, reason.as_str()])?;
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
                     attempts = attempts + 1, waiting_for = NULL, lease_holder = ?3, typed_epoch = lease_epoch
                 WHERE id = ?1 AND state = 'owed'
                   AND (lease_holder IS NULL OR lease_holder = ?3 OR NOT {IN_FORCE})"
            ))?
            .execute(params![id.as_str(), how.as_str(), holder])?;
        Ok(begun == 1)
    }

    /// Keeps where the agent's transcripts end before a message is handed over; what is known from before stays.
    pub fn set_transcript_ends(&self, id: &MessageId, ends: &str) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(
                "UPDATE messages SET transcript_ends = ?2 WHERE id = ?1 AND transcript_ends IS NULL",
            )?
            .execute(params![id.as_str(), ends])?;
        Ok(())
    }

    /// Takes back an attempt that is known to have typed nothing: it does not count.
    pub fn nothing_typed(
        &self,
        id: &MessageId,
        epoch: u64,
        reason: Option<WaitReason>,
    ) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(
                "UPDATE messages SET state = 'owed', taken_by = NULL, typed_at = NULL,
                     attempts = max(attempts - 1, 0), waiting_for = ?3, lease_holder = NULL
                 WHERE id = ?1 AND state = 'typed' AND lease_epoch = ?2",
            )?
            .execute(params![id.as_str(), epoch, reason.map(WaitReason::as_str)])?;
        Ok(())
    }

    /// Takes a hand-over back that is known not to have reached the agent, in the lease of this epoch.
    ///
    /// Who knew that under an older lease knew it of an older hand-over.
    pub fn owe_again(&self, id: &MessageId, epoch: u64) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(
                "UPDATE messages SET state = 'owed', taken_by = NULL, typed_at = NULL,
                     waiting_for = NULL, lease_holder = NULL
                 WHERE id = ?1 AND state = 'typed' AND lease_epoch = ?2",
            )?
            .execute(params![id.as_str(), epoch])?;
        Ok(())
    }

    /// Owes an unconfirmed message once more, as if it was new; false if it is not unconfirmed.
    pub fn owe_unconfirmed(
        &self,
        instance: &InstanceId,
        id: &MessageId,
    ) -> Result<bool, StoreError> {
        let changed = self
            .connection
            .prepare_cached(
                "UPDATE messages SET state = 'owed', taken_by = NULL, typed_at = NULL, attempts = 0,
                     waiting_for = NULL, lease_holder = NULL
                 WHERE id = ?1 AND instance_id = ?2 AND state = 'unconfirmed'",
            )?
            .execute(params![id.as_str(), instance.as_str()])?;
        self.owed.borrow_mut().push(instance.clone());
        Ok(changed == 1)
    }

    /// Gives up on proof for a message that was typed in the lease of this epoch; false if that is not so.
    pub fn unconfirmed(&self, id: &MessageId, epoch: u64) -> Result<bool, StoreError> {
        let changed = self
            .connection
            .prepare_cached(
                "UPDATE messages SET state = 'unconfirmed', waiting_for = NULL, lease_holder = NULL
                 WHERE id = ?1 AND state = 'typed' AND lease_epoch = ?2",
            )?
            .execute(params![id.as_str(), epoch])?;
        Ok(changed == 1)
    }

    /// Records that the agent has it; false if that was known.
    pub fn taken(&self, id: &MessageId, by: TakenBy) -> Result<bool, StoreError> {
        let changed = self
            .connection
            .prepare_cached(&format!(
                "UPDATE messages SET state = 'taken', taken_by = ?2, taken_at = {NOW},
                     waiting_for = NULL, lease_holder = NULL
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;
    use crate::store::tests::{new_instance, open_in};

    fn store(folder: &std::path::Path) -> (Store, MessageId) {
        let store = open_in(folder);
        let id: MessageId = "m-00000001".parse().unwrap();
        let new = NewMessage {
            id: id.clone(),
            instance: "work-42-a1".parse().unwrap(),
            sender: "person".to_owned(),
            kind: MessageKind::Note,
            body: "text".to_owned(),
        };
        store
            .write_now(|w| {
                w.insert_instance(&new_instance("work-42-a1"), None)?;
                w.insert_message(&new)
            })
            .unwrap();
        (store, id)
    }

    #[test]
    fn one_holds_the_lease_and_each_has_a_higher_epoch() {
        let folder = tempfile::tempdir().unwrap();
        let (store, id) = store(folder.path());
        let lease = |who: &str, orphan: Option<&str>| {
            store.write_now(|w| w.lease(&id, who, orphan)).unwrap()
        };
        let first = lease("a", None).unwrap();
        assert_eq!(lease("b", None), None);
        assert_eq!(lease("a", None), None, "not even the same process twice");
        let second = lease("b", Some("a")).unwrap();
        assert!(second > first);
        // What the old holder says does not count any more.
        store
            .write_now(|w| {
                assert!(w.begin_handing_over(&id, TakenBy::Screen, "b")?);
                assert!(!w.unconfirmed(&id, first)?);
                w.nothing_typed(&id, first, None)?;
                w.owe_again(&id, first)?;
                w.wait(&id, Some(first), WaitReason::Proof)
            })
            .unwrap();
        let row = store.read_now(|r| r.message_lease(&id)).unwrap().unwrap();
        assert_eq!(
            (row.holder.as_deref(), row.typed_epoch, row.in_force),
            (Some("b"), second, true)
        );
        assert!(store.write_now(|w| w.unconfirmed(&id, second)).unwrap());
    }

    #[test]
    fn a_lease_from_before_the_clock_was_set_back_is_over() {
        let folder = tempfile::tempdir().unwrap();
        let (store, id) = store(folder.path());
        let far =
            "/* all */ UPDATE messages SET lease_holder = 'a', lease_until = '2999-01-01T00:00:00.000Z',
            typed_at = '2999-01-01T00:00:00.000Z'";
        store
            .write_now(|w| Ok(w.connection.execute(far, [])?))
            .unwrap();
        assert!(store.read_now(|r| r.typed_before(&id, 10.0)).unwrap());
        assert!(
            store
                .write_now(|w| w.lease(&id, "b", None))
                .unwrap()
                .is_some()
        );
    }

    #[test]
    fn a_sentence_of_an_earlier_version_is_no_reason() {
        let folder = tempfile::tempdir().unwrap();
        let (store, id) = store(folder.path());
        store
            .write_now(|w| {
                let old = "/* all */ UPDATE messages SET waiting_for = 'the end of its turn'";
                Ok(w.connection.execute(old, [])?)
            })
            .unwrap();
        let message = store.read_now(|r| r.message(&id)).unwrap().unwrap();
        assert_eq!(message.waiting_for, None);
    }
}

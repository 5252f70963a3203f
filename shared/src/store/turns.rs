//! Turns of agents: when the last one ended, what the agent said then, and whether it was reminded.

use std::collections::HashMap;

use rusqlite::{OptionalExtension, params};

use super::row::parsed;
use super::{Reader, StoreError, Writer};
use crate::model::{Instance, InstanceId, Timestamp};

/// A turn that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedTurn {
    /// Since when it rests; in the future while what it has left running may wake it.
    pub at: Timestamp,
    /// The last paragraph that the agent said.
    pub said: Option<String>,
}

impl Reader<'_> {
    /// Returns the turns of these agents, of those that are in none.
    pub fn ended_turns(
        &self,
        of: &[Instance],
    ) -> Result<HashMap<InstanceId, EndedTurn>, StoreError> {
        let ids: Vec<&str> = of.iter().map(|instance| instance.id.as_str()).collect();
        let mut statement = self.connection.prepare_cached(
            "SELECT t.* FROM json_each(?1) AS wanted JOIN turns AS t ON t.instance_id = wanted.value
             WHERE t.ended_at IS NOT NULL",
        )?;
        let rows = statement
            .query_map([serde_json::json!(ids).to_string()], |row| {
                let turn = EndedTurn {
                    at: parsed(row, "ended_at")?,
                    said: row.get("said")?,
                };
                Ok((parsed(row, "instance_id")?, turn))
            })?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Tells whether the agent was reminded in its present turn.
    pub fn was_reminded(&self, id: &InstanceId) -> Result<bool, StoreError> {
        let found = self
            .connection
            .prepare_cached("SELECT reminded FROM turns WHERE instance_id = ?1")?
            .query_row([id.as_str()], |row| row.get(0))
            .optional()?;
        Ok(found.unwrap_or(false))
    }
}

impl Writer<'_> {
    /// Records that the agent got a prompt.
    pub fn begin_turn(&self, id: &InstanceId) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(
                "INSERT INTO turns (instance_id) VALUES (?1)
                 ON CONFLICT (instance_id) DO UPDATE SET ended_at = NULL, said = NULL, reminded = 0",
            )?
            .execute([id.as_str()])?;
        Ok(())
    }

    /// Records that the agent has ended its turn, what it said, and in how many seconds it counts as resting.
    pub fn end_turn(
        &self,
        id: &InstanceId,
        said: Option<&str>,
        rests_in: u32,
    ) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(
                "INSERT INTO turns (instance_id, ended_at, said)
                 VALUES (?1, strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ?3), ?2)
                 ON CONFLICT (instance_id) DO UPDATE SET ended_at = excluded.ended_at, said = excluded.said",
            )?
            .execute(params![id.as_str(), said, format!("+{rests_in} seconds")])?;
        Ok(())
    }

    /// Records that the agent goes on, because of what a Stop hook told it.
    pub fn continue_turn(&self, id: &InstanceId) -> Result<(), StoreError> {
        self.connection
            .prepare_cached("UPDATE turns SET ended_at = NULL WHERE instance_id = ?1")?
            .execute([id.as_str()])?;
        Ok(())
    }

    /// Records that the agent is reminded and goes on; false if it was reminded before, or has no turn.
    pub fn remind(&self, id: &InstanceId) -> Result<bool, StoreError> {
        let reminded = self
            .connection
            .prepare_cached(
                "UPDATE turns SET reminded = 1, ended_at = NULL WHERE instance_id = ?1 AND reminded = 0",
            )?
            .execute([id.as_str()])?;
        Ok(reminded == 1)
    }
}

#[cfg(test)]
mod tests {
    use crate::store::tests::{new_instance, open_in};

    #[test]
    fn a_turn_ends_goes_on_and_is_reminded_once() {
        let folder = tempfile::tempdir().unwrap();
        let store = open_in(folder.path());
        let new = new_instance("work-42-a1");
        let id = &new.id;
        store.write_now(|w| w.insert_instance(&new, None)).unwrap();
        let said = || {
            let turns = store.read_now(|r| r.ended_turns(&[r.instance(id)?]));
            turns.unwrap().remove(id).map(|turn| turn.said)
        };
        let remind = || store.write_now(|w| w.remind(id)).unwrap();
        assert_eq!(said(), None);
        assert!(!remind(), "it has no turn");
        store
            .write_now(|w| w.end_turn(id, Some("Done?"), 0))
            .unwrap();
        assert_eq!(said(), Some(Some("Done?".to_owned())));
        assert!(remind());
        assert_eq!(said(), None, "it goes on");
        store.write_now(|w| w.end_turn(id, None, 0)).unwrap();
        assert!(!remind());
        assert_eq!(said(), Some(None));
        store.write_now(|w| w.continue_turn(id)).unwrap();
        assert_eq!(said(), None);
        store.write_now(|w| w.begin_turn(id)).unwrap();
        assert!(!store.read_now(|r| r.was_reminded(id)).unwrap());
        assert!(remind());
    }
}

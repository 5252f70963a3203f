//! Endings: the last screen and exit status of agents whose sessions were ended.

use rusqlite::{OptionalExtension, params};

use super::row::parsed;
use super::{NOW, Reader, StoreError, Writer};
use crate::model::{Ending, InstanceId};

/// An ending to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEnding {
    pub exit_status: Option<i32>,
    pub signal: Option<i32>,
    pub screen: String,
}

impl Reader<'_> {
    /// Returns how an agent's last session ended, if that was seen.
    pub fn ending(&self, id: &InstanceId) -> Result<Option<Ending>, StoreError> {
        Ok(self
            .connection
            .prepare_cached("SELECT * FROM endings WHERE instance_id = ?1")?
            .query_row([id.as_str()], |row| {
                Ok(Ending {
                    exit_status: row.get("exit_status")?,
                    signal: row.get("signal")?,
                    screen: row.get("screen")?,
                    at: parsed(row, "at")?,
                })
            })
            .optional()?)
    }
}

impl Writer<'_> {
    /// Records how an agent's session ended, in place of an earlier one.
    pub fn set_ending(&self, id: &InstanceId, ending: &NewEnding) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(&format!(
                "INSERT INTO endings (instance_id, exit_status, signal, screen, at)
                 VALUES (?1, ?2, ?3, ?4, {NOW})
                 ON CONFLICT (instance_id) DO UPDATE
                 SET exit_status = excluded.exit_status, signal = excluded.signal,
                     screen = excluded.screen, at = excluded.at"
            ))?
            .execute(params![
                id.as_str(),
                ending.exit_status,
                ending.signal,
                ending.screen
            ])?;
        Ok(())
    }

    /// Forgets how an agent's last session ended: it has another.
    pub fn delete_ending(&self, id: &InstanceId) -> Result<(), StoreError> {
        self.connection
            .prepare_cached("DELETE FROM endings WHERE instance_id = ?1")?
            .execute([id.as_str()])?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::{new_instance, open_in};

    #[test]
    fn the_last_ending_is_kept_until_it_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let store = open_in(folder.path());
        let coder = new_instance("work-42-a1");
        let ending = |status| NewEnding {
            exit_status: Some(status),
            signal: None,
            screen: "FATAL".to_owned(),
        };
        store
            .write_now(|w| {
                w.insert_instance(&coder, None)?;
                w.set_ending(&coder.id, &ending(1))?;
                w.set_ending(&coder.id, &ending(3))
            })
            .unwrap();
        let read = || store.read_now(|r| r.ending(&coder.id)).unwrap();
        let found = read().unwrap();
        assert_eq!((found.exit_status, found.signal), (Some(3), None));
        assert_eq!(found.screen, "FATAL");
        store.write_now(|w| w.delete_ending(&coder.id)).unwrap();
        assert_eq!(read(), None);
    }
}

//! Notifications that were sent, so that every event is told once, whoever notices it first.

use rusqlite::params;

use super::{NOW, Reader, StoreError, Writer};
use crate::model::InstanceId;

/// Returns the event of a pull request that something keeps from being merged: told once for this head.
pub fn stuck_event(number: u64, head: &str) -> String {
    format!("stuck {number} {head}")
}

impl Reader<'_> {
    /// Tells whether somebody has told of an event, or is about to.
    pub fn is_notified(&self, instance: &InstanceId, event: &str) -> Result<bool, StoreError> {
        Ok(self
            .connection
            .prepare_cached("SELECT 1 FROM notifications WHERE instance_id = ?1 AND event = ?2")?
            .exists(params![instance.as_str(), event])?)
    }
}

impl Writer<'_> {
    /// Takes an event for oneself to tell; false if somebody else has taken it.
    pub fn claim_notification(
        &self,
        instance: &InstanceId,
        event: &str,
    ) -> Result<bool, StoreError> {
        let claimed = self
            .connection
            .prepare_cached(&format!(
                "INSERT OR IGNORE INTO notifications (instance_id, event, created_at) VALUES (?1, ?2, {NOW})"
            ))?
            .execute(params![instance.as_str(), event])?;
        Ok(claimed == 1)
    }

    /// Forgets that anybody was told of a stuck pull request, which is not stuck any more: if it gets stuck again, that is
    /// another event.
    pub(super) fn forget_stuck(
        &self,
        repository: &str,
        number: u64,
        head: &str,
    ) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(
                "DELETE FROM notifications WHERE event = ?3 AND instance_id IN (
                     SELECT id FROM instances INDEXED BY instances_published
                     WHERE repository = ?1 AND pr_url IS NOT NULL AND status <> 'pr_merged' AND pr_number = ?2)",
            )?
            .execute(params![repository, number, stuck_event(number, head)])?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::store::tests::{new_instance, open_in};

    #[test]
    fn an_event_is_claimed_once() {
        let folder = tempfile::tempdir().unwrap();
        let store = open_in(folder.path());
        let new = new_instance("work-42-a1");
        store.write_now(|w| w.insert_instance(&new, None)).unwrap();
        let known = |event| store.read_now(|r| r.is_notified(&new.id, event)).unwrap();
        let claim = |event| store.write_now(|w| w.claim_notification(&new.id, event));
        assert!(!known("idle 1"));
        assert!(claim("idle 1").unwrap());
        assert!(!claim("idle 1").unwrap());
        assert!(known("idle 1") && !known("idle 2"));
        assert!(claim("idle 2").unwrap());
    }
}

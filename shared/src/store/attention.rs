//! Attention: agents that are over and still need a person, because they failed or their worktrees were kept.

use std::collections::HashSet;

use rusqlite::params;

use super::instances::instance;
use super::row::parsed;
use super::{NOW, Reader, StoreError, Writer};
use crate::model::{Instance, InstanceId};

/// A failure that nobody has dealt with for so long is nobody's any more.
const OPEN_FAILURE: &str = "status = 'failed' AND dismissed_at IS NULL
    AND status_since > strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-7 days')";

impl Reader<'_> {
    /// Returns who has failed in the last seven days without a person having dealt with it.
    pub fn open_failures(&self) -> Result<HashSet<InstanceId>, StoreError> {
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT id FROM instances INDEXED BY instances_failed WHERE {OPEN_FAILURE}"
        ))?;
        let rows = statement
            .query_map([], |row| parsed(row, "id"))?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Returns whose failure or end a person has dealt with, who has not been started again since.
    pub fn dismissed(&self) -> Result<HashSet<InstanceId>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT id FROM instances INDEXED BY instances_by_status
             WHERE status IN ('failed', 'terminated') AND dismissed_at IS NOT NULL",
        )?;
        let rows = statement
            .query_map([], |row| parsed(row, "id"))?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Returns the agents that are over and may still need a person, oldest first.
    pub fn may_need_a_person(&self) -> Result<Vec<Instance>, StoreError> {
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT * FROM instances INDEXED BY instances_failed WHERE {OPEN_FAILURE}
             UNION
             SELECT * FROM instances INDEXED BY instances_kept
             WHERE kept ->> 'why' NOT IN ('policy', 'branch_commits', 'branch_in_use')
               AND status IN ('pr_merged', 'pr_closed', 'completed', 'failed', 'terminated')
             UNION
             SELECT i.* FROM instances AS i INDEXED BY instances_published
             JOIN pull_standings AS s ON s.repository = i.repository
               AND s.is_local = (i.pr_url LIKE 'codex:%') AND s.number = i.pr_number
             WHERE i.pr_url IS NOT NULL AND i.status <> 'pr_merged'
               AND i.status IN ('pr_created', 'failed', 'terminated')
               AND (s.mergeable = 'conflicting' OR s.new_commits > 0 OR i.status = 'terminated'
                 OR (s.is_local = 1 AND s.mergeable = 'unknown'))
             UNION
             SELECT i.* FROM messages AS m INDEXED BY messages_open
             JOIN instances AS i ON i.id = m.instance_id
             WHERE m.state IN ('owed', 'typed') AND i.status = 'pr_created'
             ORDER BY created_at, id"
        ))?;
        let rows = statement
            .query_map([], instance)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }
}

impl Writer<'_> {
    /// Records that a person has dealt with failures, and with agents that ended while their pull requests were open: those
    /// of these agents, or all.
    pub fn dismiss(&self, only: &[InstanceId]) -> Result<(), StoreError> {
        if only.is_empty() {
            self.connection
                .prepare_cached(&format!(
                    "UPDATE instances INDEXED BY instances_failed SET dismissed_at = {NOW}
                     WHERE status = 'failed' AND dismissed_at IS NULL"
                ))?
                .execute([])?;
            self.connection
                .prepare_cached(&format!(
                    "UPDATE instances INDEXED BY instances_by_status SET dismissed_at = {NOW}
                     WHERE status = 'terminated' AND pr_url IS NOT NULL AND dismissed_at IS NULL"
                ))?
                .execute([])?;
        }
        let mut statement = self.connection.prepare_cached(&format!(
            "UPDATE instances SET dismissed_at = {NOW}
             WHERE id = ?1 AND dismissed_at IS NULL
               AND (status = 'failed' OR (status = 'terminated' AND pr_url IS NOT NULL))"
        ))?;
        for id in only {
            statement.execute(params![id.as_str()])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Kept, Note, StatusEvent, Unsaved};
    use crate::store::tests::{new_instance, open_in};

    #[test]
    fn a_failure_is_open_until_it_is_dismissed_or_old_and_kept_worktrees_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let store = open_in(folder.path());
        let ids = ["work-1-a1", "work-2-a1", "work-3-a1", "work-4-a1"];
        let id = |number: usize| -> InstanceId { ids[number].parse().unwrap() };
        let worktree = "/tree".to_owned();
        store
            .write_now(|w| {
                for name in ids {
                    w.insert_instance(&new_instance(name), None)?;
                    let id = name.parse().unwrap();
                    w.transition(&id, StatusEvent::Failed)?;
                }
                w.connection.execute(
                    "UPDATE instances SET status_since = '2020-01-01T00:00:00.000Z' WHERE id IN ('work-2-a1', 'work-3-a1', 'work-4-a1')",
                    [],
                )?;
                let kept = |kept| Note {
                    reason: None,
                    kept: Some(kept),
                };
                w.set_note(
                    &id(1),
                    &kept(Kept::UnsavedWork {
                        worktree: worktree.clone(),
                        branch: None,
                        work: Unsaved::default(),
                    }),
                )?;
                w.set_note(&id(2), &kept(Kept::Policy { worktree }))
            })
            .unwrap();
        let look = || {
            let found = store.read_now(|r| Ok((r.may_need_a_person()?, r.open_failures()?)));
            found.unwrap()
        };
        let needing = || -> Vec<String> {
            let (rows, _) = look();
            rows.into_iter().map(|row| row.id.to_string()).collect()
        };
        assert_eq!(needing(), ["work-1-a1", "work-2-a1"]);
        let open = || look().1;
        assert_eq!(open(), HashSet::from([id(0)]));
        let dismiss = |only: &[InstanceId]| store.write_now(|w| w.dismiss(only)).unwrap();
        dismiss(&[id(1)]);
        assert_eq!(open().len(), 1, "another's was dismissed");
        dismiss(&[id(0)]);
        assert_eq!((open().len(), needing().len()), (0, 1));
        store
            .write_now(|w| {
                w.connection.execute(
                    "UPDATE instances SET dismissed_at = NULL WHERE id = 'work-1-a1'",
                    [],
                )?;
                w.dismiss(&[])
            })
            .unwrap();
        assert!(open().is_empty());
    }
}

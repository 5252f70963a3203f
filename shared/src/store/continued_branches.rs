//! Continued branches: which agents work on a branch that was there before them, and who works in a worktree.

use std::path::Path;

use rusqlite::{OptionalExtension, params};

use super::instances::instance;
use super::{Reader, StoreError, Writer};
use crate::model::{Instance, InstanceId};

impl Reader<'_> {
    /// Tells whether an agent continues a branch that was there before it.
    pub fn continues_branch(&self, id: &InstanceId) -> Result<bool, StoreError> {
        Ok(self
            .connection
            .prepare_cached("SELECT 1 FROM continued_branches WHERE instance_id = ?1")?
            .exists([id.as_str()])?)
    }

    /// Returns the agent whose worktree this is or was; of several, the last.
    pub fn launched_in_worktree(&self, worktree: &Path) -> Result<Option<Instance>, StoreError> {
        Ok(self
            .connection
            .prepare_cached(
                "SELECT * FROM instances WHERE worktree_path = ?1 AND origin = 'launched'
                 ORDER BY created_at DESC LIMIT 1",
            )?
            .query_row(params![worktree.to_string_lossy()], instance)
            .optional()?)
    }
}

impl Writer<'_> {
    /// Records that an agent continues a branch that was there before it.
    pub fn set_continues_branch(&self, id: &InstanceId) -> Result<(), StoreError> {
        self.connection
            .prepare_cached("INSERT INTO continued_branches (instance_id) VALUES (?1)")?
            .execute([id.as_str()])?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::store::tests::{new_instance, open_in};

    #[test]
    fn a_branch_is_an_agents_own_unless_it_is_recorded() {
        let folder = tempfile::tempdir().unwrap();
        let store = open_in(folder.path());
        let coder = new_instance("work-42-a1");
        let continues = || store.read_now(|r| r.continues_branch(&coder.id)).unwrap();
        let made = store
            .write_now(|w| w.insert_instance(&coder, None))
            .unwrap();
        assert!(!continues());
        store
            .write_now(|w| w.set_continues_branch(&coder.id))
            .unwrap();
        assert!(continues());
        let found = store.read_now(|r| r.launched_in_worktree(&made.worktree_path));
        assert_eq!(found.unwrap().map(|found| found.id), Some(coder.id.clone()));
    }
}

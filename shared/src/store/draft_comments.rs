//! Draft comments: a person's line comments on an agent's work that are not sent yet.

use rusqlite::{Row, params};

use super::row::parsed;
use super::{NOW, Reader, StoreError, Writer};
use crate::model::{DraftComment, InstanceId};

/// A comment to be stored.
#[derive(Debug, Clone)]
pub struct NewDraftComment {
    pub instance: InstanceId,
    pub commit: String,
    pub file: String,
    pub line: u32,
    pub body: String,
}

fn comment(row: &Row<'_>) -> rusqlite::Result<DraftComment> {
    Ok(DraftComment {
        id: row.get("id")?,
        instance_id: parsed(row, "instance_id")?,
        commit_id: row.get("commit_id")?,
        file: row.get("file")?,
        line: row.get("line")?,
        body: row.get("body")?,
        created_at: parsed(row, "created_at")?,
    })
}

impl Reader<'_> {
    /// Returns the pending comments on an agent's work, oldest first.
    pub fn draft_comments(&self, instance: &InstanceId) -> Result<Vec<DraftComment>, StoreError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT * FROM draft_comments WHERE instance_id = ?1 ORDER BY id")?;
        let rows = statement
            .query_map([instance.as_str()], comment)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }
}

impl Writer<'_> {
    /// Stores a comment and returns all that are pending, this one last.
    pub fn insert_draft_comment(
        &self,
        new: &NewDraftComment,
    ) -> Result<Vec<DraftComment>, StoreError> {
        self.connection.execute(
            &format!(
                "INSERT INTO draft_comments (instance_id, commit_id, file, line, body, created_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, {NOW})"
            ),
            params![
                new.instance.as_str(),
                new.commit,
                new.file,
                new.line,
                new.body
            ],
        )?;
        self.draft_comments(&new.instance)
    }

    /// Removes one pending comment; false if there is none of that number.
    pub fn delete_draft_comment(&self, instance: &InstanceId, id: i64) -> Result<bool, StoreError> {
        let deleted = self.connection.execute(
            "DELETE FROM draft_comments WHERE instance_id = ?1 AND id = ?2",
            params![instance.as_str(), id],
        )?;
        Ok(deleted == 1)
    }

    /// Removes all pending comments on an agent's work and returns them: they are being sent.
    pub fn take_draft_comments(
        &self,
        instance: &InstanceId,
    ) -> Result<Vec<DraftComment>, StoreError> {
        let comments = self.draft_comments(instance)?;
        self.connection.execute(
            "DELETE FROM draft_comments WHERE instance_id = ?1",
            [instance.as_str()],
        )?;
        Ok(comments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::{new_instance, open_in};

    #[test]
    fn comments_are_pending_until_they_are_taken_or_removed() {
        let folder = tempfile::tempdir().unwrap();
        let store = open_in(folder.path());
        let coder = new_instance("work-42-a1");
        let new = |line| NewDraftComment {
            instance: coder.id.clone(),
            commit: "c0ffee".to_owned(),
            file: "src/main.rs".to_owned(),
            line,
            body: "Why?".to_owned(),
        };
        let pending = store
            .write_now(|w| {
                w.insert_instance(&coder, None)?;
                w.insert_draft_comment(&new(3))?;
                w.insert_draft_comment(&new(7))
            })
            .unwrap();
        assert_eq!(
            pending.iter().map(|one| one.line).collect::<Vec<_>>(),
            [3, 7]
        );
        let first = pending[0].id;
        let remove = || store.write_now(|w| w.delete_draft_comment(&coder.id, first));
        assert!(remove().unwrap());
        assert!(!remove().unwrap());
        let taken = store.write_now(|w| w.take_draft_comments(&coder.id));
        assert_eq!(taken.unwrap().len(), 1);
        let left = store.read_now(|r| r.draft_comments(&coder.id)).unwrap();
        assert!(left.is_empty());
    }
}

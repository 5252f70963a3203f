//! Edits of planned tasks by a person: their words, dependencies and status.

use rusqlite::{OptionalExtension, params};

use super::row::parsed;
use super::tasks::COUNT_DEPENDENCIES;
use super::{NOW, Reader, StoreError, Writer};
use crate::model::{InstanceId, Priority, Status, Task, TaskId};

/// What changes about a task; what is absent stays.
#[derive(Debug, Clone, Default)]
pub struct TaskChange {
    pub title: Option<String>,
    pub description: Option<String>,
    pub priority: Option<Priority>,
    pub estimated_hours: Option<f64>,
    /// Whether there is no estimate any more.
    pub no_estimate: bool,
    /// All tasks that it waits for from now on.
    pub depends_on: Option<Vec<TaskId>>,
}

impl Reader<'_> {
    /// Returns the agents that were launched for a task, the newest first.
    pub fn agents_of_task(&self, id: &TaskId) -> Result<Vec<(InstanceId, Status)>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT id, status FROM instances WHERE task_id = ?1 ORDER BY created_at DESC, id",
        )?;
        let agents = statement.query_map([id.as_str()], |row| {
            Ok((parsed(row, "id")?, parsed(row, "status")?))
        })?;
        Ok(agents.collect::<Result<_, _>>()?)
    }

    /// Returns the first of some tasks that waits, directly or not, for a task, or is it.
    pub fn first_waiting_for(
        &self,
        id: &TaskId,
        among: &[TaskId],
    ) -> Result<Option<TaskId>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "WITH RECURSIVE waiting (id) AS (
                 VALUES (?1)
                 UNION SELECT task_id FROM task_dependencies JOIN waiting ON depends_on = waiting.id)
             SELECT id FROM waiting WHERE id = ?2",
        )?;
        for task in among {
            let found = statement
                .query_row(params![id.as_str(), task.as_str()], |row| parsed(row, "id"))
                .optional()?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }
}

impl Writer<'_> {
    /// Changes a task. The caller has checked that no cycle arises.
    pub fn change_task(
        &self,
        repository: &str,
        id: &TaskId,
        change: &TaskChange,
    ) -> Result<Task, StoreError> {
        // An unknown one is an error.
        self.task(repository, id)?;
        self.connection
            .prepare_cached(&format!(
                "UPDATE tasks SET title = coalesce(?2, title), description = coalesce(?3, description),
                     priority = coalesce(?4, priority),
                     estimated_hours = CASE WHEN ?6 THEN NULL ELSE coalesce(?5, estimated_hours) END,
                     updated_at = {NOW}
                 WHERE id = ?1"
            ))?
            .execute(params![
                id.as_str(),
                change.title,
                change.description,
                change.priority.map(Priority::as_str),
                change.estimated_hours,
                change.no_estimate,
            ])?;
        if let Some(depends_on) = &change.depends_on {
            self.connection
                .prepare_cached("DELETE FROM task_dependencies WHERE task_id = ?1")?
                .execute([id.as_str()])?;
            for dependency in depends_on {
                // It must be a task of the same repository.
                self.task(repository, dependency)?;
                self.connection
                    .prepare_cached(
                        "INSERT OR IGNORE INTO task_dependencies (task_id, depends_on) VALUES (?1, ?2)",
                    )?
                    .execute(params![id.as_str(), dependency.as_str()])?;
            }
            self.connection
                .prepare_cached(&format!("{COUNT_DEPENDENCIES} WHERE id = ?1"))?
                .execute([id.as_str()])?;
        }
        self.task(repository, id)
    }
}

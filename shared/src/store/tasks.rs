//! Planned tasks and what they wait for.

use std::collections::{BTreeSet, HashMap};

use rusqlite::{OptionalExtension, Row, params};

use super::row::{one_moved, parsed, parsed_option};
use super::{NOW, Reader, StoreError, Writer};
use crate::model::{InstanceId, Priority, Task, TaskId, TaskStatus, Timestamp};

/// A task to be stored.
#[derive(Debug, Clone)]
pub struct NewTask {
    pub repository: String,
    pub title: String,
    pub description: String,
    pub priority: Priority,
    pub estimated_hours: Option<f64>,
    pub depends_on: Vec<TaskId>,
    pub created_by: Option<InstanceId>,
}

/// One page of a list, and where the next begins.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskPage {
    pub tasks: Vec<Task>,
    pub total: u64,
    pub next_offset: Option<u64>,
}

const COLUMNS: &str = "
    id, title, description, priority, estimated_hours, status, created_by, issue_number, issue_url,
    created_at, updated_at,
    (SELECT group_concat(depends_on, ' ') FROM task_dependencies WHERE task_id = tasks.id) AS depends_on,
    place <= 2 AS ready";

/// Sets how many of its dependencies a task still waits for.
pub(super) const COUNT_DEPENDENCIES: &str = "UPDATE tasks SET waits_for = (
         SELECT count(*) FROM task_dependencies JOIN tasks AS other ON other.id = depends_on
         WHERE task_id = tasks.id AND other.status <> 'done')";

fn task(row: &Row<'_>) -> rusqlite::Result<Task> {
    let depends_on: Option<String> = row.get("depends_on")?;
    Ok(Task {
        id: parsed(row, "id")?,
        title: row.get("title")?,
        description: row.get("description")?,
        priority: parsed(row, "priority")?,
        estimated_hours: row.get("estimated_hours")?,
        status: parsed(row, "status")?,
        ready: row.get("ready")?,
        depends_on: depends_on
            .iter()
            .flat_map(|list| list.split(' '))
            .filter_map(|id| id.parse().ok())
            .collect(),
        created_by: parsed_option(row, "created_by")?,
        issue_number: row.get("issue_number")?,
        issue_url: row.get("issue_url")?,
        created_at: parsed(row, "created_at")?,
        updated_at: parsed(row, "updated_at")?,
    })
}

/// Returns the ids of tasks as a list for SQL.
fn ids(tasks: &[Task]) -> String {
    let ids: Vec<&str> = tasks.iter().map(|task| task.id.as_str()).collect();
    serde_json::json!(ids).to_string()
}

impl Reader<'_> {
    /// Tells whether an instance has stored any task.
    pub fn has_created_tasks(&self, planner: &InstanceId) -> Result<bool, StoreError> {
        Ok(self
            .connection
            .prepare_cached("SELECT 1 FROM tasks WHERE created_by = ?1")?
            .exists([planner.as_str()])?)
    }

    /// Returns one task of a repository.
    pub fn task(&self, repository: &str, id: &TaskId) -> Result<Task, StoreError> {
        self.connection
            .prepare_cached(&format!(
                "SELECT {COLUMNS} FROM tasks WHERE id = ?1 AND repository = ?2"
            ))?
            .query_row(params![id.as_str(), repository], task)
            .optional()?
            .ok_or_else(|| StoreError::TaskNotFound { id: id.clone() })
    }

    /// Returns a page of a repository's tasks, oldest first: what is new comes last, so pages stay as they are.
    pub fn tasks(&self, repository: &str, offset: u64, limit: u64) -> Result<TaskPage, StoreError> {
        self.task_page("", "created_at, id", repository, offset, limit)
    }

    /// Returns a page of a repository's tasks as people want to see them: ready ones first, then those that wait, are in
    /// progress, done and cancelled; in each the more urgent, and then the newer first.
    pub fn tasks_by_place(
        &self,
        repository: &str,
        ready_only: bool,
        offset: u64,
        limit: u64,
    ) -> Result<TaskPage, StoreError> {
        let only = if ready_only { "AND place <= 2" } else { "" };
        let order = "place, created_at DESC, id";
        self.task_page(only, order, repository, offset, limit)
    }

    fn task_page(
        &self,
        only: &str,
        order: &str,
        repository: &str,
        offset: u64,
        limit: u64,
    ) -> Result<TaskPage, StoreError> {
        let total = self.count_tasks(only, repository)?;
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM tasks WHERE repository = ?1 {only} ORDER BY {order} LIMIT ?2 OFFSET ?3"
        ))?;
        let tasks = statement
            .query_map(params![repository, limit, offset], task)?
            .collect::<Result<Vec<_>, _>>()?;
        let end = offset + tasks.len() as u64;
        Ok(TaskPage {
            next_offset: (end < total && !tasks.is_empty()).then_some(end),
            tasks,
            total,
        })
    }

    /// Counts the tasks of a repository that can begin now.
    pub fn ready_tasks(&self, repository: &str) -> Result<u64, StoreError> {
        self.count_tasks("AND place <= 2", repository)
    }

    fn count_tasks(&self, only: &str, repository: &str) -> Result<u64, StoreError> {
        Ok(self
            .connection
            .prepare_cached(&format!(
                "SELECT count(*) FROM tasks WHERE repository = ?1 {only}"
            ))?
            .query_row([repository], |row| row.get(0))?)
    }

    /// Returns which tasks wait for each of these, by their ids.
    pub fn waiting_tasks(&self, of: &[Task]) -> Result<HashMap<TaskId, Vec<TaskId>>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT depends_on, task_id FROM task_dependencies
             WHERE depends_on IN (SELECT value FROM json_each(?1)) ORDER BY task_id",
        )?;
        let mut waiting: HashMap<TaskId, Vec<TaskId>> = HashMap::new();
        let pairs = statement.query_map([ids(of)], |row| {
            Ok((parsed(row, "depends_on")?, parsed(row, "task_id")?))
        })?;
        for pair in pairs {
            let (task, waits) = pair?;
            waiting.entry(task).or_default().push(waits);
        }
        Ok(waiting)
    }

    /// Returns which agents worked on each of these tasks, the newest first.
    pub fn task_agents(&self, of: &[Task]) -> Result<HashMap<TaskId, Vec<InstanceId>>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT task_id, id FROM instances WHERE task_id IN (SELECT value FROM json_each(?1))
             ORDER BY created_at DESC, id",
        )?;
        let mut agents: HashMap<TaskId, Vec<InstanceId>> = HashMap::new();
        let pairs = statement.query_map([ids(of)], |row| {
            Ok((parsed(row, "task_id")?, parsed(row, "id")?))
        })?;
        for pair in pairs {
            let (task, agent) = pair?;
            agents.entry(task).or_default().push(agent);
        }
        Ok(agents)
    }

    /// Returns an open task of the same planner that says the same and has no issue.
    pub fn task_without_issue(&self, like: &NewTask) -> Result<Option<Task>, StoreError> {
        Ok(self
            .connection
            .prepare_cached(&format!(
                "SELECT {COLUMNS} FROM tasks INDEXED BY tasks_by_planner
                 WHERE repository = ?1 AND created_by = ?2 AND title = ?3 AND description = ?4
                   AND status = 'open' AND issue_number IS NULL
                 ORDER BY created_at, id LIMIT 1"
            ))?
            .query_row(
                params![
                    like.repository,
                    like.created_by.as_ref().map(InstanceId::as_str),
                    like.title,
                    like.description,
                ],
                task,
            )
            .optional()?)
    }

    /// Returns an open task of the same planner that says the same and that an earlier server of it has made.
    ///
    /// Nobody knows whether that server's answer arrived before it died: a planner that asks once more, in the same
    /// words, repeats its call. After a day they are taken for a new wish.
    pub fn repeated_task(
        &self,
        like: &NewTask,
        this_server_since: Timestamp,
    ) -> Result<Option<Task>, StoreError> {
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM tasks INDEXED BY tasks_by_planner
             WHERE repository = ?1 AND created_by = ?2 AND title = ?3 AND description = ?4
               AND priority = ?5 AND estimated_hours IS ?6
               AND status = 'open' AND created_at < ?7
               AND created_at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-1 day')
             ORDER BY created_at, id"
        ))?;
        let found = statement
            .query_map(
                params![
                    like.repository,
                    like.created_by.as_ref().map(InstanceId::as_str),
                    like.title,
                    like.description,
                    like.priority.as_str(),
                    like.estimated_hours,
                    this_server_since.to_string(),
                ],
                task,
            )?
            .collect::<Result<Vec<_>, _>>()?;
        let wanted: BTreeSet<&str> = like.depends_on.iter().map(TaskId::as_str).collect();
        Ok(found.into_iter().find(|task| {
            let present: BTreeSet<&str> = task.depends_on.iter().map(TaskId::as_str).collect();
            present == wanted
        }))
    }

    /// Tells whether GitHub was asked for a task's issue, and nobody knows what became of that.
    pub fn is_issue_asked_for(&self, id: &TaskId) -> Result<bool, StoreError> {
        Ok(self
            .connection
            .prepare_cached(
                "SELECT 1 FROM tasks
                 WHERE id = ?1 AND issue_number IS NULL AND issue_asked_at IS NOT NULL",
            )?
            .exists([id.as_str()])?)
    }

    /// Counts the issues that one planner has opened.
    pub fn issues_opened_by(&self, planner: &InstanceId) -> Result<u32, StoreError> {
        Ok(self
            .connection
            .prepare_cached(
                "SELECT count(*) FROM tasks WHERE created_by = ?1 AND issue_number IS NOT NULL",
            )?
            .query_row([planner.as_str()], |row| row.get(0))?)
    }
}

impl Writer<'_> {
    /// Stores a task. Its dependencies must exist in the same repository, so no cycle can arise.
    pub fn insert_task(&self, new: &NewTask) -> Result<Task, StoreError> {
        // A planner may be older than the database: one that was deleted or restored while it worked.
        if let Some(planner) = &new.created_by
            && !self.instance_exists(planner)?
        {
            return Err(StoreError::InstanceNotFound {
                id: planner.clone(),
            });
        }
        let id = self.unused_task_id()?;
        self.connection
            .prepare_cached(&format!(
                "INSERT INTO tasks (id, repository, title, description, priority, estimated_hours, status,
                                    created_by, created_at, updated_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, {NOW}, {NOW})"
            ))?
            .execute(params![
                id.as_str(),
                new.repository,
                new.title,
                new.description,
                new.priority.as_str(),
                new.estimated_hours,
                TaskStatus::Open.as_str(),
                new.created_by.as_ref().map(InstanceId::as_str),
            ])?;
        for dependency in &new.depends_on {
            let inserted = self
                .connection
                .prepare_cached(
                    "INSERT OR IGNORE INTO task_dependencies (task_id, depends_on)
                     SELECT ?1, id FROM tasks WHERE id = ?2 AND repository = ?3 AND id <> ?1",
                )?
                .execute(params![id.as_str(), dependency.as_str(), new.repository])?;
            let repeated = new.depends_on.iter().filter(|id| *id == dependency).count() > 1;
            if inserted == 0 && !repeated {
                return Err(StoreError::TaskNotFound {
                    id: dependency.clone(),
                });
            }
        }
        self.connection
            .prepare_cached(&format!("{COUNT_DEPENDENCIES} WHERE id = ?1"))?
            .execute([id.as_str()])?;
        self.task(&new.repository, &id)
    }

    /// Notes that GitHub is being asked for a task's issue, or that it has surely made none.
    pub fn set_issue_asked_for(&self, id: &TaskId, asked: bool) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(&format!(
                "UPDATE tasks SET issue_asked_at = CASE WHEN ?2 THEN {NOW} END WHERE id = ?1"
            ))?
            .execute(params![id.as_str(), asked])?;
        Ok(())
    }

    /// Records the issue that stands for a task.
    pub fn set_task_issue(&self, id: &TaskId, number: u64, url: &str) -> Result<(), StoreError> {
        self.connection.execute(
            &format!("UPDATE tasks SET issue_number = ?2, issue_url = ?3, updated_at = {NOW} WHERE id = ?1"),
            params![id.as_str(), number, url],
        )?;
        Ok(())
    }

    /// Moves a task on.
    pub fn set_task_status(&self, id: &TaskId, status: TaskStatus) -> Result<(), StoreError> {
        let present: Option<String> = self
            .connection
            .prepare_cached("SELECT status FROM tasks WHERE id = ?1")?
            .query_row([id.as_str()], |row| row.get(0))
            .optional()?;
        let present = present.ok_or_else(|| StoreError::TaskNotFound { id: id.clone() })?;
        let moved = self.connection.execute(
            &format!(
                "UPDATE tasks SET status = ?3, updated_at = {NOW} WHERE id = ?1 AND status = ?2"
            ),
            params![id.as_str(), present, status.as_str()],
        )?;
        self.connection
            .prepare_cached(&format!(
                "{COUNT_DEPENDENCIES}
                 WHERE id IN (SELECT task_id FROM task_dependencies WHERE depends_on = ?1)"
            ))?
            .execute([id.as_str()])?;
        one_moved(moved, id.as_str(), present)
    }

    fn unused_task_id(&self) -> Result<TaskId, StoreError> {
        loop {
            let id = TaskId::random();
            let taken = self
                .connection
                .prepare_cached("SELECT 1 FROM tasks WHERE id = ?1")?
                .exists([id.as_str()])?;
            if !taken {
                return Ok(id);
            }
        }
    }
}

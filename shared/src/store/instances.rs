//! Instances: queries, and compare-and-set along the state machine.

use std::path::PathBuf;

use rusqlite::{OptionalExtension, Row, params};

use super::row::{InOrder, one_moved, parsed};
use super::{NOW, Reader, StoreError, Writer};
use crate::model::instance::ProcessMark;
use crate::model::{
    BootTime, Instance, InstanceId, InstanceKind, LaunchStep, Note, Origin, SessionMode, Status,
    StatusChange, StatusEvent, TaskId,
};

/// The live statuses, as a list for SQL. A test holds it equal to `Status::is_live`.
pub(super) const LIVE: &str =
    "('started', 'running', 'waiting_review', 'under_review', 'feedback_received', 'creating_pr')";

/// A session that is about to be made for an agent.
#[derive(Debug, Clone)]
pub struct NewStart {
    pub tmux_socket: Option<String>,
    pub launch_id: String,
    pub at: Option<BootTime>,
}

/// The rows of agents that have ended and whose worktrees nobody has put away. Those with an open pull
/// request are not among them: they may be needed again.
const LEFT: &str = "origin = 'launched' AND put_away_at IS NULL AND owner_pid IS NULL
    AND status IN ('completed', 'failed', 'terminated', 'pr_merged', 'pr_closed')";

/// An instance to be stored, with status `started`.
#[derive(Debug, Clone)]
pub struct NewInstance {
    pub id: InstanceId,
    pub kind: InstanceKind,
    pub origin: Origin,
    pub session_mode: SessionMode,
    pub repository: String,
    pub worktree_path: PathBuf,
    pub branch_name: Option<String>,
    pub base_branch: String,
    pub base_commit: Option<String>,
    pub tmux_session: Option<String>,
    pub tmux_pane: Option<String>,
    pub claude_session_id: Option<String>,
    pub issue_number: Option<u64>,
    pub task_id: Option<TaskId>,
    pub parent_instance_id: Option<InstanceId>,
    pub prompt: String,
    pub require_review: bool,
    pub max_reviews: u32,
    pub launch_step: LaunchStep,
    pub owner: Option<ProcessMark>,
}

fn process_mark(
    row: &InOrder<'_, '_>,
    pid: &str,
    started: &str,
) -> rusqlite::Result<Option<ProcessMark>> {
    let pid: Option<u32> = row.get(pid)?;
    let started: Option<String> = row.get(started)?;
    Ok(pid
        .zip(started)
        .map(|(pid, started)| ProcessMark { pid, started }))
}

fn boot_time(row: &InOrder<'_, '_>) -> rusqlite::Result<Option<BootTime>> {
    let boot: Option<String> = row.get("started_boot")?;
    let seconds: Option<i64> = row.get("started_monotonic")?;
    Ok(boot
        .zip(seconds)
        .map(|(boot, seconds)| BootTime { boot, seconds }))
}

pub(super) fn instance(row: &Row<'_>) -> rusqlite::Result<Instance> {
    let row = &InOrder::of(row);
    Ok(Instance {
        id: row.parsed("id")?,
        kind: row.parsed("kind")?,
        status: row.parsed("status")?,
        status_before: row.parsed_option("status_before")?,
        origin: row.parsed("origin")?,
        session_mode: row.parsed("session_mode")?,
        repository: row.get::<String>("repository")?.into(),
        worktree_path: row.get::<String>("worktree_path")?.into(),
        branch_name: row.get("branch_name")?,
        base_branch: row.get("base_branch")?,
        base_commit: row.get("base_commit")?,
        tmux_session: row.get("tmux_session")?,
        tmux_socket: row.get("tmux_socket")?,
        tmux_pane: row.get("tmux_pane")?,
        launch_id: row.get("launch_id")?,
        agent: process_mark(row, "agent_pid", "agent_started")?,
        started: boot_time(row)?,
        claude_session_id: row.get("claude_session_id")?,
        issue_number: row.get("issue_number")?,
        task_id: row.parsed_option("task_id")?,
        parent_instance_id: row.parsed_option("parent_instance_id")?,
        prompt: row.get("prompt")?,
        require_review: row.get("require_review")?,
        max_reviews: row.get("max_reviews")?,
        pr_number: row.get("pr_number")?,
        pr_url: row.get("pr_url")?,
        launch_step: row.parsed("launch_step")?,
        owner: process_mark(row, "owner_pid", "owner_started")?,
        server: process_mark(row, "server_pid", "server_started")?,
        note: Note {
            kept: row.json_option("kept")?,
            reason: row.get("note")?,
        },
        created_at: row.parsed("created_at")?,
        last_activity: row.parsed("last_activity")?,
        status_since: row.parsed("status_since")?,
        completed_at: row.parsed_option("completed_at")?,
    })
}

impl Reader<'_> {
    /// Returns one instance.
    pub fn instance(&self, id: &InstanceId) -> Result<Instance, StoreError> {
        self.connection
            .prepare_cached("SELECT * FROM instances WHERE id = ?1")?
            .query_row([id.as_str()], instance)
            .optional()?
            .ok_or_else(|| StoreError::InstanceNotFound { id: id.clone() })
    }

    /// Returns all instances, or those whose agents may still act, oldest first.
    pub fn instances(&self, live_only: bool) -> Result<Vec<Instance>, StoreError> {
        let only = if live_only {
            format!("WHERE status IN {LIVE} ")
        } else {
            String::new()
        };
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT * FROM instances {only}ORDER BY created_at, id"
        ))?;
        let rows = statement
            .query_map([], instance)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Returns what a crash may have left unfinished: live instances, and ended ones that some
    /// process was still putting away. With each, the seconds since it last did something.
    pub fn needing_reconcile(&self) -> Result<Vec<(Instance, i64)>, StoreError> {
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT *, unixepoch('now') - unixepoch(last_activity) AS quiet FROM instances
             WHERE status IN {LIVE} OR owner_pid >= 0 ORDER BY created_at, id"
        ))?;
        let rows = statement
            .query_map([], |row| Ok((instance(row)?, row.get("quiet")?)))?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Returns the repositories in which ended agents have left something.
    pub fn repositories_with_leftovers(&self) -> Result<Vec<PathBuf>, StoreError> {
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT DISTINCT repository FROM instances INDEXED BY instances_left WHERE {LEFT}"
        ))?;
        let rows = statement
            .query_map([], |row| Ok(row.get::<_, String>(0)?.into()))?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Returns the agents of one origin that have ended, oldest first, each with its worktree.
    pub fn ended(&self, origin: Origin) -> Result<Vec<(InstanceId, PathBuf)>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT id, worktree_path FROM instances WHERE origin = ?1
             AND status IN ('completed', 'failed', 'terminated', 'pr_merged', 'pr_closed')
             ORDER BY created_at, id",
        )?;
        let rows = statement
            .query_map([origin.as_str()], |row| {
                Ok((parsed(row, "id")?, row.get::<_, String>(1)?.into()))
            })?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Returns the agents of a repository that ended so many hours ago and have left something.
    pub fn left_for_hours(
        &self,
        repository: &str,
        hours: u64,
    ) -> Result<Vec<Instance>, StoreError> {
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT * FROM instances INDEXED BY instances_left WHERE {LEFT} AND repository = ?1
             AND unixepoch('now') - unixepoch(completed_at) >= ?2 * 3600 ORDER BY created_at, id"
        ))?;
        let rows = statement
            .query_map(params![repository, hours], instance)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Returns the instances of a repository whose pull requests may still change, oldest first: also those at work on
    /// changes, and those that have ended at that.
    pub fn published(&self, repository: &str) -> Result<Vec<Instance>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT * FROM instances INDEXED BY instances_published
             WHERE pr_url IS NOT NULL AND status <> 'pr_merged' AND repository = ?1 ORDER BY created_at, id",
        )?;
        let rows = statement
            .query_map([repository], instance)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Tells whether an id was ever used.
    pub fn instance_exists(&self, id: &InstanceId) -> Result<bool, StoreError> {
        Ok(self
            .connection
            .prepare_cached("SELECT 1 FROM instances WHERE id = ?1")?
            .exists([id.as_str()])?)
    }

    /// Counts the agents that we have started: a person's own sessions are theirs to limit.
    fn live_count(&self) -> Result<u32, StoreError> {
        Ok(self
            .connection
            .prepare_cached(&format!(
                "SELECT count(*) FROM instances WHERE status IN {LIVE} AND origin = 'launched'"
            ))?
            .query_row([], |row| row.get(0))?)
    }
}

impl Writer<'_> {
    /// Stores a new instance, unless its id is taken or too many are live.
    pub fn insert_instance(
        &self,
        new: &NewInstance,
        limit: Option<u32>,
    ) -> Result<Instance, StoreError> {
        if let Some(limit) = limit {
            self.check_limit(limit)?;
        }
        if self.instance_exists(&new.id)? {
            return Err(StoreError::IdTaken { id: new.id.clone() });
        }
        self.connection
            .prepare_cached(&format!(
                "INSERT INTO instances (
                     id, kind, status, origin, repository, worktree_path, branch_name, base_branch,
                     base_commit, tmux_session, tmux_pane, claude_session_id, issue_number, task_id,
                     parent_instance_id, prompt, require_review, max_reviews, launch_step,
                     owner_pid, owner_started, session_mode, created_at, last_activity, status_since)
                 VALUES (?1, ?2, 'started', ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15,
                         ?16, ?17, ?18, ?19, ?20, ?21, {NOW}, {NOW}, {NOW})"
            ))?
            .execute(params![
                new.id.as_str(),
                new.kind.as_str(),
                new.origin.as_str(),
                new.repository,
                new.worktree_path.to_string_lossy(),
                new.branch_name,
                new.base_branch,
                new.base_commit,
                new.tmux_session,
                new.tmux_pane,
                new.claude_session_id,
                new.issue_number,
                new.task_id.as_ref().map(TaskId::as_str),
                new.parent_instance_id.as_ref().map(InstanceId::as_str),
                new.prompt,
                new.require_review,
                new.max_reviews,
                new.launch_step.as_str(),
                new.owner.as_ref().map(|owner| owner.pid),
                new.owner.as_ref().map(|owner| &owner.started),
                new.session_mode.as_str(),
            ])?;
        if let Some(issue) = new.issue_number {
            self.connection.execute(
                "INSERT INTO issue_instances (repository, issue_number, instance_id) VALUES (?1, ?2, ?3)",
                params![new.repository, issue, new.id.as_str()],
            )?;
        }
        self.instance(&new.id)
    }

    /// Refuses one more live agent when there are as many as there may be.
    pub fn check_limit(&self, limit: u32) -> Result<(), StoreError> {
        let live = self.live_count()?;
        if live >= limit {
            return Err(StoreError::TooManyInstances { live, limit });
        }
        Ok(())
    }

    /// Moves an instance by one event, or says why that is not possible.
    pub fn transition(
        &self,
        id: &InstanceId,
        event: StatusEvent,
    ) -> Result<StatusChange, StoreError> {
        let instance = self.instance(id)?;
        let status = instance.status;
        let next = status
            .next(instance.kind, event)
            .map_err(|illegal| StoreError::Illegal {
                illegal,
                instance: Box::new(instance),
            })?;
        self.set_status(id, status, next)?;
        Ok(StatusChange {
            instance: id.clone(),
            from: Some(status),
            to: next,
        })
    }

    /// Compare and set: whoever decided on another status than the present one moves nothing.
    fn set_status(&self, id: &InstanceId, from: Status, to: Status) -> Result<(), StoreError> {
        let moved = self
            .connection
            .prepare_cached(&format!(
                "UPDATE instances SET status = ?3, status_before = ?4, status_since = {NOW},
                     last_activity = {NOW}, completed_at = CASE WHEN ?5 THEN NULL ELSE coalesce(completed_at, {NOW}) END
                 WHERE id = ?1 AND status = ?2"
            ))?
            .execute(params![
                id.as_str(),
                from.as_str(),
                to.as_str(),
                (to == Status::CreatingPr).then_some(from.as_str()),
                to.is_live(),
            ])?;
        one_moved(moved, id.as_str(), from)
    }

    /// Records how far a launch has come.
    pub fn set_launch_step(&self, id: &InstanceId, step: LaunchStep) -> Result<(), StoreError> {
        self.update(id, "launch_step", step.as_str())
    }

    /// Records where a session is about to be made, and that the agent's time begins.
    pub fn begin_session(&self, id: &InstanceId, start: &NewStart) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(
                "UPDATE instances SET launch_step = 'session', tmux_socket = ?2, launch_id = ?3,
                     started_boot = ?4, started_monotonic = ?5, agent_pid = NULL, agent_started = NULL,
                     put_away_at = NULL, dismissed_at = NULL
                 WHERE id = ?1",
            )?
            .execute(params![
                id.as_str(),
                start.tmux_socket,
                start.launch_id,
                start.at.as_ref().map(|at| &at.boot),
                start.at.as_ref().map(|at| at.seconds),
            ])?;
        Ok(())
    }

    /// Records the process in the pane of an agent.
    pub fn set_agent(
        &self,
        id: &InstanceId,
        agent: Option<&ProcessMark>,
    ) -> Result<(), StoreError> {
        self.update(id, "agent_pid", agent.map(|agent| agent.pid))?;
        self.update(id, "agent_started", agent.map(|agent| &agent.started))
    }

    /// Records that what the agent left was put away, as far as it may be.
    pub fn set_put_away(&self, id: &InstanceId) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(&format!(
                "UPDATE instances SET put_away_at = {NOW} WHERE id = ?1"
            ))?
            .execute([id.as_str()])?;
        Ok(())
    }

    /// Records why an agent ended and what of its work was kept.
    pub fn set_note(&self, id: &InstanceId, note: &Note) -> Result<(), StoreError> {
        let kept = note.kept.as_ref().map(serde_json::to_string).transpose();
        let kept = kept.map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        self.update(id, "kept", kept)?;
        self.update(id, "note", &note.reason)
    }

    pub fn set_claude_session(&self, id: &InstanceId, session: &str) -> Result<(), StoreError> {
        self.update(id, "claude_session_id", session)
    }

    pub fn set_branch(&self, id: &InstanceId, branch: Option<&str>) -> Result<(), StoreError> {
        self.update(id, "branch_name", branch)
    }

    pub fn set_base_commit(&self, id: &InstanceId, commit: &str) -> Result<(), StoreError> {
        self.update(id, "base_commit", commit)
    }

    pub fn set_tmux_pane(&self, id: &InstanceId, pane: Option<&str>) -> Result<(), StoreError> {
        self.update(id, "tmux_pane", pane)
    }

    pub fn set_pull_request(
        &self,
        id: &InstanceId,
        number: u64,
        url: &str,
    ) -> Result<(), StoreError> {
        self.update(id, "pr_number", number)?;
        self.update(id, "pr_url", url)
    }

    /// Records which process is launching or ending the instance, or that none is any more.
    pub fn set_owner(
        &self,
        id: &InstanceId,
        owner: Option<&ProcessMark>,
    ) -> Result<(), StoreError> {
        self.update(id, "owner_pid", owner.map(|owner| owner.pid))?;
        self.update(id, "owner_started", owner.map(|owner| &owner.started))
    }

    /// Records which MCP server speaks for the instance, or that none does any more.
    pub fn set_server(
        &self,
        id: &InstanceId,
        server: Option<&ProcessMark>,
    ) -> Result<(), StoreError> {
        self.update(id, "server_pid", server.map(|server| server.pid))?;
        self.update(id, "server_started", server.map(|server| &server.started))
    }

    /// Notes that the agent did something.
    pub fn touch(&self, id: &InstanceId) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(&format!(
                "UPDATE instances SET last_activity = {NOW} WHERE id = ?1"
            ))?
            .execute([id.as_str()])?;
        Ok(())
    }

    /// Removes a row that never came to life; reviews, messages and issue links go with it.
    pub fn delete_instance(&self, id: &InstanceId) -> Result<(), StoreError> {
        self.connection
            .execute("DELETE FROM instances WHERE id = ?1", [id.as_str()])?;
        Ok(())
    }

    fn update(
        &self,
        id: &InstanceId,
        column: &'static str,
        value: impl rusqlite::ToSql,
    ) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(&format!("UPDATE instances SET {column} = ?2 WHERE id = ?1"))?
            .execute(params![id.as_str(), value])?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::{new_instance, open_in};

    #[test]
    fn a_move_from_a_status_that_is_past_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let store = open_in(folder.path());
        let new = new_instance("work-42-a1");
        let before = store.write_now(|w| w.insert_instance(&new, None)).unwrap();
        let refused =
            store.write_now(|w| w.set_status(&new.id, Status::Running, Status::WaitingReview));
        assert!(matches!(
            refused,
            Err(StoreError::StatusChanged { id, expected })
                if id == "work-42-a1" && expected == "running"
        ));
        assert_eq!(store.read_now(|r| r.instance(&new.id)).unwrap(), before);
    }

    #[test]
    fn the_live_list_is_the_models() {
        let live: Vec<_> = Status::ALL
            .iter()
            .filter(|status| status.is_live())
            .map(|status| format!("'{status}'"))
            .collect();
        assert_eq!(LIVE, format!("({})", live.join(", ")));
    }
}

//! Adopted sessions: finds the rows of sessions that nobody launched.

use rusqlite::{OptionalExtension, params};

use super::instances::{LIVE, instance};
use super::row::parsed;
use super::{Reader, StoreError};
use crate::model::{Instance, InstanceId, InstanceKind, ProcessMark};

/// The statuses that nothing leads out of, for the session itself.
const OVER: &str = "('pr_merged', 'pr_closed', 'completed')";

impl Reader<'_> {
    /// Returns the coder of a person's own Claude session: the one that is owed feedback.
    ///
    /// Also one whose server has ended, for its session may have come back.
    pub fn adopted_in_session(&self, session: &str) -> Result<Option<Instance>, StoreError> {
        Ok(self
            .connection
            .prepare_cached(&format!(
                "SELECT * FROM instances WHERE claude_session_id = ?1 AND origin = 'adopted'
                 AND kind = 'coding' AND status NOT IN {OVER}
                 ORDER BY status IN {LIVE} DESC, created_at DESC LIMIT 1"
            ))?
            .query_row([session], instance)
            .optional()?)
    }

    /// Returns the live instances that one Claude Code process has been adopted as.
    pub fn adopted_by_agent(&self, agent: &ProcessMark) -> Result<Vec<InstanceId>, StoreError> {
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT id FROM instances WHERE status IN {LIVE} AND origin = 'adopted'
             AND agent_pid = ?1 AND agent_started = ?2"
        ))?;
        let rows = statement
            .query_map(params![agent.pid, agent.started], |row| parsed(row, "id"))?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Tells whether there is a row of a Claude session, or a live one of its process.
    pub fn is_adopted(
        &self,
        session: &str,
        agent: Option<&ProcessMark>,
    ) -> Result<bool, StoreError> {
        let by_session = self
            .connection
            .prepare_cached(
                "SELECT 1 FROM instances WHERE claude_session_id = ?1 AND origin = 'adopted'",
            )?
            .exists([session])?;
        Ok(match agent {
            Some(agent) if !by_session => !self.adopted_by_agent(agent)?.is_empty(),
            Some(_) | None => by_session,
        })
    }

    /// Returns the live launched agents whose session this is.
    pub fn launched_in_session(&self, session: &str) -> Result<Vec<Instance>, StoreError> {
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT * FROM instances WHERE claude_session_id = ?1 AND origin = 'launched'
             AND status IN {LIVE}"
        ))?;
        let rows = statement
            .query_map([session], instance)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Returns the adopted instances of one kind in a worktree whose work may go on, newest first.
    pub fn adopted_in_worktree(
        &self,
        kind: InstanceKind,
        worktree: &str,
    ) -> Result<Vec<Instance>, StoreError> {
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT * FROM instances WHERE worktree_path = ?1 AND kind = ?2 AND origin = 'adopted'
             AND status NOT IN {OVER} ORDER BY created_at DESC, id DESC"
        ))?;
        let rows = statement
            .query_map(params![worktree, kind.as_str()], instance)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }
}

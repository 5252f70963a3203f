//! Ids by prefix: which agents, tasks and TDD runs a person may mean, and which exist, for completion.

use rusqlite::params;

use super::row::parsed;
use super::{Reader, StoreError};
use crate::model::{InstanceId, TaskId};

/// Sorts after every character that an id can have.
const AFTER: char = '~';

impl Reader<'_> {
    /// Returns the agent with this id; if there is none, those whose ids begin with it, at most so many.
    pub fn instances_named(
        &self,
        given: &InstanceId,
        most: u32,
    ) -> Result<Vec<InstanceId>, StoreError> {
        let found = self.instance_ids(given.as_str(), most)?;
        Ok(exact_or_all(given, found))
    }

    /// Returns the ids of agents that begin with this text, in order.
    pub fn instance_ids(&self, prefix: &str, most: u32) -> Result<Vec<InstanceId>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT id FROM instances WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT ?3",
        )?;
        let range = params![prefix, format!("{prefix}{AFTER}"), most];
        let ids = statement.query_map(range, |row| parsed(row, "id"))?;
        Ok(ids.collect::<Result<_, _>>()?)
    }

    /// Returns the run with this id; if there is none, those whose ids begin with it, at most so many.
    pub fn tdd_runs_named(
        &self,
        given: &InstanceId,
        most: u32,
    ) -> Result<Vec<InstanceId>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT id FROM tdd_runs WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT ?3",
        )?;
        let range = params![given.as_str(), format!("{given}{AFTER}"), most];
        let ids = statement.query_map(range, |row| parsed(row, "id"))?;
        Ok(exact_or_all(given, ids.collect::<Result<_, _>>()?))
    }

    /// Returns the task of a repository with this id; if there is none, those whose ids begin with it, at most so many.
    pub fn tasks_named(
        &self,
        repository: &str,
        given: &TaskId,
        most: u32,
    ) -> Result<Vec<TaskId>, StoreError> {
        let found = self.task_ids(repository, given.as_str(), most)?;
        Ok(exact_or_all(given, found))
    }

    /// Returns the ids of a repository's tasks that begin with this text, in order.
    pub fn task_ids(
        &self,
        repository: &str,
        prefix: &str,
        most: u32,
    ) -> Result<Vec<TaskId>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT id FROM tasks WHERE id >= ?1 AND id < ?2 AND repository = ?3 ORDER BY id LIMIT ?4",
        )?;
        let range = params![prefix, format!("{prefix}{AFTER}"), repository, most];
        let ids = statement.query_map(range, |row| parsed(row, "id"))?;
        Ok(ids.collect::<Result<_, _>>()?)
    }
}

/// An id that is whole is meant as it is, even if others begin with it. It sorts before them.
fn exact_or_all<T: PartialEq>(given: &T, mut found: Vec<T>) -> Vec<T> {
    if found.first() == Some(given) {
        found.truncate(1);
    }
    found
}

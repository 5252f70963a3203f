//! TDD runs and their turns.

use rusqlite::{OptionalExtension, Row, params};

use super::row::{one_moved, parsed};
use super::{NOW, Reader, StoreError, Writer};
use crate::model::instance::ProcessMark;
use crate::model::{InstanceId, TddRole, TddRun, TddStatus, TddStep, WorktreeInfo};

/// A run to be stored; its first step is the coder's first turn.
#[derive(Debug, Clone)]
pub struct NewTddRun {
    pub id: InstanceId,
    pub repository: String,
    pub spec_path: String,
    pub original_spec: String,
    pub max_iterations: u32,
    pub branch_name: String,
    pub base_branch: String,
    pub worktree_path: String,
    pub cleanup: bool,
    pub owner: ProcessMark,
}

/// The coder's next turn.
#[derive(Debug, Clone)]
pub struct NextTurn {
    pub iteration: u32,
    pub turn: u32,
    pub prompt: String,
}

/// Columns of a run, with how many turns its coder has ended in the present round.
const RUNS: &str = "SELECT *, (SELECT count(*) FROM tdd_responses AS said
         WHERE said.run_id = tdd_runs.id AND said.role = 'coder'
           AND said.iteration = tdd_runs.iteration) AS turns_of_iteration
     FROM tdd_runs";

fn tdd_run(row: &Row<'_>) -> rusqlite::Result<TddRun> {
    let branch_name: String = row.get("branch_name")?;
    let pid: Option<u32> = row.get("owner_pid")?;
    let started: Option<String> = row.get("owner_started")?;
    Ok(TddRun {
        task_id: parsed(row, "id")?,
        spec_path: row.get::<_, String>("spec_path")?.into(),
        original_spec: row.get("original_spec")?,
        current_iteration: row.get("iteration")?,
        max_iterations: row.get("max_iterations")?,
        worktree_info: WorktreeInfo {
            path: row.get::<_, String>("worktree_path")?.into(),
            branch_name: branch_name.clone(),
            base_branch: row.get("base_branch")?,
        },
        branch_name,
        coder_responses: Vec::new(),
        reviewer_responses: Vec::new(),
        created_at: parsed(row, "created_at")?,
        updated_at: parsed(row, "updated_at")?,
        status: parsed(row, "status")?,
        repository: row.get::<_, String>("repository")?.into(),
        step: parsed(row, "step")?,
        turn: row.get("turn")?,
        turns_of_iteration: row.get("turns_of_iteration")?,
        prompt: row.get("prompt")?,
        cleanup: row.get("cleanup")?,
        pr_url: row.get("pr_url")?,
        error: row.get("error")?,
        owner: pid
            .zip(started)
            .map(|(pid, started)| ProcessMark { pid, started }),
    })
}

impl Reader<'_> {
    /// Returns one run with all that was said in it.
    pub fn tdd_run(&self, id: &InstanceId) -> Result<TddRun, StoreError> {
        let found = self
            .connection
            .prepare_cached(&format!("{RUNS} WHERE id = ?1"))?
            .query_row([id.as_str()], tdd_run)
            .optional()?;
        let run = found.ok_or_else(|| StoreError::TddRunNotFound { id: id.clone() })?;
        self.with_responses(run)
    }

    /// Returns the newest runs, oldest first.
    pub fn tdd_runs(&self, most: u32) -> Result<Vec<TddRun>, StoreError> {
        let mut statement = self
            .connection
            .prepare_cached(&format!("{RUNS} ORDER BY id DESC LIMIT ?1"))?;
        let runs = statement
            .query_map([most], tdd_run)?
            .collect::<Result<Vec<_>, _>>()?;
        runs.into_iter()
            .rev()
            .map(|run| self.with_responses(run))
            .collect()
    }

    /// Returns the run that an agent belongs to, as its coder or as one of its reviewers.
    ///
    /// Such agents have no prompt to type at: they are told things when their turn begins.
    pub fn tdd_run_of(&self, agent: &InstanceId) -> Result<Option<TddRun>, StoreError> {
        Ok(self
            .connection
            .prepare_cached(&format!(
                "{RUNS} WHERE id = ?1
                     OR id = (SELECT parent_instance_id FROM instances WHERE instances.id = ?1)"
            ))?
            .query_row([agent.as_str()], tdd_run)
            .optional()?)
    }

    fn with_responses(&self, mut run: TddRun) -> Result<TddRun, StoreError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT role, body FROM tdd_responses WHERE run_id = ?1 ORDER BY id")?;
        let said = statement
            .query_map([run.task_id.as_str()], |row| {
                Ok((parsed::<TddRole>(row, "role")?, row.get("body")?))
            })?
            .collect::<Result<Vec<_>, _>>()?;
        for (role, body) in said {
            match role {
                TddRole::Coder => run.coder_responses.push(body),
                TddRole::Reviewer => run.reviewer_responses.push(body),
            }
        }
        Ok(run)
    }
}

impl Writer<'_> {
    pub fn insert_tdd_run(&self, new: &NewTddRun) -> Result<(), StoreError> {
        self.connection.execute(
            &format!(
                "INSERT INTO tdd_runs (id, repository, spec_path, original_spec, iteration, max_iterations,
                     branch_name, base_branch, worktree_path, status, step, turn, prompt, cleanup,
                     owner_pid, owner_started, created_at, updated_at)
                 VALUES (?1, ?2, ?3, ?4, 1, ?5, ?6, ?7, ?8, 'running', 'coding', 1, ?4, ?9, ?10, ?11,
                         {NOW}, {NOW})"
            ),
            params![
                new.id.as_str(),
                new.repository,
                new.spec_path,
                new.original_spec,
                new.max_iterations,
                new.branch_name,
                new.base_branch,
                new.worktree_path,
                new.cleanup,
                new.owner.pid,
                new.owner.started,
            ],
        )?;
        Ok(())
    }

    /// Forgets a run whose coder never stood.
    pub fn delete_tdd_run(&self, id: &InstanceId) -> Result<(), StoreError> {
        self.connection
            .execute("DELETE FROM tdd_runs WHERE id = ?1", [id.as_str()])?;
        Ok(())
    }

    /// Takes a run up in the name of a process; false if another process changed it meanwhile.
    pub fn claim_tdd_run(
        &self,
        seen: &TddRun,
        owner: &ProcessMark,
        max_iterations: u32,
    ) -> Result<bool, StoreError> {
        let seen_owner = seen.owner.as_ref();
        let claimed = self.connection.execute(
            &format!(
                "UPDATE tdd_runs SET status = 'running', error = NULL, owner_pid = ?2, owner_started = ?3,
                     max_iterations = ?4, updated_at = {NOW}
                 WHERE id = ?1 AND status = ?5 AND owner_pid IS ?6 AND owner_started IS ?7"
            ),
            params![
                seen.task_id.as_str(),
                owner.pid,
                owner.started,
                max_iterations,
                seen.status.as_str(),
                seen_owner.map(|owner| owner.pid),
                seen_owner.map(|owner| &owner.started),
            ],
        )?;
        if claimed == 0 {
            // One that is gone altogether is an error of its own.
            return self.tdd_run(&seen.task_id).map(|_| false);
        }
        self.connection.execute(
            "UPDATE instances SET max_reviews = ?2 WHERE id = ?1",
            params![seen.task_id.as_str(), max_iterations],
        )?;
        Ok(true)
    }

    /// Lets a run go: nobody drives it until it is taken up again.
    pub fn release_tdd_run(&self, id: &InstanceId) -> Result<(), StoreError> {
        self.connection.execute(
            &format!(
                "UPDATE tdd_runs SET owner_pid = NULL, owner_started = NULL, updated_at = {NOW}
                 WHERE id = ?1"
            ),
            [id.as_str()],
        )?;
        Ok(())
    }

    /// Records which turn the coder gets next, and so that it is its turn.
    pub fn begin_tdd_turn(&self, id: &InstanceId, next: &NextTurn) -> Result<(), StoreError> {
        self.connection.execute(
            &format!(
                "UPDATE tdd_runs SET step = ?2, iteration = ?3, turn = ?4, prompt = ?5, updated_at = {NOW}
                 WHERE id = ?1"
            ),
            params![
                id.as_str(),
                TddStep::Coding.as_str(),
                next.iteration,
                next.turn,
                next.prompt
            ],
        )?;
        Ok(())
    }

    pub fn set_tdd_step(&self, id: &InstanceId, step: TddStep) -> Result<(), StoreError> {
        self.connection.execute(
            &format!("UPDATE tdd_runs SET step = ?2, updated_at = {NOW} WHERE id = ?1"),
            params![id.as_str(), step.as_str()],
        )?;
        Ok(())
    }

    /// Keeps what an agent of the present round said. A round has one verdict, however often it is told.
    pub fn insert_tdd_response(
        &self,
        id: &InstanceId,
        role: TddRole,
        body: &str,
    ) -> Result<(), StoreError> {
        self.connection.execute(
            &format!(
                "INSERT INTO tdd_responses (run_id, role, iteration, body, created_at)
                 SELECT id, ?2, iteration, ?3, {NOW} FROM tdd_runs WHERE id = ?1 AND (?2 = 'coder' OR NOT EXISTS (
                     SELECT 1 FROM tdd_responses AS said
                     WHERE said.run_id = ?1 AND said.role = ?2 AND said.iteration = tdd_runs.iteration))"
            ),
            params![id.as_str(), role.as_str(), body],
        )?;
        Ok(())
    }

    /// Records how a run ended, and lets it go.
    pub fn end_tdd_run(
        &self,
        id: &InstanceId,
        status: TddStatus,
        pr_url: Option<&str>,
        error: Option<&str>,
    ) -> Result<(), StoreError> {
        let present = self.tdd_run(id)?.status;
        let moved = self.connection.execute(
            &format!(
                "UPDATE tdd_runs SET status = ?2, pr_url = coalesce(?3, pr_url), error = ?4,
                     updated_at = {NOW} WHERE id = ?1 AND status = ?5"
            ),
            params![
                id.as_str(),
                status.as_str(),
                pr_url,
                error,
                present.as_str()
            ],
        )?;
        one_moved(moved, id.as_str(), present)?;
        self.release_tdd_run(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    fn new(id: &str) -> NewTddRun {
        NewTddRun {
            id: id.parse().unwrap(),
            repository: "/repo".to_owned(),
            spec_path: "/repo/SPEC.md".to_owned(),
            original_spec: "Build it".to_owned(),
            max_iterations: 3,
            branch_name: format!("tdd/{id}"),
            base_branch: "main".to_owned(),
            worktree_path: format!("/trees/{id}"),
            cleanup: true,
            owner: ProcessMark {
                pid: 7,
                started: "1".to_owned(),
            },
        }
    }

    #[test]
    fn a_run_keeps_what_was_said_in_each_round() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("codex.db")).unwrap();
        let id: InstanceId = "20260728-123456-abcdef".parse().unwrap();
        let run = store
            .write_now(|w| {
                w.insert_tdd_run(&new(id.as_str()))?;
                w.insert_tdd_response(&id, TddRole::Coder, "done")?;
                w.set_tdd_step(&id, TddStep::Reviewing)?;
                w.insert_tdd_response(&id, TddRole::Reviewer, "not yet")?;
                w.insert_tdd_response(&id, TddRole::Reviewer, "not yet")?;
                w.tdd_run(&id)
            })
            .unwrap();
        assert_eq!(run.coder_responses, ["done"]);
        assert_eq!(run.reviewer_responses, ["not yet"]);
        assert_eq!(run.turns_of_iteration, 1);
        assert_eq!(run.step, TddStep::Reviewing);
        let run = store
            .write_now(|w| {
                w.begin_tdd_turn(
                    &id,
                    &NextTurn {
                        iteration: 2,
                        turn: 2,
                        prompt: "again".to_owned(),
                    },
                )?;
                w.tdd_run(&id)
            })
            .unwrap();
        assert_eq!((run.current_iteration, run.turns_of_iteration), (2, 0));
        assert_eq!(run.step, TddStep::Coding);
        assert!(matches!(
            store.read_now(|r| r.tdd_run(&"work-1-a1".parse().unwrap())),
            Err(StoreError::TddRunNotFound { .. })
        ));
    }

    #[test]
    fn only_one_process_takes_a_run_up() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("codex.db")).unwrap();
        let id: InstanceId = "20260728-123456-abcdef".parse().unwrap();
        let me = ProcessMark {
            pid: 8,
            started: "2".to_owned(),
        };
        let claims = store.write_now(|w| {
            w.insert_tdd_run(&new(id.as_str()))?;
            let seen = w.tdd_run(&id)?;
            Ok((
                w.claim_tdd_run(&seen, &me, 5)?,
                w.claim_tdd_run(&seen, &me, 5)?,
                w.tdd_run(&id)?.max_iterations,
            ))
        });
        assert_eq!(claims.unwrap(), (true, false, 5));
    }
}

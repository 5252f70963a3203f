//! TDD phases: one row per worktree and Claude Code session.

use std::path::{Path, PathBuf};

use rusqlite::{OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};

use super::row::{json, parsed, parsed_option};
use super::{NOW, Reader, StoreError, Writer};
use crate::model::{Alteration, FileKind, Phase, ProcessMark, Timestamp};

/// A phase that begins.
#[derive(Debug, Clone)]
pub struct NewPhase {
    pub worktree: PathBuf,
    pub session: String,
    pub repository: PathBuf,
    pub phase: Phase,
    pub snapshot: String,
}

/// Where a session stands in a worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PhaseRow {
    pub worktree: PathBuf,
    pub session: String,
    #[serde(skip)]
    pub repository: PathBuf,
    pub phase: Phase,
    pub confirmed_at: Option<Timestamp>,
    #[serde(skip)]
    pub asked: bool,
    #[serde(skip)]
    pub snapshot: String,
    pub violations: Vec<Violation>,
    #[serde(skip)]
    pub projects: Vec<PathBuf>,
    #[serde(skip)]
    pub blocks: u32,
    #[serde(skip)]
    pub command_since: Option<Timestamp>,
    #[serde(skip)]
    pub turn_ended_at: Option<Timestamp>,
    #[serde(skip)]
    pub checker: Option<ProcessMark>,
    #[serde(skip)]
    pub ended_at: Option<Timestamp>,
    pub started_at: Timestamp,
    pub phase_since: Timestamp,
    pub updated_at: Timestamp,
}

/// A change that the phase does not allow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Violation {
    /// Relative to the worktree.
    pub path: PathBuf,
    pub kind: FileKind,
    pub how: Alteration,
}

const COLUMNS: &str = "worktree, claude_session, repository, phase, confirmed_at, asked, snapshot, \
     violations, projects, blocks, command_since, turn_ended_at, checker_pid, checker_started, ended_at, started_at, phase_since, updated_at";

fn phase_of(row: &Row<'_>) -> rusqlite::Result<PhaseRow> {
    let path = |column: &str| row.get::<_, String>(column).map(PathBuf::from);
    let pid: Option<u32> = row.get("checker_pid")?;
    let started: Option<String> = row.get("checker_started")?;
    Ok(PhaseRow {
        worktree: path("worktree")?,
        session: row.get("claude_session")?,
        repository: path("repository")?,
        phase: parsed(row, "phase")?,
        confirmed_at: parsed_option(row, "confirmed_at")?,
        asked: row.get("asked")?,
        snapshot: row.get("snapshot")?,
        violations: json(row, "violations")?,
        projects: json(row, "projects")?,
        blocks: row.get("blocks")?,
        command_since: parsed_option(row, "command_since")?,
        turn_ended_at: parsed_option(row, "turn_ended_at")?,
        checker: pid
            .zip(started)
            .map(|(pid, started)| ProcessMark { pid, started }),
        ended_at: parsed_option(row, "ended_at")?,
        started_at: parsed(row, "started_at")?,
        phase_since: parsed(row, "phase_since")?,
        updated_at: parsed(row, "updated_at")?,
    })
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

impl Reader<'_> {
    /// Returns where a session stands, in each worktree that it has begun phases in; the latest first.
    pub fn phases_of_session(&self, session: &str) -> Result<Vec<PhaseRow>, StoreError> {
        self.phase_rows("claude_session = ?1", session)
    }

    /// Returns the living sessions that have phases in a worktree; the latest first.
    pub fn phases_in_worktree(&self, worktree: &Path) -> Result<Vec<PhaseRow>, StoreError> {
        self.phase_rows("worktree = ?1 AND ended_at IS NULL", &text(worktree))
    }

    /// Returns phases of sessions that ended some days ago, or of which nothing was heard for ten times as long.
    pub fn phases_forgotten(&self, days: u32) -> Result<Vec<PhaseRow>, StoreError> {
        self.phase_rows(
            "ended_at < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-' || ?1 || ' days')
             OR updated_at < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-' || (10 * ?1) || ' days')",
            &days.to_string(),
        )
    }

    fn phase_rows(&self, condition: &str, value: &str) -> Result<Vec<PhaseRow>, StoreError> {
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM tdd_phases WHERE {condition} ORDER BY updated_at DESC, worktree"
        ))?;
        let rows = statement.query_map([value], phase_of)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns where a session stands in a worktree.
    pub fn phase(&self, worktree: &Path, session: &str) -> Result<Option<PhaseRow>, StoreError> {
        Ok(self
            .connection
            .prepare_cached(&format!(
                "SELECT {COLUMNS} FROM tdd_phases WHERE worktree = ?1 AND claude_session = ?2"
            ))?
            .query_row(params![text(worktree), session], phase_of)
            .optional()?)
    }
}

impl Writer<'_> {
    /// Begins phases, in place of those that the session had in this worktree.
    pub fn begin_phase(&self, new: &NewPhase) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(&format!(
                "INSERT OR REPLACE INTO tdd_phases
                     (worktree, claude_session, repository, phase, snapshot, started_at, phase_since, updated_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, {NOW}, {NOW}, {NOW})"
            ))?
            .execute(params![
                text(&new.worktree),
                new.session,
                text(&new.repository),
                new.phase.as_str(),
                new.snapshot
            ])?;
        Ok(())
    }

    /// Moves on to another phase, unless somebody else has done so.
    pub fn move_phase(&self, from: &PhaseRow, to: Phase) -> Result<bool, StoreError> {
        let moved = self
            .connection
            .prepare_cached(&format!(
                "UPDATE tdd_phases
                 SET phase = ?4, confirmed_at = NULL, asked = 0, violations = '[]', blocks = 0,
                     phase_since = {NOW}, updated_at = {NOW}
                 WHERE worktree = ?1 AND claude_session = ?2 AND phase = ?3"
            ))?
            .execute(params![
                text(&from.worktree),
                from.session,
                from.phase.as_str(),
                to.as_str()
            ])?;
        Ok(moved == 1)
    }

    /// Keeps that a person has confirmed the phase that it is in.
    pub fn confirm_phase(&self, row: &PhaseRow) -> Result<bool, StoreError> {
        let confirmed = self
            .connection
            .prepare_cached(&format!(
                "UPDATE tdd_phases SET confirmed_at = {NOW}, blocks = 0, updated_at = {NOW}
                 WHERE worktree = ?1 AND claude_session = ?2 AND phase = ?3"
            ))?
            .execute(params![
                text(&row.worktree),
                row.session,
                row.phase.as_str()
            ])?;
        Ok(confirmed == 1)
    }

    /// Keeps what was found to stand against the phase.
    pub fn set_violations(&self, row: &PhaseRow, found: &[Violation]) -> Result<(), StoreError> {
        let found = serde_json::to_string(found).unwrap_or_else(|_| "[]".to_owned());
        self.set_phase_column(row, "violations", Some(&found))
    }

    /// Keeps in which projects files were edited.
    pub fn set_phase_projects(
        &self,
        row: &PhaseRow,
        projects: &[PathBuf],
    ) -> Result<(), StoreError> {
        let projects = serde_json::to_string(projects).unwrap_or_else(|_| "[]".to_owned());
        self.set_phase_column(row, "projects", Some(&projects))
    }

    /// Keeps that the agent was told to ask the person.
    pub fn set_phase_asked(&self, row: &PhaseRow) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(
                "UPDATE tdd_phases SET asked = 1 WHERE worktree = ?1 AND claude_session = ?2",
            )?
            .execute(params![text(&row.worktree), row.session])?;
        Ok(())
    }

    /// Counts one more refused end of a turn, or begins to count anew.
    pub fn set_phase_blocks(&self, row: &PhaseRow, blocks: u32) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(&format!(
                "UPDATE tdd_phases SET blocks = ?3, updated_at = {NOW}
                 WHERE worktree = ?1 AND claude_session = ?2"
            ))?
            .execute(params![text(&row.worktree), row.session, blocks])?;
        Ok(())
    }

    /// Keeps that a shell command of the session began, or that none runs any more.
    pub fn set_phase_command(&self, session: &str, runs: bool) -> Result<(), StoreError> {
        let value = if runs { NOW } else { "NULL" };
        self.connection
            .prepare_cached(&format!(
                "UPDATE tdd_phases SET command_since = {value}, updated_at = {NOW} WHERE claude_session = ?1"
            ))?
            .execute([session])?;
        Ok(())
    }

    /// Keeps that a turn of the session has just ended, or that nothing is known of one.
    pub fn set_phase_turn(&self, session: &str, ended: bool) -> Result<(), StoreError> {
        let value = if ended { NOW } else { "NULL" };
        self.connection
            .prepare_cached(&format!(
                "UPDATE tdd_phases SET turn_ended_at = {value} WHERE claude_session = ?1"
            ))?
            .execute([session])?;
        Ok(())
    }

    /// Makes a process the one that checks; returns the one that did.
    pub fn take_over_check(
        &self,
        row: &PhaseRow,
        mark: &ProcessMark,
    ) -> Result<Option<ProcessMark>, StoreError> {
        let before = self
            .phase(&row.worktree, &row.session)?
            .and_then(|row| row.checker);
        self.connection
            .prepare_cached(
                "UPDATE tdd_phases SET checker_pid = ?3, checker_started = ?4
                 WHERE worktree = ?1 AND claude_session = ?2",
            )?
            .execute(params![
                text(&row.worktree),
                row.session,
                mark.pid,
                mark.started
            ])?;
        Ok(before)
    }

    /// Keeps that a session has ended, or that it was taken up again.
    pub fn set_phases_ended(&self, session: &str, ended: bool) -> Result<(), StoreError> {
        let value = if ended { NOW } else { "NULL" };
        self.connection
            .prepare_cached(&format!(
                "UPDATE tdd_phases SET ended_at = {value}, command_since = NULL, turn_ended_at = NULL, updated_at = {NOW}
                 WHERE claude_session = ?1"
            ))?
            .execute([session])?;
        Ok(())
    }

    /// Lets the next session of this worktree take over: this one was cleared.
    pub fn release_phases(&self, session: &str) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(&format!(
                "UPDATE tdd_phases SET released_at = {NOW} WHERE claude_session = ?1"
            ))?
            .execute([session])?;
        Ok(())
    }

    /// Gives what a cleared session left in a worktree within the last minute to the one that follows.
    pub fn take_over_phase(&self, worktree: &Path, session: &str) -> Result<bool, StoreError> {
        let taken = self
            .connection
            .prepare_cached(
                "UPDATE tdd_phases SET claude_session = ?2, released_at = NULL, command_since = NULL
                 WHERE worktree = ?1 AND claude_session = (
                     SELECT claude_session FROM tdd_phases
                     WHERE worktree = ?1 AND released_at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-60 seconds')
                     ORDER BY released_at DESC LIMIT 1)",
            )?
            .execute(params![text(worktree), session])?;
        Ok(taken == 1)
    }

    /// Forgets a session's phase in a worktree.
    pub fn end_phase(&self, row: &PhaseRow) -> Result<(), StoreError> {
        self.connection
            .prepare_cached("DELETE FROM tdd_phases WHERE worktree = ?1 AND claude_session = ?2")?
            .execute(params![text(&row.worktree), row.session])?;
        Ok(())
    }

    fn set_phase_column(
        &self,
        row: &PhaseRow,
        column: &'static str,
        value: Option<&str>,
    ) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(&format!(
                "UPDATE tdd_phases SET {column} = ?3, updated_at = {NOW}
                 WHERE worktree = ?1 AND claude_session = ?2"
            ))?
            .execute(params![text(&row.worktree), row.session, value])?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Store;
    use super::*;

    fn begun(store: &Store, worktree: &str, session: &str) -> PhaseRow {
        let new = NewPhase {
            worktree: worktree.into(),
            session: session.to_owned(),
            repository: "/r/.git".into(),
            phase: Phase::Requirements,
            snapshot: "p-1".to_owned(),
        };
        store
            .write_now(|w| {
                w.begin_phase(&new)?;
                Ok(w.phase(&new.worktree, session)?.unwrap())
            })
            .unwrap()
    }

    #[test]
    fn sessions_and_worktrees_keep_their_phases_apart() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("db")).unwrap();
        let one = begun(&store, "/r", "s1");
        begun(&store, "/r", "s2");
        begun(&store, "/t", "s1");
        let moved = store.write_now(|w| {
            assert!(w.confirm_phase(&one)?);
            assert!(w.move_phase(&one, Phase::Interfaces)?);
            // Who comes second finds it done.
            assert!(!w.move_phase(&one, Phase::Interfaces)?);
            assert!(!w.confirm_phase(&one)?);
            Ok(w.phase(Path::new("/r"), "s1")?.unwrap())
        });
        let moved = moved.unwrap();
        assert_eq!(
            (moved.phase, &moved.confirmed_at),
            (Phase::Interfaces, &None)
        );
        let phases = |session: &str| store.read_now(|r| r.phases_of_session(session)).unwrap();
        assert_eq!(phases("s2")[0].phase, Phase::Requirements);
        assert_eq!(phases("s1").len(), 2);
        let there = store.read_now(|r| r.phases_in_worktree(Path::new("/t")));
        assert_eq!(there.unwrap()[0].phase, Phase::Requirements);
    }

    #[test]
    fn a_cleared_session_hands_its_phase_on_once() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("db")).unwrap();
        begun(&store, "/r", "old");
        let taken = store.write_now(|w| {
            assert!(
                !w.take_over_phase(Path::new("/r"), "new")?,
                "nobody left it"
            );
            w.release_phases("old")?;
            assert!(
                !w.take_over_phase(Path::new("/t"), "new")?,
                "another worktree"
            );
            assert!(w.take_over_phase(Path::new("/r"), "new")?);
            assert!(!w.take_over_phase(Path::new("/r"), "third")?);
            assert_eq!(w.phases_of_session("old")?, []);
            w.phases_of_session("new")
        });
        assert_eq!(taken.unwrap().len(), 1);
    }

    #[test]
    fn the_one_who_checks_is_known_to_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("db")).unwrap();
        let row = begun(&store, "/r", "s");
        let mark = |pid| ProcessMark {
            pid,
            started: "7".to_owned(),
        };
        let before = store.write_now(|w| {
            assert_eq!(w.take_over_check(&row, &mark(1))?, None);
            w.take_over_check(&row, &mark(2))
        });
        assert_eq!(before.unwrap(), Some(mark(1)));
    }
}

//! TDD phases: what Claude Code's hooks and `claude-codex phase` do.
//!
//! The guard decides on an edit from its path, the project's profile and the phase alone, in milliseconds.
//! What a shell command changes is found afterwards, against the files as they were when the phase began;
//! so is everything else that gets past the guard, when the turn ends.

mod checks;
mod command;
mod edit;
mod end_of_turn;
mod guard;
mod guarded_files;
mod person;
mod place;
pub mod profile;
mod violations;
mod who;
mod wording;

use std::path::{Path, PathBuf};

use profile::{Profile, ProfileName};
use shared::config::{Environment, Trust};
use shared::error::{Code, Error};
use shared::file;
use shared::git::{Snapshot, worktree_around};
use shared::store::{PhaseRow, Store};

pub use checks::after_edit;
pub use end_of_turn::{EndOfTurn, end_of_turn};
pub use guard::{command_ended, guard};
pub use guarded_files::config_change;
pub use person::{
    Spoken, Verb, accept, at_session_end, at_session_start, confirm, heard, row_for,
    row_in_worktree, session_in_worktree, start, status_text, stop_phases,
};
pub use violations::{Restored, after_command, look, restore};
pub use who::{person_at_prompt, person_at_shell};

/// What the phases stand on: less than other verbs, because a hook lives for milliseconds.
#[derive(Debug, Clone)]
pub struct Phases {
    pub environment: Environment,
    pub store: Store,
    state_dir: PathBuf,
    home: Option<PathBuf>,
    default: Option<ProfileName>,
}

impl Phases {
    pub fn new(environment: Environment, store: Store) -> Result<Self, Error> {
        let state_dir = environment.state_dir()?;
        let home = environment.home().ok();
        // A default that is none is told by `start`, not by every hook.
        let default = environment
            .get("TDD_DEFAULT_PROFILE")
            .and_then(|name| name.parse().ok());
        Ok(Self {
            environment,
            store,
            state_dir,
            home,
            default,
        })
    }

    /// Finds how the project around a path is built and tested.
    fn profile(&self, worktree: &Path, path: &Path) -> Result<Option<Profile>, Error> {
        let is_trusted = |text: &str| self.trusts(worktree, text);
        Ok(profile::find(
            worktree,
            path,
            self.home.as_deref(),
            self.default,
            is_trusted,
        )?)
    }

    /// Tells whether the person has trusted the repository's own profile as it is in a worktree.
    fn trusts(&self, worktree: &Path, text: &str) -> bool {
        let main = worktree_around(worktree).map(|(_, common)| match common.file_name() {
            Some(name) if name == ".git" => common.parent().unwrap_or(&common).to_owned(),
            _ => common,
        });
        Trust::load(&self.environment).is_ok_and(|trust| {
            [Some(worktree), main.as_deref()]
                .into_iter()
                .flatten()
                .any(|root| trust.covers(root, profile::REPOSITORY_FILE, text))
        })
    }

    /// Says that the repository's own profile is ignored, if it is.
    fn ignored_profile(&self, worktree: &Path) -> Option<String> {
        let text = file::read_inside(worktree, profile::REPOSITORY_FILE).ok()??;
        (!self.trusts(worktree, &text)).then(|| {
            format!(
                "{} is ignored until you have looked at it with `claude-codex trust`.",
                profile::REPOSITORY_FILE
            )
        })
    }

    fn snapshot_folder(&self, row: &PhaseRow) -> PathBuf {
        self.state_dir.join("phases").join(&row.snapshot)
    }

    fn snapshot(&self, row: &PhaseRow) -> Snapshot {
        Snapshot::at(&row.worktree, &row.repository, &self.snapshot_folder(row))
    }

    /// Returns the folder in which Claude Code keeps the user's settings and its sessions.
    fn claude_folder(&self) -> Option<PathBuf> {
        self.environment
            .claude_config_dir()
            .or_else(|| Some(self.home.as_ref()?.join(".claude")))
    }

    /// Returns the session's phases that still hold something back.
    fn active(&self, session: &str) -> Result<Vec<PhaseRow>, Error> {
        let mut rows = self.store.read_now(|r| r.phases_of_session(session))?;
        rows.retain(|row| row.phase != shared::model::Phase::Done);
        Ok(rows)
    }
}

/// Says that there is nothing to do it to.
fn no_phase() -> Error {
    Error::new(Code::NotAvailable, "there is no TDD phase here").hint(
        "`claude-codex init --tdd` installs the hooks; then type `/tdd start` in Claude Code.",
    )
}

//! TDD phases: the functions behind Claude Code's hooks and `claude-codex phase`.
//!
//! The guard allows or denies an edit by its path, the project's profile and the phase alone, in milliseconds.
//! Changes by shell commands, and everything else that passes the guard, are detected afterwards: the files are
//! compared with the snapshot from the beginning of the phase, after each command and at the end of each turn.

mod approved;
mod build_products;
mod checks;
mod commands;
mod edit;
mod end_of_turn;
mod guard;
mod guarded_files;
mod human_check;
mod messages;
mod outside_links;
mod overrules;
pub mod profile;
mod prompt_sources;
mod resolve_path;
mod shell_guard;
mod shell_words;
mod violations;

use std::path::{Path, PathBuf};

use profile::{Profile, ProfileName};
use shared::config::{Environment, Trust};
use shared::error::{Code, Error};
use shared::file;
use shared::git::{Snapshot, worktree_around};
use shared::store::{PhaseRow, Store};

pub use checks::after_edit;
pub use commands::{
    CommandReply, PhaseCommand, accept, at_session_end, at_session_start, confirm, overrule,
    row_for, row_in_worktree, session_in_worktree, start, status_text, stop_phases,
};
pub use end_of_turn::{EndOfTurn, end_of_turn};
pub use guard::{command_ended, guard};
pub use guarded_files::{config_change, settings_at_start};
pub use human_check::{is_of_the_session, require_human_at_prompt, require_human_at_shell};
pub use messages::not_judged;
pub use overrules::{Overrule, all as overrules};
pub use prompt_sources::{Said, note_scheduled, require_typed, runs_programs};
pub use violations::{Restored, after_command, detect, restore};

/// The name of the profile at the beginning, beside the snapshot.
const FROZEN: &str = "profile";

/// The context of the phases: smaller than `workflow::Context`, because a hook runs for milliseconds.
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
        // `start` reports an invalid TDD_DEFAULT_PROFILE; hooks ignore it.
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

    /// Finds the profile of the project that a path belongs to.
    fn profile(&self, worktree: &Path, path: &Path) -> Result<Option<Profile>, Error> {
        let is_trusted = |text: &str| self.trusts(worktree, text);
        let home = self.home.as_deref();
        let found = profile::find(worktree, path, home, self.default, is_trusted)?;
        if found.is_some() {
            return Ok(found);
        }
        // A project file that was moved away since does not end the rules.
        let rows = self.store.read_now(|r| r.phases_in_worktree(worktree))?;
        let frozen = rows.iter().find_map(|row| {
            let text = std::fs::read_to_string(self.snapshot_folder(row).join(FROZEN)).ok()?;
            let (name, root) = text.split_once('\n')?;
            let root = Path::new(root);
            let name: ProfileName = name.parse().ok()?;
            path.starts_with(root)
                .then(|| profile::of_name(name, root, worktree))
        });
        Ok(frozen)
    }

    /// Records the profile with which phases begin.
    fn freeze_profile(&self, row: &PhaseRow, profile: &Profile) -> Result<(), Error> {
        let place = self.snapshot_folder(row).join(FROZEN);
        let text = format!("{}\n{}", profile.name, profile.root.display());
        std::fs::write(&place, text).map_err(|error| {
            let text = format!("cannot write {}: {error}", place.display());
            Error::new(Code::Internal, text)
        })
    }

    /// Returns whether the person has trusted this text of the repository's profile.
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

    /// Returns a notice if the repository's profile is ignored because it is not trusted.
    fn ignored_profile(&self, worktree: &Path) -> Option<String> {
        let text = file::read_inside(worktree, profile::REPOSITORY_FILE).ok()??;
        (!self.trusts(worktree, &text)).then(|| {
            format!(
                "{} is ignored until you trust it with `claude-codex trust`.",
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

    /// Returns Claude Code's folder with the user's settings and sessions.
    fn claude_folder(&self) -> Option<PathBuf> {
        self.environment
            .claude_config_dir()
            .or_else(|| Some(self.home.as_ref()?.join(".claude")))
    }

    /// Returns the session's phases that are not done.
    fn active(&self, session: &str) -> Result<Vec<PhaseRow>, Error> {
        let mut rows = self.store.read_now(|r| r.phases_of_session(session))?;
        rows.retain(|row| row.phase != shared::model::Phase::Done);
        Ok(rows)
    }
}

/// Returns the error for a command in a worktree without a phase.
fn no_phase() -> Error {
    Error::new(Code::NotAvailable, "there is no TDD phase here").hint(
        "`claude-codex init --tdd` installs the hooks; then type `/tdd start` in Claude Code.",
    )
}

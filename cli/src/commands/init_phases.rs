//! `claude-codex init --tdd`: installs and removes the hooks and the `/tdd` command of TDD phases.

use std::path::Path;

use shared::config::Environment;
use shared::error::{Code, Error};
use shared::git::Repository;

use super::file_change::{FileChange, Left, change_file, read};
use super::phases_settings::{with_hooks, without_hooks};
use crate::atomic_write::inside;
use crate::server_paths;

/// The `/tdd` command of Claude Code.
const COMMAND: &str = include_str!("phases_command.md");
const SETTINGS_FILE: &str = ".claude/settings.json";
const COMMAND_FILE: &str = ".claude/commands/tdd.md";
const HOOKS: &str = "the hooks of the TDD phases";
const TDD_COMMAND: &str = "the command /tdd";

/// Installs or removes hooks and command in the current worktree.
pub(super) fn init_phases(
    environment: &Environment,
    repository: &Repository,
    remove: bool,
    dry_run: bool,
) -> Result<[FileChange; 2], Error> {
    let root = repository.worktree().unwrap_or_else(|| repository.root());
    let (settings, command) = (inside(root, SETTINGS_FILE)?, inside(root, COMMAND_FILE)?);
    if remove {
        Ok([
            remove_hooks(&settings, dry_run)?,
            remove_command(&command, dry_run)?,
        ])
    } else {
        let program = program(environment)?;
        // Checked before anything is written, so that both or neither are installed.
        add_command(&command, true)?;
        Ok([
            add_hooks(&settings, &program, dry_run)?,
            add_command(&command, dry_run)?,
        ])
    }
}

/// Returns how a settings file calls this program.
pub(super) fn program(environment: &Environment) -> Result<String, Error> {
    let own = server_paths::shared_name("claude-codex", environment).ok_or_else(|| {
        Error::new(Code::ServerMissing, "the path of `claude-codex` is unknown")
            .hint("Put it into a folder on PATH.")
    })?;
    let path = own.to_string_lossy();
    shlex::try_quote(&path)
        .map(std::borrow::Cow::into_owned)
        .map_err(|error| Error::new(Code::Internal, format!("{path}: {error}")))
}

fn add_hooks(path: &Path, program: &str, dry_run: bool) -> Result<FileChange, Error> {
    let left = match with_hooks(path, read(path)?.as_deref(), program)? {
        Some(text) => Left::Text(text),
        None => Left::Unchanged,
    };
    change_file(path, left, HOOKS, dry_run)
}

fn add_command(path: &Path, dry_run: bool) -> Result<FileChange, Error> {
    let left = match read(path)? {
        Some(present) if present == COMMAND => Left::Unchanged,
        // A command of the user with this name is left alone.
        Some(present) if !is_ours(&present) => {
            return Err(Error::new(
                Code::ConfigInvalid,
                format!("{} is your own command and was not changed", path.display()),
            )
            .hint("Rename it; `/tdd` is the command that confirms a phase."));
        }
        _ => Left::Text(COMMAND.to_owned()),
    };
    change_file(path, left, TDD_COMMAND, dry_run)
}

fn remove_hooks(path: &Path, dry_run: bool) -> Result<FileChange, Error> {
    let left = without_hooks(path, read(path)?.as_deref())?;
    change_file(path, left, HOOKS, dry_run)
}

fn remove_command(path: &Path, dry_run: bool) -> Result<FileChange, Error> {
    let left = match read(path)? {
        Some(present) if is_ours(&present) => Left::Nothing,
        _ => Left::Unchanged,
    };
    change_file(path, left, TDD_COMMAND, dry_run)
}

fn is_ours(text: &str) -> bool {
    text.contains("TDD phases of claude-codex")
}

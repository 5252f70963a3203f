//! `claude-codex init --tdd`: installs and removes the hooks and the `/tdd` command of TDD phases.

use std::path::Path;

use shared::config::Environment;
use shared::error::{Code, Error};
use shared::git::Repository;

use super::file_change::{Action, FileChange, read};
use super::phases_settings::{Left, with_hooks, without_hooks};
use crate::atomic_write::{inside, write_atomically};

/// The `/tdd` command of Claude Code.
const COMMAND: &str = include_str!("phases_command.md");
const SETTINGS_FILE: &str = ".claude/settings.json";
const COMMAND_FILE: &str = ".claude/commands/tdd.md";

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

/// Returns the name of this program for settings: without a path if it is on PATH, so that settings can be shared.
fn program(environment: &Environment) -> Result<String, Error> {
    let own = environment.own_program("claude-codex").ok_or_else(|| {
        Error::new(Code::ServerMissing, "the path of `claude-codex` is unknown")
            .hint("Put it into a folder on PATH.")
    })?;
    let search = environment.get("PATH").unwrap_or_default();
    let found = std::env::split_paths(search)
        .map(|folder| folder.join("claude-codex"))
        .find(|path| path.is_file());
    if found.and_then(|path| path.canonicalize().ok()) == own.canonicalize().ok() {
        return Ok("claude-codex".to_owned());
    }
    let path = own.to_string_lossy();
    shlex::try_quote(&path)
        .map(std::borrow::Cow::into_owned)
        .map_err(|error| Error::new(Code::Internal, format!("{path}: {error}")))
}

fn file_change(path: &Path, action: Action, what: &str) -> FileChange {
    FileChange {
        path: path.to_string_lossy().into_owned(),
        action,
        what: what.to_owned(),
    }
}

fn add_hooks(path: &Path, program: &str, dry_run: bool) -> Result<FileChange, Error> {
    let what = "the hooks of the TDD phases";
    let present = read(path)?;
    let Some(text) = with_hooks(path, present.as_deref(), program)? else {
        return Ok(file_change(path, Action::Unchanged, what));
    };
    if !dry_run {
        write_atomically(path, &text)?;
    }
    let action = if present.is_some() {
        Action::Updated
    } else {
        Action::Created
    };
    Ok(file_change(path, action, what))
}

fn add_command(path: &Path, dry_run: bool) -> Result<FileChange, Error> {
    let action = match read(path)? {
        Some(present) if present == COMMAND => Action::Unchanged,
        // A command of the user with this name is left alone.
        Some(present) if !is_ours(&present) => {
            return Err(Error::new(
                Code::ConfigInvalid,
                format!("{} is your own command and was not changed", path.display()),
            )
            .hint("Rename it; `/tdd` is the command that confirms a phase."));
        }
        Some(_) => Action::Updated,
        None => Action::Created,
    };
    if action != Action::Unchanged && !dry_run {
        write_atomically(path, COMMAND)?;
    }
    Ok(file_change(path, action, "the command /tdd"))
}

fn remove_hooks(path: &Path, dry_run: bool) -> Result<FileChange, Error> {
    let what = "the hooks of the TDD phases";
    let action = match without_hooks(path, read(path)?.as_deref())? {
        Left::Unchanged => Action::Unchanged,
        Left::Nothing => {
            if !dry_run {
                remove(path)?;
            }
            Action::Removed
        }
        Left::Text(text) => {
            if !dry_run {
                write_atomically(path, &text)?;
            }
            Action::Updated
        }
    };
    Ok(file_change(path, action, what))
}

fn remove_command(path: &Path, dry_run: bool) -> Result<FileChange, Error> {
    let what = "the command /tdd";
    if !read(path)?.is_some_and(|present| is_ours(&present)) {
        return Ok(file_change(path, Action::Unchanged, what));
    }
    if !dry_run {
        remove(path)?;
    }
    Ok(file_change(path, Action::Removed, what))
}

/// Removes a file, and the folders that become empty.
fn remove(path: &Path) -> Result<(), Error> {
    std::fs::remove_file(path).map_err(|error| {
        Error::new(
            Code::Internal,
            format!("cannot remove {}: {error}", path.display()),
        )
    })?;
    for folder in path
        .ancestors()
        .skip(1)
        .take_while(|folder| folder.ends_with(".claude") || folder.ends_with(".claude/commands"))
    {
        if std::fs::remove_dir(folder).is_err() {
            break;
        }
    }
    Ok(())
}

fn is_ours(text: &str) -> bool {
    text.contains("TDD phases of claude-codex")
}

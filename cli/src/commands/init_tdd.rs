//! `claude-codex init --tdd`

use std::path::Path;

use shared::config::Environment;
use shared::error::{Code, Error};
use shared::git::Repository;

use super::init::{Action, Outcome, read};
use super::tdd_settings::{Left, with_hooks, without_hooks};
use crate::file::{inside, write_whole};

/// What `/tdd` means in Claude Code.
const COMMAND: &str = include_str!("tdd_command.md");
const SETTINGS_FILE: &str = ".claude/settings.json";
const COMMAND_FILE: &str = ".claude/commands/tdd.md";

/// Installs hooks and command in the worktree at hand, or takes them out.
pub(super) fn init_tdd(
    environment: &Environment,
    repository: &Repository,
    remove: bool,
    dry_run: bool,
) -> Result<[Outcome; 2], Error> {
    let root = repository.worktree().unwrap_or_else(|| repository.root());
    let (settings, command) = (inside(root, SETTINGS_FILE)?, inside(root, COMMAND_FILE)?);
    if remove {
        Ok([
            remove_hooks(&settings, dry_run)?,
            remove_command(&command, dry_run)?,
        ])
    } else {
        let program = program(environment)?;
        // Before anything is written: both or neither.
        add_command(&command, true)?;
        Ok([
            add_hooks(&settings, &program, dry_run)?,
            add_command(&command, dry_run)?,
        ])
    }
}

/// Returns how settings name this program: by its name alone if that finds it, so that others can share them.
fn program(environment: &Environment) -> Result<String, Error> {
    let own = environment.own_program("claude-codex").ok_or_else(|| {
        Error::new(Code::ServerMissing, "`claude-codex` does not find itself")
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

fn outcome(path: &Path, action: Action, what: &str) -> Outcome {
    Outcome {
        path: path.to_string_lossy().into_owned(),
        action,
        what: what.to_owned(),
    }
}

fn add_hooks(path: &Path, program: &str, dry_run: bool) -> Result<Outcome, Error> {
    let what = "the hooks of the TDD phases";
    let present = read(path)?;
    let Some(text) = with_hooks(path, present.as_deref(), program)? else {
        return Ok(outcome(path, Action::Unchanged, what));
    };
    if !dry_run {
        write_whole(path, &text)?;
    }
    let action = if present.is_some() {
        Action::Updated
    } else {
        Action::Created
    };
    Ok(outcome(path, action, what))
}

fn add_command(path: &Path, dry_run: bool) -> Result<Outcome, Error> {
    let action = match read(path)? {
        Some(present) if present == COMMAND => Action::Unchanged,
        // A command of the user's own with this name stays theirs.
        Some(present) if !is_ours(&present) => {
            return Err(Error::new(
                Code::ConfigInvalid,
                format!(
                    "{} is a command of your own and was left as it is",
                    path.display()
                ),
            )
            .hint("Give it another name; /tdd is what confirms a phase."));
        }
        Some(_) => Action::Updated,
        None => Action::Created,
    };
    if action != Action::Unchanged && !dry_run {
        write_whole(path, COMMAND)?;
    }
    Ok(outcome(path, action, "the command /tdd"))
}

fn remove_hooks(path: &Path, dry_run: bool) -> Result<Outcome, Error> {
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
                write_whole(path, &text)?;
            }
            Action::Updated
        }
    };
    Ok(outcome(path, action, what))
}

fn remove_command(path: &Path, dry_run: bool) -> Result<Outcome, Error> {
    let what = "the command /tdd";
    if !read(path)?.is_some_and(|present| is_ours(&present)) {
        return Ok(outcome(path, Action::Unchanged, what));
    }
    if !dry_run {
        remove(path)?;
    }
    Ok(outcome(path, Action::Removed, what))
}

/// Removes a file, and the folders that held nothing else.
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

//! `PreToolUse` guard: allows or denies a tool call by path, profile and phase.

use std::path::Path;

use super::guarded_files::is_guarded;
use super::resolve_path::{phase_around, resolve};
use super::{Phases, edit, messages, shell_guard};
use shared::agent::ToolCall;
use shared::error::Error;
use shared::model::{FileKind, Ruling, ToolKind};

/// Returns why a tool call is denied; `None` allows it. Decides by names and never walks a tree.
pub fn guard(
    phases: &Phases,
    session: &str,
    directory: &Path,
    call: &ToolCall,
) -> Result<Option<String>, Error> {
    let Ok(tool) = call.tool_name.parse::<ToolKind>() else {
        return Ok(None);
    };
    let rows = phases.active(session)?;
    let Some(latest) = rows.first() else {
        return Ok(None);
    };
    if tool == ToolKind::Bash {
        let text = call.tool_input["command"].as_str().unwrap_or_default();
        let database = phases.environment.database()?;
        if let Some(why) = shell_guard::refusal(text, &phases.state_dir, &database) {
            return Ok(Some(messages::protected(latest.phase, "this command", why)));
        }
        phases
            .store
            .write_now(|w| w.set_phase_command(session, true))?;
        return Ok(None);
    }
    let Some(named) = edit::target(tool, &call.tool_input) else {
        return Ok(None);
    };
    let path = resolve(directory, &named);
    if is_guarded(phases, &rows, &path) {
        let why = "the phases depend on it";
        let name = path.to_string_lossy();
        return Ok(Some(messages::protected(latest.phase, &name, why)));
    }
    let Some((row, worktree)) = phase_around(&rows, &path) else {
        return Ok(None);
    };
    let Some(profile) = phases.profile(&worktree, &path)? else {
        return Ok(None);
    };
    let kinds = edit::touched(&profile, row.phase, tool, &path, &call.tool_input);
    let denied = kinds
        .into_iter()
        .find(|kind| row.phase.ruling(tool, *kind) == Ruling::Denied);
    Ok(denied.map(|kind: FileKind| {
        let shown = path.strip_prefix(&worktree).unwrap_or(&path);
        messages::denied(row, kind, shown)
    }))
}

/// Records that the session's shell command has ended.
pub fn command_ended(phases: &Phases, session: &str) -> Result<(), Error> {
    if phases.active(session)?.is_empty() {
        return Ok(());
    }
    phases
        .store
        .write_now(|w| w.set_phase_command(session, false))?;
    Ok(())
}

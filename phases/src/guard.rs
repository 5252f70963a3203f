//! `PreToolUse` guard: allows or denies a tool call by path, profile and phase.

use std::path::{Path, PathBuf};

use super::guarded_files::is_guarded;
use super::resolve_path::{phase_around, resolve};
use super::{Phases, edit, messages, prompt_sources, shell_guard};
use serde_json::Value;
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
    let rows = phases.active(session)?;
    let Some(latest) = rows.first() else {
        return Ok(None);
    };
    if let Some(why) = prompt_sources::refusal(&call.tool_name, &call.tool_input) {
        return Ok(Some(messages::protected(
            latest.phase,
            &call.tool_name,
            why,
        )));
    }
    if prompt_sources::runs_programs(&call.tool_name) {
        if let Some(why) = program_refusal(phases, call)? {
            return Ok(Some(messages::protected(latest.phase, "this command", why)));
        }
        phases
            .store
            .write_now(|w| w.set_phase_command(session, true))?;
        return Ok(None);
    }
    let Ok(tool) = call.tool_name.parse::<ToolKind>() else {
        return Ok(None);
    };
    let Some(named) = edit::target(tool, &call.tool_input) else {
        return Ok(None);
    };
    let path = resolve(directory, &named);
    if is_guarded(phases, &rows, &path) {
        let why = "the phases depend on it";
        let name = path.to_string_lossy();
        return Ok(Some(messages::protected(latest.phase, &name, why)));
    }
    // A link of the worktree that leads out of it is judged by its own name.
    let around = |path: PathBuf| {
        let (row, worktree) = phase_around(&rows, &path)?;
        Some((row, worktree, path))
    };
    let by_own_name = || {
        let parent = resolve(directory, named.parent()?);
        around(parent.join(named.file_name()?))
    };
    let Some((row, worktree, path)) = around(path).or_else(by_own_name) else {
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

/// Returns why a tool that runs programs is refused. What an MCP server does with its input is unknown, so only its
/// effects count.
fn program_refusal(phases: &Phases, call: &ToolCall) -> Result<Option<&'static str>, Error> {
    if call.tool_name.starts_with("mcp__") {
        return Ok(None);
    }
    let mut texts = Vec::new();
    match &call.tool_input["command"] {
        Value::String(command) => texts.push(command.as_str()),
        _ => prompt_sources::strings(&call.tool_input, &mut texts),
    }
    let database = phases.environment.database()?;
    Ok(shell_guard::refusal(
        &texts.join("\n"),
        &phases.state_dir,
        &database,
    ))
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

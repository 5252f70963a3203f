//! `PreToolUse` guard: allows or denies a tool call by path, profile and phase.

use std::path::{Path, PathBuf};

use super::guarded_files::is_guarded;
use super::human_check::note_command;
use super::resolve_path::{phase_around, resolve};
use super::{Phases, edit, messages, prompt_sources, shell_guard};
use serde_json::Value;
use shared::agent::ToolCall;
use shared::error::Error;
use shared::model::{FileKind, Ruling, ToolKind};
use shared::store::PhaseRow;

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
        note_command(phases, &rows);
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
    let Some((row, worktree, path)) = judged_path(&rows, directory, &named, path) else {
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

/// Returns the path to judge an edit by, with its phase and worktree: where it leads, or, for a link of the worktree that
/// leads out of it, its own name.
fn judged_path<'r>(
    rows: &'r [PhaseRow],
    directory: &Path,
    named: &Path,
    path: PathBuf,
) -> Option<(&'r PhaseRow, PathBuf, PathBuf)> {
    if let Some((row, worktree)) = phase_around(rows, &path) {
        return Some((row, worktree, path));
    }
    let own = resolve(directory, named.parent()?).join(named.file_name()?);
    let (row, worktree) = phase_around(rows, &own)?;
    Some((row, worktree, own))
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
    let rows = phases.active(session)?;
    if rows.is_empty() {
        return Ok(());
    }
    note_command(phases, &rows);
    phases
        .store
        .write_now(|w| w.set_phase_command(session, false))?;
    Ok(())
}

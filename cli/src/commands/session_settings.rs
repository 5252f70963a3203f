//! `claude-codex init --hooks`: what sessions that a person starts need in the repository's Claude Code settings.
//!
//! The Stop hook hands over feedback at the end of a turn, also outside tmux; the permission rules let the agent call our tools
//! without a question.

use std::path::Path;

use serde_json::{Value, json};
use shared::agent::HookName;
use shared::error::Error;

use super::file_change::{FileChange, Left, change_file, read};
use super::mcp_json::{indentation, printed, unusable};
use super::phases_settings::{events_of, groups_of};
use crate::atomic_write::inside;

const FILE: &str = ".claude/settings.json";
const WHAT: &str = "the Stop hook and the permission rules";
const RULES: [&str; 2] = ["mcp__codex-coding__*", "mcp__codex-planning__*"];
const STOP_TIMEOUT_SECONDS: u32 = 10;

pub(super) fn add_hooks(root: &Path, program: &str, dry_run: bool) -> Result<FileChange, Error> {
    let path = inside(root, FILE)?;
    let present = read(&path)?;
    let before = parsed(&path, present.as_deref())?;
    let mut after = before.clone();
    let events = events_of(&path, &mut after)?;
    let groups = groups_of(&path, events, HookName::Stop.as_str())?;
    if !groups.iter().any(is_ours) {
        let command = format!("{program} hook Stop");
        let hook =
            json!({ "type": "command", "command": command, "timeout": STOP_TIMEOUT_SECONDS });
        groups.push(json!({ "hooks": [hook] }));
    }
    let allow = &mut after["permissions"]["allow"];
    if allow.is_null() {
        *allow = json!([]);
    }
    let allow = allow.as_array_mut().ok_or_else(|| {
        unusable(
            &path,
            "has a value at `permissions.allow` that is not a list",
        )
    })?;
    for rule in RULES.map(Value::from) {
        if !allow.contains(&rule) {
            allow.push(rule);
        }
    }
    let left = if after == before {
        Left::Unchanged
    } else {
        let indent = indentation(present.as_deref().unwrap_or_default());
        Left::Text(printed(&after, &indent)?)
    };
    change_file(&path, left, WHAT, dry_run)
}

pub(super) fn remove_hooks(root: &Path, dry_run: bool) -> Result<FileChange, Error> {
    let path = inside(root, FILE)?;
    let present = read(&path)?;
    let before = parsed(&path, present.as_deref())?;
    let mut after = before.clone();
    remove_from(&mut after, &["hooks", HookName::Stop.as_str()], is_ours);
    let is_rule = |value: &Value| RULES.iter().any(|rule| value == rule);
    remove_from(&mut after, &["permissions", "allow"], is_rule);
    let left = if after == before {
        Left::Unchanged
    } else if after == json!({}) {
        Left::Nothing
    } else {
        let indent = indentation(present.as_deref().unwrap_or_default());
        Left::Text(printed(&after, &indent)?)
    };
    change_file(&path, left, WHAT, dry_run)
}

fn parsed(path: &Path, present: Option<&str>) -> Result<Value, Error> {
    let text = present.map(str::trim).filter(|text| !text.is_empty());
    let value = text.map_or_else(|| Ok(json!({})), serde_json::from_str);
    let value = value.map_err(|error| unusable(path, &format!("is not valid JSON ({error})")))?;
    match value["permissions"] {
        Value::Null | Value::Object(_) => Ok(value),
        _ => Err(unusable(
            path,
            "has a value at `permissions` that is not an object",
        )),
    }
}

/// Removes what is ours from a list, and the list and its object if that leaves them empty.
fn remove_from(settings: &mut Value, at: &[&str; 2], is_ours: impl Fn(&Value) -> bool) {
    let Some(outer) = settings.get_mut(at[0]).and_then(Value::as_object_mut) else {
        return;
    };
    let Some(list) = outer.get_mut(at[1]).and_then(Value::as_array_mut) else {
        return;
    };
    let before = list.len();
    list.retain(|value| !is_ours(value));
    if list.len() == before || !list.is_empty() {
        return;
    }
    outer.shift_remove(at[1]);
    if outer.is_empty()
        && let Some(root) = settings.as_object_mut()
    {
        root.shift_remove(at[0]);
    }
}

/// Tells whether a group has our hook and no other.
fn is_ours(group: &Value) -> bool {
    let hooks = group["hooks"].as_array();
    let command = hooks.and_then(|hooks| match hooks.as_slice() {
        [hook] => hook["command"].as_str(),
        _ => None,
    });
    command
        .is_some_and(|command| command.contains("claude-codex") && command.ends_with(" hook Stop"))
}

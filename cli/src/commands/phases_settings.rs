//! The hooks of TDD phases in a repository's Claude Code settings: added and removed.

use std::path::Path;

use serde_json::{Map, Value, json};
use shared::agent::HookName;
use shared::error::Error;

use super::file_change::Left;
use super::mcp_json::{indentation, printed, unusable};

/// The guard sees every tool: what it doesn't know may put words into the prompt.
const ALL: &str = "*";
const EDITS_AND_PROGRAMS: &str =
    "Write|Edit|MultiEdit|NotebookEdit|Bash|PowerShell|REPL|Monitor|mcp__.*";
const PROGRAMS: &str = "Bash|PowerShell|REPL|Monitor|mcp__.*";
/// Around the command of the guard: Claude Code lets a tool through if a hook dies (128 and more), but not if it ends with
/// 2. Only edits are refused then, and only while a snapshot of some phase exists.
const BEFORE_GUARD: &str = r#"i=$(cat); printf %s "$i" | "#;
const AFTER_GUARD: &str = r#" || if [ $? -ge 128 ]; then case $i in *'"tool_name":"Write"'*|*'"tool_name":"Edit"'*|*'"tool_name":"MultiEdit"'*|*'"tool_name":"NotebookEdit"'*) set -- "${CODEX_STATE_DIR:-${XDG_STATE_HOME:-$HOME/.local/state}/claude-codex}"/phases/p-*; if [ -e "$1" ]; then echo 'TDD: the guard of the phases (claude-codex) died before it could judge this edit, so it is refused. claude-codex phase stop in a shell ends the phases; claude-codex doctor may tell why it dies.' >&2; exit 2; fi;; esac; fi"#;

/// Our hooks: event, tools, and the timeout of Claude Code in seconds.
const HOOKS: [(HookName, Option<&str>, u32); 8] = [
    (HookName::SessionStart, None, 10),
    // `/tdd start` takes a snapshot, possibly of a large worktree.
    (HookName::UserPromptSubmit, None, 180),
    (HookName::PreToolUse, Some(ALL), 10),
    // Compiles and tests, with lower limits of our own.
    (HookName::PostToolUse, Some(EDITS_AND_PROGRAMS), 600),
    (HookName::PostToolUseFailure, Some(PROGRAMS), 180),
    (HookName::ConfigChange, None, 10),
    (HookName::Stop, None, 1_800),
    (HookName::SessionEnd, None, 10),
];

/// Returns the settings with our hooks; `None` if they are complete already.
pub(super) fn with_hooks(
    path: &Path,
    present: Option<&str>,
    program: &str,
) -> Result<Option<String>, Error> {
    let before = read(path, present)?;
    let mut after = before.clone().unwrap_or_else(|| json!({}));
    let events = events_of(path, &mut after)?;
    for (name, matcher, timeout) in HOOKS {
        let mut group = Map::new();
        if let Some(matcher) = matcher {
            group.insert("matcher".to_owned(), matcher.into());
        }
        let mut command = format!("{program} hook {} --tdd", name.as_str());
        if name == HookName::PreToolUse {
            command = format!("{BEFORE_GUARD}{command}{AFTER_GUARD}");
        }
        let hook = json!({ "type": "command", "command": command, "timeout": timeout });
        group.insert("hooks".to_owned(), json!([hook]));
        let group = Value::Object(group);
        let groups = groups_of(path, events, name.as_str())?;
        if groups.contains(&group) {
            continue;
        }
        // Replaces a hook of an older release or of another path.
        remove_ours(groups);
        groups.push(group);
    }
    if before.as_ref() == Some(&after) {
        return Ok(None);
    }
    printed(&after, &indentation(present.unwrap_or_default())).map(Some)
}

/// Removes our hooks, and the lists and objects that become empty.
pub(super) fn without_hooks(path: &Path, present: Option<&str>) -> Result<Left, Error> {
    let Some(before) = read(path, present)? else {
        return Ok(Left::Unchanged);
    };
    let mut after = before.clone();
    if let Some(events) = after.get_mut("hooks").and_then(Value::as_object_mut) {
        let mut emptied = Vec::new();
        for (name, groups) in events.iter_mut() {
            if let Some(groups) = groups.as_array_mut()
                && remove_ours(groups)
                && groups.is_empty()
            {
                emptied.push(name.clone());
            }
        }
        for name in emptied {
            events.shift_remove(&name);
        }
    }
    if after == before {
        return Ok(Left::Unchanged);
    }
    if let Some(root) = after.as_object_mut() {
        if root.get("hooks").is_some_and(|hooks| hooks == &json!({})) {
            root.shift_remove("hooks");
        }
        if root.is_empty() {
            return Ok(Left::Nothing);
        }
    }
    printed(&after, &indentation(present.unwrap_or_default())).map(Left::Text)
}

pub(super) fn read(path: &Path, present: Option<&str>) -> Result<Option<Value>, Error> {
    match present.map(str::trim) {
        None | Some("") => Ok(None),
        Some(text) => serde_json::from_str(text)
            .map(Some)
            .map_err(|error| unusable(path, &format!("is not valid JSON ({error})"))),
    }
}

pub(super) fn events_of<'v>(
    path: &Path,
    settings: &'v mut Value,
) -> Result<&'v mut Map<String, Value>, Error> {
    let Some(root) = settings.as_object_mut() else {
        return Err(unusable(path, "is not a JSON object"));
    };
    root.entry("hooks")
        .or_insert_with(|| json!({}))
        .as_object_mut()
        .ok_or_else(|| unusable(path, "has a value at `hooks` that is not an object"))
}

pub(super) fn groups_of<'v>(
    path: &Path,
    events: &'v mut Map<String, Value>,
    name: &str,
) -> Result<&'v mut Vec<Value>, Error> {
    events
        .entry(name)
        .or_insert_with(|| json!([]))
        .as_array_mut()
        .ok_or_else(|| {
            unusable(
                path,
                &format!("has a value at `hooks.{name}` that is not a list"),
            )
        })
}

/// Removes our hooks from an event's groups, and groups that become empty. Returns whether there were any.
fn remove_ours(groups: &mut Vec<Value>) -> bool {
    let mut found = false;
    groups.retain_mut(|group| {
        let Some(hooks) = group.get_mut("hooks").and_then(Value::as_array_mut) else {
            return true;
        };
        let before = hooks.len();
        hooks.retain(|hook| !is_ours(hook));
        let taken = hooks.len() < before;
        found |= taken;
        !(taken && hooks.is_empty())
    });
    found
}

fn is_ours(hook: &Value) -> bool {
    hook["command"].as_str().is_some_and(|command| {
        command.contains("claude-codex") && command.contains(" hook ") && command.contains(" --tdd")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const THEIRS: &str = "{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(ls:*)\"\n    ]\n  },\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n            \"command\": \"claude-codex hook Stop\"\n          }\n        ]\n      }\n    ],\n    \"PreToolUse\": [\n      {\n        \"matcher\": \"Bash\",\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n            \"command\": \"./check.sh\"\n          }\n        ]\n      }\n    ],\n    \"Notification\": []\n  },\n  \"model\": \"opus\"\n}\n";

    fn path() -> &'static Path {
        Path::new("/r/.claude/settings.json")
    }

    #[test]
    fn what_is_put_in_comes_out_again_and_nothing_else() {
        let with = with_hooks(path(), Some(THEIRS), "claude-codex")
            .unwrap()
            .unwrap();
        let value: Value = serde_json::from_str(&with).unwrap();
        assert_eq!(value["hooks"]["Stop"].as_array().unwrap().len(), 2);
        assert_eq!(
            value["hooks"]["PreToolUse"][0]["hooks"][0]["command"],
            "./check.sh"
        );
        assert_eq!(value["hooks"]["PreToolUse"][1]["matcher"], ALL);
        assert_eq!(value["model"], "opus");
        assert_eq!(
            with_hooks(path(), Some(&with), "claude-codex").unwrap(),
            None
        );
        let left = without_hooks(path(), Some(&with)).unwrap();
        assert_eq!(left, Left::Text(THEIRS.to_owned()));
        assert_eq!(
            without_hooks(path(), Some(THEIRS)).unwrap(),
            Left::Unchanged
        );
    }

    #[test]
    fn a_file_that_we_made_goes_as_a_whole() {
        let with = with_hooks(path(), None, "'/opt/my programs/claude-codex'")
            .unwrap()
            .unwrap();
        assert_eq!(without_hooks(path(), Some(&with)).unwrap(), Left::Nothing);
        assert_eq!(without_hooks(path(), None).unwrap(), Left::Unchanged);
    }

    #[test]
    fn hooks_of_another_place_are_replaced() {
        let old = with_hooks(path(), Some(THEIRS), "/old/claude-codex")
            .unwrap()
            .unwrap();
        let new = with_hooks(path(), Some(&old), "claude-codex")
            .unwrap()
            .unwrap();
        assert!(!new.contains("/old/"), "{new}");
        assert_eq!(new.matches("--tdd").count(), HOOKS.len());
    }

    /// An older release had another command around the guard's.
    #[test]
    fn hooks_of_an_older_release_are_replaced_and_removed() {
        let old = r#"{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"claude-codex hook PreToolUse --tdd || [ $? -lt 128 ] || exit 2","timeout":10}]}]}}"#;
        let new = with_hooks(path(), Some(old), "claude-codex")
            .unwrap()
            .unwrap();
        let value: Value = serde_json::from_str(&new).unwrap();
        assert_eq!(value["hooks"]["PreToolUse"].as_array().unwrap().len(), 1);
        assert!(!new.contains("-lt 128"), "{new}");
        assert_eq!(without_hooks(path(), Some(old)).unwrap(), Left::Nothing);
    }

    #[test]
    fn the_plugin_has_the_same_hooks() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../plugin/hooks/hooks.json");
        let plugin: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let program = "sh \"${CLAUDE_PLUGIN_ROOT}/hooks/run.sh\"";
        let ours = with_hooks(path(), None, "claude-codex").unwrap().unwrap();
        let ours: Value =
            serde_json::from_str(&ours.replace("claude-codex hook", "PROGRAM")).unwrap();
        for (event, groups) in ours["hooks"].as_object().unwrap() {
            let mut wanted = groups[0].clone();
            let command = wanted["hooks"][0]["command"].as_str().unwrap();
            wanted["hooks"][0]["command"] = command.replace("PROGRAM", program).into();
            let groups = plugin["hooks"][event].as_array().unwrap();
            assert!(groups.contains(&wanted), "{event}: {wanted}");
        }
    }

    #[test]
    fn what_is_broken_is_left_alone() {
        for present in ["{", "[]", "{\"hooks\": []}", "{\"hooks\": {\"Stop\": 1}}"] {
            assert!(
                with_hooks(path(), Some(present), "claude-codex").is_err(),
                "{present}"
            );
        }
        assert!(without_hooks(path(), Some("{")).is_err());
    }
}

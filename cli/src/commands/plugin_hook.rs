//! Hooks of the Claude Code plugin: they stand back where the same hook comes from a settings file or a launch.

use std::path::PathBuf;

use serde_json::Value;
use shared::config::Environment;
use shared::file;

/// What the plugin adds to the command of each of its hooks.
pub(super) const FLAG: &str = "--plugin";

/// Larger than any settings file.
const MAX_SETTINGS_BYTES: u64 = 1 << 20;

/// Tells whether a hook that the plugin runs is run by somebody else, too: Claude Code merges hooks, and feedback must be handed over once.
pub(super) fn runs_elsewhere(environment: &Environment, event: &str, is_tdd: bool) -> bool {
    let is_launched = environment.instance_id().ok().flatten().is_some();
    if is_launched && !is_tdd {
        return true;
    }
    let ending = format!("hook {event}{}", if is_tdd { " --tdd" } else { "" });
    settings_files(environment)
        .iter()
        .filter_map(|path| file::read(path, MAX_SETTINGS_BYTES).ok())
        .filter_map(|bytes| serde_json::from_slice::<Value>(&bytes).ok())
        .any(|settings| has_command(&settings["hooks"][event], &ending))
}

fn settings_files(environment: &Environment) -> Vec<PathBuf> {
    let user = environment
        .claude_config_dir()
        .or_else(|| Some(environment.home().ok()?.join(".claude")));
    let project = environment.get("CLAUDE_PROJECT_DIR").map(PathBuf::from);
    let project = project.map(|folder| folder.join(".claude"));
    let shared = user.iter().chain(&project);
    let own = project.iter();
    shared
        .map(|folder| folder.join("settings.json"))
        .chain(own.map(|folder| folder.join("settings.local.json")))
        .collect()
}

fn has_command(groups: &Value, ending: &str) -> bool {
    let groups = groups.as_array().into_iter().flatten();
    let hooks = groups.filter_map(|group| group["hooks"].as_array());
    hooks
        .flatten()
        .filter_map(|hook| hook["command"].as_str())
        .any(|command| command.contains("claude-codex") && command.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn environment(folder: &std::path::Path, more: &[(&str, &str)]) -> Environment {
        let home = ("HOME", folder.to_str().unwrap());
        let variables = more.iter().chain([&home]);
        let variables = variables.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Environment::new(variables.collect(), folder.to_owned())
    }

    #[test]
    fn a_hook_of_the_settings_or_of_a_launch_goes_first() {
        let folder = tempfile::tempdir().unwrap();
        let here = environment(folder.path(), &[]);
        assert!(!runs_elsewhere(&here, "Stop", false));
        let launched = environment(folder.path(), &[("CODEX_INSTANCE_ID", "work-1-a1")]);
        assert!(runs_elsewhere(&launched, "Stop", false));
        assert!(!runs_elsewhere(&launched, "Stop", true));

        std::fs::create_dir(folder.path().join(".claude")).unwrap();
        let hook = json!({ "type": "command", "command": "'/opt/a b/claude-codex' hook Stop" });
        let settings = json!({ "hooks": { "Stop": [{ "hooks": [hook] }] } });
        let file = folder.path().join(".claude/settings.json");
        std::fs::write(file, settings.to_string()).unwrap();
        assert!(runs_elsewhere(&here, "Stop", false));
        assert!(!runs_elsewhere(&here, "Stop", true));
        assert!(!runs_elsewhere(&here, "SessionStart", false));
    }
}

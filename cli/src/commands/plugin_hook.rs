//! Hooks of the Claude Code plugin: they stand back where the same hook comes from a settings file or a launch.

use std::path::PathBuf;

use phases::Phases;
use serde_json::Value;
use shared::config::Environment;
use shared::error::Error;
use shared::file;

/// What the plugin adds to the command of each of its hooks.
pub(super) const FLAG: &str = "--plugin";

/// Larger than any settings file.
const MAX_SETTINGS_BYTES: u64 = 1 << 20;

/// Tells whether a hook that the plugin runs is run by somebody else, too: Claude Code merges hooks, and feedback must be handed over once.
pub(super) fn runs_elsewhere(environment: &Environment, event: &str) -> bool {
    let is_launched = environment.instance_id().ok().flatten().is_some();
    is_launched || has_hook(&settings(environment), event, "")
}

/// Tells whether a hook of the TDD phases is run by a settings file, too. While a session has a phase, the files count as
/// they were when it began: else an agent could write one, and the plugin's guard would leave.
pub(super) fn guard_runs_elsewhere(
    environment: &Environment,
    phases: &Phases,
    session: &str,
    event: &str,
) -> Result<bool, Error> {
    let settings =
        phases::settings_at_start(phases, session)?.unwrap_or_else(|| settings(environment));
    Ok(has_hook(&settings, event, " --tdd"))
}

fn settings(environment: &Environment) -> Vec<Value> {
    settings_files(environment)
        .iter()
        .filter_map(|path| file::read(path, MAX_SETTINGS_BYTES).ok())
        .filter_map(|bytes| serde_json::from_slice(&bytes).ok())
        .collect()
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

fn has_hook(settings: &[Value], event: &str, flag: &str) -> bool {
    let call = format!(" hook {event}{flag}");
    // The guard's command goes on behind the call, in case it dies.
    let is_ours = |command: &str| {
        command.contains("claude-codex")
            && command
                .split_once(&call)
                .is_some_and(|(_, rest)| rest.is_empty() || rest.starts_with(" ||"))
    };
    let groups = settings
        .iter()
        .filter_map(|settings| settings["hooks"][event].as_array());
    let hooks = groups
        .flatten()
        .filter_map(|group| group["hooks"].as_array());
    hooks
        .flatten()
        .filter_map(|hook| hook["command"].as_str())
        .any(is_ours)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::phases_settings::with_hooks;
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
        assert!(!runs_elsewhere(&here, "Stop"));
        let launched = environment(folder.path(), &[("CODEX_INSTANCE_ID", "work-1-a1")]);
        assert!(runs_elsewhere(&launched, "Stop"));

        std::fs::create_dir(folder.path().join(".claude")).unwrap();
        let hook = json!({ "type": "command", "command": "'/opt/a b/claude-codex' hook Stop" });
        let settings = json!({ "hooks": { "Stop": [{ "hooks": [hook] }] } });
        let file = folder.path().join(".claude/settings.json");
        std::fs::write(file, settings.to_string()).unwrap();
        assert!(runs_elsewhere(&here, "Stop"));
        assert!(!runs_elsewhere(&here, "SessionStart"));
        assert!(!has_hook(&super::settings(&here), "Stop", " --tdd"));
    }

    #[test]
    fn the_hooks_that_init_writes_are_known() {
        let with = with_hooks(std::path::Path::new("settings.json"), None, "claude-codex");
        let settings: Value = serde_json::from_str(&with.unwrap().unwrap()).unwrap();
        for (event, _) in settings["hooks"].as_object().unwrap() {
            let settings = std::slice::from_ref(&settings);
            assert!(has_hook(settings, event, " --tdd"), "{event}");
            assert!(!has_hook(settings, event, ""), "{event}");
        }
    }
}

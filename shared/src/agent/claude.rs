//! Claude Code's command line, settings and MCP configuration for one agent.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::environment::Environment;
use super::error::AgentError;
use super::hooks::HookName;
use super::launch_spec::{ClaudeOptions, LaunchSpec, Session};
use super::permissions::Rules;
use super::prompt;
use crate::file;
use crate::model::SessionMode;

/// The longest first message that goes into the argument list. The kernel takes 128 KiB per argument
/// less one; the rest is left for what a launcher may add.
pub const MAX_PROMPT_ARGUMENT: usize = 120_000;

/// Seconds after which Claude Code gives up on a hook of ours. They answer in milliseconds.
const HOOK_TIMEOUT: u32 = 15;

/// Our own Claude Code plugin, as `claude plugin install` names it.
const PLUGIN: &str = "codex@codex";

/// Where an agent's files are.
pub(super) struct Paths<'a> {
    pub prompt: &'a str,
    pub system: &'a str,
    pub mcp: &'a str,
    pub settings: &'a str,
}

/// Returns the command line. No secret and no long text is in it.
pub(super) fn argv(
    spec: &LaunchSpec<'_>,
    options: &ClaudeOptions<'_>,
    paths: &Paths<'_>,
) -> Result<Vec<String>, AgentError> {
    let (flag, id) = match spec.session {
        Session::New(id) => ("--session-id", id),
        Session::Resume(id) => ("--resume", id),
    };
    let mut argv = vec![
        utf8(options.program)?.to_owned(),
        flag.to_owned(),
        id.to_string(),
    ];
    let mut add = |words: &[&str]| argv.extend(words.iter().map(|word| (*word).to_owned()));
    add(&["--mcp-config", paths.mcp, "--settings", paths.settings]);
    add(&["--append-system-prompt-file", paths.system]);
    if options.strict_mcp || project_servers(spec.worktree).is_none() {
        add(&["--strict-mcp-config"]);
    }
    if let Some(model) = options.model {
        add(&["--model", model]);
    }
    if spec.session_mode == SessionMode::Headless {
        // The stream is only complete with --verbose, and refused without.
        add(&["-p", "--output-format", "stream-json", "--verbose"]);
    } else if !spec.task.is_empty() {
        // After `--` a prompt is never read as a flag.
        add(&["--", &first_argument(spec, paths.prompt)]);
    }
    Ok(argv)
}

fn first_argument(spec: &LaunchSpec<'_>, prompt_file: &str) -> String {
    let message = prompt::first_message(spec.role, spec.instance, spec.task);
    if message.len() <= MAX_PROMPT_ARGUMENT {
        return message;
    }
    let pointer =
        format!("It is long and stands in the file {prompt_file}: read all of it, then begin.");
    prompt::first_message(spec.role, spec.instance, &pointer)
}

/// Variables that only Claude Code needs.
pub(super) fn variables() -> Environment {
    // `@/some/file` in a message would put that file before the model without asking, and the
    // messages have text from issues and other agents in them.
    Environment::from([(
        "CLAUDE_CODE_DISABLE_FILE_MENTIONS".to_owned(),
        "1".to_owned(),
    )])
}

/// Returns the MCP configuration with the agent's own server.
pub(super) fn mcp_config(spec: &LaunchSpec<'_>) -> Result<Value, AgentError> {
    let server = json!({
        "type": "stdio",
        "command": absolute(spec.server)?,
        "args": [],
        "env": spec.server_environment,
    });
    Ok(json!({"mcpServers": {spec.role.registered_name(): server}}))
}

/// Returns the settings: hooks, permissions, and answers to questions that nobody would see.
pub(super) fn settings(
    spec: &LaunchSpec<'_>,
    options: &ClaudeOptions<'_>,
    rules: &Rules,
) -> Result<Value, AgentError> {
    let program = absolute(spec.hook_program)?;
    let mut hooks = Map::new();
    for hook in options.hooks {
        let command = hook_command(program, *hook)?;
        let entry =
            json!([{"hooks": [{"type": "command", "command": command, "timeout": HOOK_TIMEOUT}]}]);
        hooks.insert(hook.as_str().to_owned(), entry);
    }
    let mut settings = json!({
        "hooks": hooks,
        "permissions": rules,
        // A suggested next message in the input box looks like a draft.
        "promptSuggestionEnabled": false,
        // `←` in an empty box would move the conversation into a session that is not the agent's.
        "disableAgentView": true,
        // Its servers would offer the agent the tools of every role.
        "enabledPlugins": { PLUGIN: false },
    });
    // A repository's own MCP servers would be asked about before the first prompt.
    if options.project_servers {
        settings["enableAllProjectMcpServers"] = true.into();
    } else {
        let names = project_servers(spec.worktree).unwrap_or_default();
        settings["disabledMcpjsonServers"] = names.into();
    }
    if rules.default_mode == "bypassPermissions" {
        settings["skipDangerousModePermissionPrompt"] = true.into();
    }
    Ok(settings)
}

/// Claude Code gives hook commands to a shell, so the program's path is quoted for one.
fn hook_command(program: &str, hook: HookName) -> Result<String, AgentError> {
    let quoted = shlex::try_quote(program).map_err(|_| AgentError::CommandWords {
        command: program.to_owned(),
    })?;
    Ok(format!("{quoted} hook {}", hook.as_str()))
}

/// Returns the names of the servers in the repository's `.mcp.json`; `None` if it can't be understood.
///
/// Claude Code understands more than a strict reader: a byte order mark, broken UTF-8, half a surrogate pair, any
/// depth. Servers that can't be named can't be turned off one by one, and without a terminal it starts them unasked.
fn project_servers(worktree: &Path) -> Option<Vec<String>> {
    let Some(text) = file::read_inside(worktree, ".mcp.json").ok()? else {
        return Some(Vec::new());
    };
    let config: Value = serde_json::from_str(&text).ok()?;
    let servers = config["mcpServers"].as_object();
    Some(servers.map_or(Vec::new(), |servers| servers.keys().cloned().collect()))
}

pub(super) fn utf8(path: &Path) -> Result<&str, AgentError> {
    path.to_str().ok_or_else(|| AgentError::NotUtf8 {
        path: path.to_owned(),
    })
}

pub(super) fn absolute(path: &Path) -> Result<&str, AgentError> {
    if path.is_absolute() {
        utf8(path)
    } else {
        Err(AgentError::NotAbsolute {
            path: path.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_command_survives_a_shell() {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("it's a \"$HOME\" `x` program");
        std::fs::write(&program, "#!/bin/sh\necho \"$@\"\n").unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&program, mode).unwrap();
        let command = hook_command(program.to_str().unwrap(), HookName::Stop).unwrap();
        let output = std::process::Command::new("sh")
            .args(["-c", &command])
            .output()
            .unwrap();
        assert_eq!(output.stdout, b"hook Stop\n");
    }

    #[test]
    fn project_servers_are_named_or_all_left_out() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join(".mcp.json");
        assert_eq!(project_servers(directory.path()), Some(Vec::new()));
        let understood = br#"{"mcpServers":{"a":{},"b":{}}}"#;
        std::fs::write(&file, understood).unwrap();
        let names = vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(project_servers(directory.path()), Some(names));
        let deep = [
            b"{\"x\":".to_vec(),
            b"[".repeat(200),
            b"]".repeat(200),
            b"}".to_vec(),
        ];
        for text in [
            b"{".to_vec(),
            [b"\xef\xbb\xbf", understood.as_slice()].concat(),
            b"{\"x\":\"\xff\"}".to_vec(),
            br#"{"x":"\ud800"}"#.to_vec(),
            deep.concat(),
        ] {
            std::fs::write(&file, &text).unwrap();
            assert_eq!(project_servers(directory.path()), None, "{text:?}");
        }
    }
}

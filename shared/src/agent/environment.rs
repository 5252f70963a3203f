//! The environment of an agent: the user's own, without what would confuse a fresh session.

use std::collections::BTreeMap;

/// Variables by name.
pub type Environment = BTreeMap<String, String>;

/// The variable that marks every process of one launch, so that none of them outlives it.
pub const LAUNCH_ID: &str = "CODEX_LAUNCH_ID";

/// The variable of processes that outlive the agent they were started by: our helpers, our tmux server.
pub const DETACHED: &str = "CODEX_DETACHED";

/// What the launcher takes from the pane it runs in: the user's own terminal is another one.
pub const FROM_THE_PANE: [&str; 2] = ["TERM", LAUNCH_ID];

/// Claude Code variables that people set to reach their account, provider, proxy or certificate, or
/// to say how much it may do. All others with its prefix are marks of a running session
/// (`CLAUDECODE`, `CLAUDE_CODE_ENTRYPOINT`, `CLAUDE_CODE_SESSION_ID`, descriptors of open files…),
/// with which a nested start refuses or misbehaves.
const CLAUDE_KEPT: [&str; 22] = [
    "CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR",
    "CLAUDE_CODE_API_KEY_HELPER_TTL_MS",
    "CLAUDE_CODE_CERT_STORE",
    "CLAUDE_CODE_CLIENT_CERT",
    "CLAUDE_CODE_CLIENT_KEY",
    "CLAUDE_CODE_CLIENT_KEY_PASSPHRASE",
    "CLAUDE_CODE_EFFORT_LEVEL",
    "CLAUDE_CODE_ENABLE_TELEMETRY",
    "CLAUDE_CODE_HTTPS_PROXY",
    "CLAUDE_CODE_HTTP_PROXY",
    "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
    "CLAUDE_CODE_MAX_RETRIES",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_PROXY_RESOLVES_HOSTS",
    "CLAUDE_CODE_SUBAGENT_MODEL",
    "CLAUDE_CODE_TMPDIR",
    "CLAUDE_CODE_USE_ANTHROPIC_AWS",
    "CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_FOUNDRY",
    "CLAUDE_CODE_USE_MANTLE",
    "CLAUDE_CODE_USE_VERTEX",
];

/// The same for whole families: sign-in skipped because a gateway does it, features turned off.
const CLAUDE_KEPT_PREFIXES: [&str; 2] = ["CLAUDE_CODE_SKIP_", "CLAUDE_CODE_DISABLE_"];

/// State of the shell and the terminal in which the launch was typed.
const OF_THE_SHELL: [&str; 9] = [
    "COLUMNS", "LINES", "OLDPWD", "PWD", "SHLVL", "STY", "TERM", "WINDOWID", "_",
];

/// Git's own pointers to one repository (`git rev-parse --local-env-vars`): launched from inside a
/// git hook they would send the agent's git to the wrong place.
const OF_A_REPOSITORY: [&str; 12] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_WORK_TREE",
];

/// Returns the user's environment without foreign session state, with `own` on top.
///
/// `own` wins, and only through it does a `CODEX_*` variable get in: one that the user's shell has
/// may belong to another agent.
pub fn clean(user: &Environment, own: &Environment) -> Environment {
    let mut environment: Environment = user
        .iter()
        .filter(|(name, _)| is_kept(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    environment.extend(
        own.iter()
            .map(|(name, value)| (name.clone(), value.clone())),
    );
    // A NUL can't stand in an environment; such an entry would make the exec fail as a whole.
    environment.retain(|name, value| {
        !name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0')
    });
    environment
}

fn is_kept(name: &str) -> bool {
    if name.starts_with("CLAUDE") {
        return name == "CLAUDE_CONFIG_DIR"
            || CLAUDE_KEPT.contains(&name)
            || CLAUDE_KEPT_PREFIXES
                .iter()
                .any(|prefix| name.starts_with(prefix));
    }
    let foreign = ["CODEX_", "TMUX", "TERM_PROGRAM", "TERM_SESSION_ID"]
        .iter()
        .any(|prefix| name.starts_with(prefix));
    !foreign && !OF_THE_SHELL.contains(&name) && !OF_A_REPOSITORY.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Environment {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn session_marks_go_and_the_users_settings_stay() {
        let user = environment(&[
            ("PATH", "/bin"),
            ("HOME", "/h"),
            ("ANTHROPIC_BASE_URL", "u"),
            ("CLAUDE_CONFIG_DIR", "/c"),
            ("CLAUDE_CODE_USE_BEDROCK", "1"),
            ("CLAUDE_CODE_SKIP_BEDROCK_AUTH", "1"),
            ("CLAUDE_CODE_DISABLE_TERMINAL_TITLE", "1"),
            ("CLAUDECODE", "1"),
            ("CLAUDE_CODE_SESSION_ID", "x"),
            ("CLAUDE_CODE_ENTRYPOINT", "cli"),
            ("CODEX_INSTANCE_ID", "another"),
            ("CODEX_LOG", "debug"),
            ("TMUX", "/tmp/s,1,0"),
            ("TMUX_PANE", "%1"),
            ("TERM", "xterm"),
            ("TERM_PROGRAM", "vscode"),
            ("GIT_DIR", "/elsewhere"),
            ("GIT_AUTHOR_NAME", "A"),
            ("PWD", "/somewhere"),
        ]);
        let own = environment(&[("CODEX_INSTANCE_ID", "work-1-a1")]);
        let expected = environment(&[
            ("PATH", "/bin"),
            ("HOME", "/h"),
            ("ANTHROPIC_BASE_URL", "u"),
            ("CLAUDE_CONFIG_DIR", "/c"),
            ("CLAUDE_CODE_USE_BEDROCK", "1"),
            ("CLAUDE_CODE_SKIP_BEDROCK_AUTH", "1"),
            ("CLAUDE_CODE_DISABLE_TERMINAL_TITLE", "1"),
            ("GIT_AUTHOR_NAME", "A"),
            ("CODEX_INSTANCE_ID", "work-1-a1"),
        ]);
        assert_eq!(clean(&user, &own), expected);
    }

    #[test]
    fn what_an_exec_would_refuse_is_left_out() {
        let user = environment(&[("A=B", "x"), ("N", "a\0b"), ("OK", "1")]);
        assert_eq!(
            clean(&user, &Environment::new()),
            environment(&[("OK", "1")])
        );
    }
}

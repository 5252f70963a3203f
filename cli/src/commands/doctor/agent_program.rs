//! The agent program, as `doctor` checks it: whether it exists, its version, and whether Claude Code is logged in.

use std::ffi::OsStr;
use std::path::Path;

use shared::agent::{
    Login, MINIMUM_VERSION, check_command, config_directory, config_file, find_claude, login,
    version,
};
use shared::config::{Environment, Settings};
use shared::error::{Code, Error};

use super::Check;

pub(super) async fn all(environment: &Environment, settings: &Settings) -> Vec<Check> {
    let search = OsStr::new(environment.get("PATH").unwrap_or_default());
    let other = &settings.agent.command;
    if !other.trim().is_empty() {
        return vec![other_program(other, search)];
    }
    let configured = Some(settings.agent.claude.as_str()).filter(|path| !path.is_empty());
    let claude = match find_claude(configured.map(Path::new), search) {
        Ok(claude) => claude,
        Err(error) => return vec![Check::error("agent", error)],
    };
    vec![claude_code(&claude).await, logged_in(environment)]
}

fn other_program(command: &str, search: &OsStr) -> Check {
    let name = "agent";
    match check_command(command, search) {
        Ok(()) => Check::warning(
            name,
            format!("agents are started with {command:?}, not with Claude Code"),
            "Remove agent.command and CODEX_AGENT_COMMAND to use Claude Code.",
        ),
        Err(error) => Check::error(name, error),
    }
}

async fn claude_code(claude: &Path) -> Check {
    let name = "agent";
    match version(claude).await {
        Ok(found) if found < MINIMUM_VERSION => Check::error(
            name,
            Error::new(
                Code::AgentFailed,
                format!("Claude Code {found} is too old; {MINIMUM_VERSION} is needed"),
            )
            .hint("Run `claude update`."),
        ),
        Ok(found) => Check::ok(name, format!("Claude Code {found}, {}", claude.display())),
        Err(error) => Check::error(name, error),
    }
}

/// Looks whether Claude Code has something to log in with. It is not tried: that would cost tokens.
fn logged_in(environment: &Environment) -> Check {
    let name = "login";
    let home = match environment.home() {
        Ok(home) => home,
        Err(error) => return Check::error(name, error),
    };
    let configured = environment.claude_config_dir();
    let folder = config_directory(&home, configured.as_deref());
    let file = config_file(&home, configured.as_deref());
    match login(environment.variables(), &folder, &file) {
        Login::Variable(variable) => Check::ok(name, format!("Claude Code uses {variable}")),
        Login::File(path) => Check::ok(
            name,
            format!("Claude Code has a login in {}", path.display()),
        ),
        Login::Unknown => Check::warning(
            name,
            "it is unknown whether Claude Code is logged in: there is no key in the environment and no login in its files",
            "Run `claude` once and log in (`/login`), or set ANTHROPIC_API_KEY. A login in the keychain of the system is not seen here.",
        ),
    }
}

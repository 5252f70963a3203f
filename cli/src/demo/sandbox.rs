//! The demo's sandbox: its own repository, state folder, settings and tmux server.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use shared::config::{Environment, RepositoryFiles, Trust};
use shared::error::{Code, Error};
use tempfile::TempDir;

/// The agents of the demo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Players {
    /// Scripted agents: take seconds, need no account
    Scripted,
    /// Your own Claude Code: takes minutes and uses your account
    Claude,
}

/// Prefixes of variables that would affect the demo from outside.
const FOREIGN: &[&str] = &["CODEX_", "GIT_", "GITHUB_", "GH_", "TMUX"];

/// The demo's folder, which is deleted when this value is dropped, unless it is kept.
#[derive(Debug)]
pub(super) struct Sandbox {
    folder: TempDir,
    socket: String,
    environment: Environment,
}

impl Sandbox {
    /// Creates the sandbox. Scripted agents pause for `pause` between two actions.
    pub(super) fn make(players: Players, pause: Duration) -> Result<Self, Error> {
        let folder = tempfile::Builder::new()
            .prefix("claude-codex-demo-")
            .tempdir()
            .map_err(|source| failed("cannot make a temporary folder", &source))?;
        // Without symbolic links, because git resolves them in paths.
        let root = folder
            .path()
            .canonicalize()
            .map_err(|source| failed("cannot find the temporary folder", &source))?;
        let repository = root.join("till");
        let socket = root
            .file_name()
            .map(|name| {
                name.to_string_lossy()
                    .replace(|c: char| !c.is_ascii_alphanumeric(), "-")
            })
            .unwrap_or_default();
        let environment = environment(&root, &socket, players, pause)?.moved_to(repository.clone());
        let sandbox = Self {
            folder,
            socket,
            environment,
        };
        sandbox.make_repository(&repository)?;
        // Claude Code agents start only in trusted repositories, and this one is our own.
        let files = RepositoryFiles::read(&repository)?;
        Trust::load(&sandbox.environment)?.give(&repository, &files)?;
        Ok(sandbox)
    }

    pub(super) fn environment(&self) -> Environment {
        self.environment.clone()
    }

    pub(super) fn repository(&self) -> &Path {
        self.environment.directory()
    }

    /// Returns the shell command that points another terminal at the sandbox.
    pub(super) fn exports(&self) -> String {
        format!(
            "export CODEX_STATE_DIR='{}' CODEX_TMUX_SOCKET={}",
            self.state().display(),
            self.socket
        )
    }

    fn state(&self) -> PathBuf {
        self.repository().with_file_name("state")
    }

    /// Keeps the folder.
    pub(super) fn keep(self) -> PathBuf {
        self.folder.keep()
    }

    fn make_repository(&self, repository: &Path) -> Result<(), Error> {
        let tests = repository.join("tests");
        std::fs::create_dir_all(&tests)
            .map_err(|source| failed("cannot make a folder", &source))?;
        for (path, text) in [
            ("README.md", include_str!("sample/README.md")),
            ("till.sh", include_str!("sample/till.sh")),
            ("tests/run.sh", include_str!("sample/run.sh")),
            ("tests/cases.sh", include_str!("sample/cases.sh")),
        ] {
            std::fs::write(repository.join(path), text)
                .map_err(|source| failed("cannot write a file", &source))?;
        }
        for args in [
            &["init", "--quiet", "--initial-branch=main"] as &[&str],
            &["config", "user.name", "Demo"],
            &["config", "user.email", "demo@example.invalid"],
            &["config", "commit.gpgSign", "false"],
            &["add", "."],
            &["commit", "--quiet", "-m", "A till that adds prices"],
        ] {
            let output = Command::new("git")
                .args(args)
                .env_clear()
                .envs(self.environment.variables())
                .current_dir(repository)
                .output()
                .map_err(|source| failed("cannot run git", &source))?;
            if !output.status.success() {
                let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
                return Err(Error::new(
                    Code::GitFailed,
                    format!("git {} failed: {said}", args[0]),
                ));
            }
        }
        Ok(())
    }
}

/// Returns the environment of this process without the variables that would affect the demo.
fn environment(
    root: &Path,
    socket: &str,
    players: Players,
    pause: Duration,
) -> Result<Environment, Error> {
    let text = |name: &str| root.join(name).display().to_string();
    let mut changes = vec![
        ("CODEX_STATE_DIR", text("state")),
        ("CODEX_TMUX_SOCKET", socket.to_owned()),
        ("CODEX_FORGE", "local".to_owned()),
        ("XDG_CONFIG_HOME", text("config")),
    ];
    let process = Environment::current();
    if players == Players::Scripted {
        let Some(program) = process.own_program("claude-codex") else {
            return Err(Error::new(
                Code::ServerMissing,
                "the path of `claude-codex` is unknown",
            ));
        };
        let quoted = program.display().to_string().replace('\'', "'\\''");
        let command = format!("'{quoted}' demo-agent --pace {}", pause.as_millis());
        changes.push(("CODEX_AGENT_COMMAND", command));
    }
    let kept = process.without(|name| {
        // The path of Claude Code is the user's choice.
        name != "CODEX_CLAUDE" && FOREIGN.iter().any(|prefix| name.starts_with(prefix))
    });
    Ok(kept.with(changes))
}

fn failed(what: &str, source: &std::io::Error) -> Error {
    let code = if source.kind() == std::io::ErrorKind::StorageFull {
        Code::DiskFull
    } else {
        Code::Internal
    };
    Error::new(code, format!("{what}: {source}"))
}

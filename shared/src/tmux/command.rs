//! Runs tmux commands on our socket and reads what its refusals mean.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

use tokio::process::Command;

use super::error::{TmuxError, excerpt};
use super::name::{LaunchId, SocketName};
use crate::process::{self, Finished, Limits};

/// tmux answers in milliseconds; a full history with colours takes a few megabytes.
pub(super) const LIMITS: Limits = Limits {
    time: Duration::from_secs(15),
    output: 32 * 1024 * 1024,
};

/// tmux refuses commands of about 16 KB ("command too long"); this leaves room for our own flags.
const MAX_COMMAND_BYTES: usize = 12 * 1024;

/// Says which server and session we are in; kept away from children so that they talk to ours only.
const FOREIGN: [&str; 2] = ["TMUX", "TMUX_PANE"];

/// Where a tmux server listens.
#[derive(Debug, Clone)]
pub(super) enum Socket {
    /// Ours (`tmux -L`), which we start.
    Ours(SocketName),
    /// A person's own (`tmux -S`), which runs already.
    Person(PathBuf),
}

/// One tmux server, addressed by its socket.
#[derive(Debug, Clone)]
pub struct Tmux {
    pub(super) socket: Socket,
    pub(super) config_file: PathBuf,
    pub(super) program: PathBuf,
    pub(super) base_environment: Vec<(OsString, OsString)>,
    /// The launch whose session is meant: nothing that carries another mark is typed into or ended.
    pub(super) launch: Option<LaunchId>,
}

impl Tmux {
    /// Describes a server; nothing runs yet.
    ///
    /// `base_environment` is all that programs in its sessions inherit (`PATH`, `HOME`, `LANG`, …);
    /// nothing else of our environment reaches the server. It passes through a command line that
    /// other users can see, so it must be small and hold no secrets.
    pub fn new(
        socket: SocketName,
        config_file: PathBuf,
        program: PathBuf,
        base_environment: Vec<(OsString, OsString)>,
    ) -> Self {
        Self {
            socket: Socket::Ours(socket),
            config_file,
            program,
            base_environment: base_environment
                .into_iter()
                .filter(|(name, _)| !FOREIGN.iter().any(|foreign| name == foreign))
                .collect(),
            launch: None,
        }
    }

    /// Returns the same on another socket of ours, for the session of one launch (none: of an older release).
    #[must_use]
    pub fn of_launch(&self, socket: SocketName, launch: Option<LaunchId>) -> Self {
        Self {
            socket: Socket::Ours(socket),
            launch,
            ..self.clone()
        }
    }

    /// Returns the name of the socket, if it is one of ours.
    pub fn socket(&self) -> Option<&SocketName> {
        match &self.socket {
            Socket::Ours(name) => Some(name),
            Socket::Person(_) => None,
        }
    }

    /// Returns the value that the session's mark must have.
    pub(super) fn launch_mark(&self) -> &str {
        self.launch.as_ref().map_or("", LaunchId::as_str)
    }

    /// Returns a tmux command without arguments, in the base environment.
    ///
    /// It runs in `/`: the server keeps the working directory of the client that started it, and
    /// must not pin a worktree.
    pub(super) fn bare(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .env_clear()
            .envs(
                self.base_environment
                    .iter()
                    .map(|(name, value)| (name, value)),
            )
            .current_dir("/");
        command
    }

    /// Returns the flags that every call has: UTF-8 output, the socket, our configuration on our own server.
    pub(super) fn flags(&self) -> Vec<OsString> {
        match &self.socket {
            Socket::Ours(name) => vec![
                "-u".into(),
                "-L".into(),
                name.as_str().into(),
                "-f".into(),
                self.config_file.clone().into(),
            ],
            Socket::Person(path) => vec!["-u".into(), "-S".into(), path.clone().into()],
        }
    }

    /// Runs a script of tmux commands in one spawn.
    pub(super) async fn run(
        &self,
        script: &Script,
        input: Option<&[u8]>,
    ) -> Result<Answer, TmuxError> {
        let mut command = self.bare();
        self.run_as(&mut command, script, input).await
    }

    /// Runs a script with a command that was prepared by the caller.
    pub(super) async fn run_as(
        &self,
        command: &mut Command,
        script: &Script,
        input: Option<&[u8]>,
    ) -> Result<Answer, TmuxError> {
        let bytes = script.bytes();
        if bytes > MAX_COMMAND_BYTES {
            return Err(TmuxError::CommandTooLong {
                bytes,
                limit: MAX_COMMAND_BYTES,
            });
        }
        command.args(self.flags()).args(&script.words);
        let finished = process::run(command, input, LIMITS).await?;
        Ok(Answer::read(script.action, finished))
    }
}

/// tmux commands for one spawn, each word protected from tmux's own parsing.
#[derive(Debug)]
pub(super) struct Script {
    action: &'static str,
    words: Vec<OsString>,
}

impl Script {
    /// Starts with a tmux command, which also names the script in errors.
    pub(super) fn new(action: &'static str) -> Self {
        Self {
            action,
            words: vec![action.into()],
        }
    }

    pub(super) fn arg(mut self, word: impl AsRef<OsStr>) -> Self {
        self.words.push(protect(word.as_ref()));
        self
    }

    pub(super) fn args(self, words: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        words.into_iter().fold(self, Self::arg)
    }

    /// Continues with another tmux command, which runs only if those before it succeeded.
    pub(super) fn then(mut self, command: &'static str) -> Self {
        self.words.push(";".into());
        self.words.push(command.into());
        self
    }

    fn bytes(&self) -> usize {
        self.words.iter().map(|word| word.len() + 1).sum()
    }
}

/// Escapes a final `;`, which would end the tmux command and start another.
fn protect(word: &OsStr) -> OsString {
    match word.as_bytes().strip_suffix(b";") {
        Some(before) => OsString::from_vec([before, b"\\;"].concat()),
        None => word.to_owned(),
    }
}

/// How tmux answered.
#[derive(Debug)]
pub(super) enum Answer {
    Done {
        stdout: Vec<u8>,
    },
    /// There is no server, hence no session.
    NoServer {
        stderr: String,
    },
    /// The server ended under our hands.
    ServerLost {
        stderr: String,
    },
    /// The server has no such session, window or pane, or (about to end) no session at all.
    NoTarget,
    Refused {
        error: TmuxError,
    },
}

impl Answer {
    fn read(action: &'static str, finished: Finished) -> Self {
        if finished.status.success() {
            return Self::Done {
                stdout: finished.stdout,
            };
        }
        let stderr = excerpt(&finished.stderr_text());
        let unreachable = stderr.starts_with("error connecting to")
            && (stderr.contains("No such file or directory")
                || stderr.contains("Connection refused"));
        if unreachable || stderr.starts_with("no server running") {
            Self::NoServer { stderr }
        } else if stderr.starts_with("server exited") || stderr.starts_with("lost server") {
            Self::ServerLost { stderr }
        } else if stderr.starts_with("can't find ") || stderr == "no current target" {
            Self::NoTarget
        } else if let Some(session) = stderr.strip_prefix("duplicate session: ") {
            let session = session.to_owned();
            Self::Refused {
                error: TmuxError::SessionExists { session },
            }
        } else {
            let status = finished.status;
            Self::Refused {
                error: TmuxError::Failed {
                    action,
                    status,
                    stderr,
                },
            }
        }
    }

    /// Returns the output, or none when what was asked about is not there.
    pub(super) fn found(self) -> Result<Option<String>, TmuxError> {
        match self {
            Self::Done { stdout } => Ok(Some(String::from_utf8_lossy(&stdout).into_owned())),
            Self::NoServer { .. } | Self::ServerLost { .. } | Self::NoTarget => Ok(None),
            Self::Refused { error } => Err(error),
        }
    }
}
